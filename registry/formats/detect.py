"""Detection of a document's format by its content alone.

A path proves nothing: unrelated protocols share `/agent.json`, and sites answer any
address with a page. Whatever the bytes, the result is Parsed or Rejected.
"""

import gc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from registry.errors import Refused, RegistryError
from registry.formats import refusals
from registry.formats.abp import is_abp, read_abp
from registry.formats.awas.awas_catalogue import is_awas, read_awas
from registry.formats.awp.awp_manifest import is_awp, read_awp
from registry.formats.document import (
    MAX_BODY_BYTES,
    MAX_DEPTH,
    Document,
    Format,
    Parsed,
    Rejected,
)
from registry.formats.foreign_documents import explain
from registry.formats.html.markup import starts_as_markup
from registry.formats.html.page_actions import read_page
from registry.formats.neighbours.a2a import is_a2a, read_a2a
from registry.formats.neighbours.ard import is_ard, read_ard
from registry.formats.neighbours.mcp import is_mcp, read_mcp
from registry.formats.reading.reader import DeviationLog, Reader, kind_of
from registry.formats.wab.dialects import is_wab
from registry.formats.wab.discovery import read_wab
from registry.formats.webmcp import is_webmcp, names_webmcp, read_webmcp
from registry.refusals import JSON_SYNTAX
from registry.strict_json import JsonObject, parse_json


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector while a document is read.

    A document of 512 KiB can hold 260,000 containers, none of them in a cycle. Searching
    them for cycles again and again takes ten times as long as parsing. Overlapping
    threads may end the pause early, which only costs time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _Detector(NamedTuple):
    """The signs of a format in parsed JSON, and its reader.

    member: the member that names the format even in a body that is no JSON, or "".
    """

    format: Format
    has_signs: Callable[[JsonObject], bool]
    read: Callable[[Reader], Document]
    member: str = ""


_DETECTORS = (  # from the plainest sign to the vaguest: few WebMCP manifests name it
    _Detector("wab", is_wab, read_wab, "wab_version"),
    _Detector("awp", is_awp, read_awp, "awp_version"),
    _Detector("abp", is_abp, read_abp, "abp"),
    _Detector("awas", is_awas, read_awas),
    _Detector("webmcp", names_webmcp, read_webmcp),
    _Detector("a2a", is_a2a, read_a2a),
    _Detector("ard", is_ard, read_ard),
    _Detector("mcp", is_mcp, read_mcp),
    _Detector("webmcp", is_webmcp, read_webmcp),
)
_FORMAT_OF = {row.member.encode(): row.format for row in _DETECTORS if row.member}
_MEMBER = re.compile(rb'"(' + b"|".join(_FORMAT_OF) + rb')"\s*+:')
_STARTS_AS_JSON = frozenset(b'{["')


def parse_document(
    body: bytes,
    *,
    url: str,
    content_type: str = "",
    site_url: str = "",
    allow_loopback: bool = False,
) -> Parsed | Rejected:
    """Read a discovery document in JSON.

    url: the document's address. site_url: the crawled site, if the document is elsewhere.
    allow_loopback: for development, actions may be called on this machine.
    """
    log = DeviationLog(url=url, site_url=site_url, allow_loopback=allow_loopback)
    try:
        with collector_paused():
            if starts_as_markup(body):
                raise Refused(refusals.PAGE_NOT_DOCUMENT)
            return Parsed(_read(_parse_object(body), log))
    except RegistryError as error:
        if error.code == JSON_SYNTAX.code:
            error = _explain_syntax(body, content_type) or error
        meant = log.family or _marked_format(body)
        return Rejected(error.problem, meant, log.deviations)


def _marked_format(body: bytes) -> Format | None:
    match = _MEMBER.search(body, 0, MAX_BODY_BYTES)
    return _FORMAT_OF[match[1]] if match else None


def _explain_syntax(body: bytes, content_type: str) -> Refused | None:
    """Explain a body of which not even the first character is JSON."""
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


def parse_page(
    body: bytes, *, url: str, content_type: str = "", allow_loopback: bool = False
) -> Parsed | Rejected:
    """Read the WebMCP tools that an HTML page declares.

    content_type: as served; its charset counts before the page's own.
    """
    log = DeviationLog(url=url, allow_loopback=allow_loopback)
    try:
        with collector_paused():
            return Parsed(read_page(body, content_type, log))
    except RegistryError as error:
        return Rejected(error.problem, deviations=log.deviations)


def _parse_object(body: bytes) -> JsonObject:
    value = parse_json(body, max_depth=MAX_DEPTH, max_bytes=MAX_BODY_BYTES)
    if not isinstance(value, dict):
        raise Refused(refusals.NOT_AN_OBJECT, f"it is {kind_of(value)}")
    return value


def _read(raw: JsonObject, log: DeviationLog) -> Document:
    for row in _DETECTORS:
        if row.has_signs(raw):
            log.family = row.format
            return row.read(Reader(raw, "", log))
    raise explain(raw)
