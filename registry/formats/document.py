"""Discovery documents as the registry parsed or rejected them.

Sites seldom serve what the specifications say, so strictness is a flag on the document
and not a condition: every tolerated departure is listed in `deviations`, with its fix.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from registry.errors import Problem
from registry.sites.site import Site
from registry.strict_json import JsonValue

Format = Literal["wab", "awp", "awas", "abp", "webmcp", "a2a", "mcp", "ard"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""All formats; where documents contradict each other, the earlier one counts."""

MAX_DEPTH = 64
MAX_WIRE_BYTES = 256 * 1024
MAX_BODY_BYTES = 512 * 1024
MAX_ACTIONS = 500
MAX_PARAMETERS = 100
MAX_TEXT_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A departure from the format that was tolerated.

    pointer: RFC 6901, or for an HTML page the tool and control concerned.
    rule: the kind of the broken rule, in snake_case, e.g. "required", "type".
    """

    pointer: str
    rule: str
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentOrigin:
    """Origin of the document: the site, or others on its behalf (AWP section 14).

    confidence: 0..1, of a synthetic document. last_verified: an RFC 3339 instant.
    """

    source: Literal["native", "synthetic"] = "native"
    generated_by: str = ""
    confidence: float | None = None
    last_verified: str = ""


NATIVE = DocumentOrigin()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed discovery document.

    dialect: its variant of the format. version: as declared, "" if not. url: its address.
    conformance: "strict" only if it was compared with its specification and has no
    deviation.
    raw: the parsed JSON, for signature checks; None for an HTML page.
    references: absolute URLs of further documents, which may not exist.
    """

    format: Format
    dialect: str
    version: str
    url: str
    conformance: Literal["strict", "tolerated"]
    site: Site
    deviations: tuple[Deviation, ...] = ()
    raw: Mapping[str, JsonValue] | None = None
    references: tuple[str, ...] = ()
    provenance: DocumentOrigin = NATIVE


@dataclass(frozen=True, slots=True)
class Parsed:
    document: Document


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected document.

    format: the intended one, as far as it is known. deviations: noted before it was
    rejected, such as what the tools of a page lack.
    """

    problem: Problem
    format: Format | None = None
    deviations: tuple[Deviation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A version of a document.

    provenance: the members of `DocumentOrigin`.
    signature: {"status", "kind"?, "keyId"?, "detail"?}; where the status is "expired"
    or "invalid", the document is kept for the record and speaks for the site no more.
    """

    url: str
    format: str
    dialect: str
    conformance: str
    provenance: dict[str, Any]
    signature: dict[str, Any]
    deviations: list[dict[str, Any]]
    semantic_hash: bytes
    body: bytes
    content_type: str
    etag: str | None
    last_modified: str | None
    first_fetched_at: datetime
    fetched_at: datetime
    version: int = 1
    retired_at: datetime | None = None
