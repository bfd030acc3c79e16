"""Which format a document has, told by its content alone.

A path proves nothing: unrelated protocols share `/agent.json`, and sites answer any
address with a page. Whatever the bytes, the result is Parsed or Rejected.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

from registry.errors import Refused, RegistryError
from registry.formats import refusals
from registry.formats.abp import is_abp, read_abp
from registry.formats.awas.catalogue import is_awas, read_awas
from registry.formats.awp.manifest import is_awp, read_awp
from registry.formats.document import (
    MAX_BODY_BYTES,
    MAX_MANIFEST_DEPTH,
    MAX_SCHEMA_DEPTH,
    Document,
    Format,
    Parsed,
    Rejected,
)
from registry.formats.html.markup import starts_as_markup
from registry.formats.html.webmcp import read_page
from registry.formats.lookalikes import explain, explain_foreign
from registry.formats.neighbours.a2a import is_a2a, read_a2a
from registry.formats.neighbours.ard import is_ard, read_ard
from registry.formats.neighbours.mcp import is_mcp, read_mcp
from registry.formats.reading.collector import collector_paused
from registry.formats.reading.depth import check_depth
from registry.formats.reading.reader import Ledger, Reader, kind_of
from registry.formats.wab.dialects import is_wab
from registry.formats.wab.discovery import read_wab
from registry.formats.webmcp import is_webmcp, names_webmcp, read_webmcp
from registry.strict_json import (
    JSON_SYNTAX,
    JSON_TOO_DEEP,
    JsonObject,
    JsonValue,
    parse_json,
)

# From the plainest mark to the vaguest: most WebMCP manifests bear none of their own.
_FORMATS: tuple[
    tuple[Format, Callable[[JsonObject], bool], Callable[[Reader], Document]], ...
] = (
    ("wab", is_wab, read_wab),
    ("awp", is_awp, read_awp),
    ("abp", is_abp, read_abp),
    ("awas", is_awas, read_awas),
    ("webmcp", names_webmcp, read_webmcp),
    ("a2a", is_a2a, read_a2a),
    ("ard", is_ard, read_ard),
    ("mcp", is_mcp, read_mcp),
    ("webmcp", is_webmcp, read_webmcp),
)
# What names a format even in a body that is no JSON.
_MARKS: dict[bytes, Format] = {
    b"wab_version": "wab",
    b"awp_version": "awp",
    b"abp": "abp",
}
_MARK = re.compile(rb'"(wab_version|awp_version|abp)"\s*+:')
_STARTS_AS_JSON = frozenset(b'{["')


Opened: TypeAlias = JsonObject | RegistryError
"""The JSON of a body, or why it has none."""


def parse_document(
    body: bytes, *, url: str, content_type: str = "", site_url: str = ""
) -> Parsed | Rejected:
    """Read a discovery document in JSON.

    url: where it lies. site_url: the crawled site, where the document lies elsewhere.
    """
    return read_opened(
        open_document(body),
        body,
        url=url,
        content_type=content_type,
        site_url=site_url,
    )


def open_document(body: bytes) -> Opened:
    """The first half of `parse_document`, for who takes it for many before the second."""
    try:
        with collector_paused():
            if starts_as_markup(body):
                raise Refused(refusals.PAGE_NOT_DOCUMENT)
            return _parse_object(body)
    except RegistryError as error:
        return error


def read_opened(
    opened: Opened, body: bytes, *, url: str, content_type: str, site_url: str
) -> Parsed | Rejected:
    """The second half, of what the first made of the body."""
    ledger = Ledger(url=url, site_url=site_url)
    try:
        if isinstance(opened, RegistryError):
            raise opened
        with collector_paused():
            return Parsed(_read(opened, ledger))
    except RegistryError as error:
        if error.code == JSON_SYNTAX.code:
            error = _explain_syntax(body, content_type) or error
        return Rejected(error.problem, ledger.family or _marked_format(body))


def _marked_format(body: bytes) -> Format | None:
    found = _MARK.search(body, 0, MAX_BODY_BYTES)
    return _MARKS[found[1]] if found else None


def _explain_syntax(body: bytes, content_type: str) -> Refused | None:
    """What the body is if not one character of it is JSON."""
    if "html" in content_type.lower():
        return Refused(refusals.PAGE_NOT_DOCUMENT)
    start = body.removeprefix(b"\xef\xbb\xbf").lstrip()[:20]
    if not start or start[0] in _STARTS_AS_JSON:
        return None
    return Refused(
        JSON_SYNTAX,
        f"it begins with {start.decode('ascii', 'replace')!a}, not with a brace",
        fix="Serve the JSON alone; a text such as llms.txt has an address of its own.",
    )


def parse_page(body: bytes, *, url: str) -> Parsed | Rejected:
    """Read the WebMCP tools that an HTML page declares."""
    try:
        with collector_paused():
            return Parsed(read_page(body, Ledger(url=url)))
    except RegistryError as error:
        return Rejected(error.problem)


def _parse_object(body: bytes) -> JsonObject:
    try:
        value = parse_json(body, max_depth=MAX_MANIFEST_DEPTH, max_bytes=MAX_BODY_BYTES)
    except Refused as refused:
        if refused.code != JSON_TOO_DEEP.code:
            raise
        value = _parse_deep(body)
    if not isinstance(value, dict):
        raise Refused(refusals.NOT_AN_OBJECT, f"it is {kind_of(value)}")
    return value


def _parse_deep(body: bytes) -> JsonValue:
    """Deeper than a manifest may be, unless it is a JSON Schema in it that is deep."""
    deepest = MAX_MANIFEST_DEPTH + MAX_SCHEMA_DEPTH
    value = parse_json(body, max_depth=deepest, max_bytes=MAX_BODY_BYTES)
    try:
        check_depth(
            value, max_depth=MAX_MANIFEST_DEPTH, max_schema_depth=MAX_SCHEMA_DEPTH
        )
    except Refused as refused:
        raise _explain_depth(value) or refused from None
    return value


def _explain_depth(value: JsonValue) -> Refused | None:
    """That it is of another kind altogether tells its owner more than its depth."""
    if not isinstance(value, dict) or any(is_told(value) for _, is_told, _ in _FORMATS):
        return None
    return explain_foreign(value)


def _read(raw: JsonObject, ledger: Ledger) -> Document:
    for name, is_told, read in _FORMATS:
        if is_told(raw):
            ledger.family = name
            return read(Reader(raw, "", ledger))
    raise explain(raw)
