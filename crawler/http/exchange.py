"""Request and result of a fetch. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from crawler.http.body import BodyLimits
from crawler.http.guard import RedirectRule
from crawler.http.head import Validators


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """accept: media types, the best first; JSON takes application/*+json with it.

    headers: more of them, of the protocol that is spoken. conditional: on what is
    stored being no longer so.
    """

    accept: Sequence[str]
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    conditional: Validators = field(default_factory=Validators)
    redirects: RedirectRule = field(default_factory=RedirectRule)
    limits: BodyLimits = field(default_factory=BodyLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A 200 and its whole body.

    url: where the redirects ended. content_type: as sent, parameters included, or "".
    elapsed_ms: of the whole fetch, redirects included, our own waiting not. truncated:
    only by such limits. wire_bytes: of the body, before gunzip.
    links: its Link headers (RFC 8288), as many as fit MAX_LINK_CHARACTERS.
    """

    url: str
    body: bytes
    content_type: str
    validators: Validators
    elapsed_ms: int
    truncated: bool = False
    wire_bytes: int = 0
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotModified:
    """A 304 to a conditional request: what is stored still holds."""

    url: str
    elapsed_ms: int
