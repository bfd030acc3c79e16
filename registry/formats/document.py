"""One discovery document as the registry understood it, or why it did not.

Published specifications are not what sites serve, so strictness is a flag on the
document and no condition for being read: every departure that was tolerated stands in
`deviations`, with the way to mend it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from registry.errors import Problem
from registry.sites.site import Site
from registry.strict_json import JsonValue

Format = Literal["wab", "awp", "awas", "abp", "webmcp", "a2a", "mcp", "ard"]

MAX_MANIFEST_DEPTH = 8
MAX_SCHEMA_DEPTH = 16
MAX_WIRE_BYTES = 256 * 1024
MAX_BODY_BYTES = 512 * 1024
MAX_ACTIONS = 500
MAX_PARAMETERS = 100
MAX_TEXT_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation:
    """A departure from the format that was tolerated.

    pointer: RFC 6901, or for an HTML page the tool and control concerned.
    rule: which kind of rule is broken, in snake_case, e.g. "required", "type".
    """

    pointer: str
    rule: str
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who wrote the document: the site, or somebody for it (AWP section 14).

    confidence: 0..1, of a synthetic document. last_verified: an RFC 3339 instant.
    """

    source: Literal["native", "synthetic"] = "native"
    generated_by: str = ""
    confidence: float | None = None
    last_verified: str = ""


NATIVE = Provenance()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A discovery document, read.

    dialect: which of the format's shapes it has. version: as declared, "" if not.
    url: where it was found. conformance: "strict" only if it was compared with its
    specification and shows not one deviation.
    raw: the parsed JSON, for signature checks; None for an HTML page.
    references: absolute URLs of further documents it points to; whether they exist is
    for the crawler to find out.
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
    provenance: Provenance = NATIVE


@dataclass(frozen=True, slots=True)
class Parsed:
    document: Document


@dataclass(frozen=True, slots=True)
class Rejected:
    """format: the one it was meant to have, as far as that can be told."""

    problem: Problem
    format: Format | None = None
