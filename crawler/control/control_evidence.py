"""Evidence of control: keys at addresses where only a site's operator can write. Pure.

That a source could not be read and that it holds no key are two things: only the latter
can cost a site a key.
"""

from dataclasses import dataclass
from typing import Literal

from registry.errors import Problem
from registry.identity.keys.public_keys import PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedKeys:
    """Source that was read; it may hold no key. source_url: an https or dns URL."""

    source_url: str
    keys: tuple[PublicKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPins:
    """kids: the thumbprints that the host allows; none allows all."""

    source_url: str
    kids: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadSource:
    """Source that could not be read, or holds what is no key set or record.

    may_pass: it is worth another try. retry_after_s: but not before.
    """

    source_url: str
    problem: Problem
    may_pass: bool = False
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEvidence:
    key_set: FetchedKeys | UnreadSource
    wab_record: FetchedKeys | UnreadSource
    pins: PublishedPins | UnreadSource

    @property
    def published(self) -> tuple[FetchedKeys, ...]:
        """The sources with keys that were read."""
        sources = (self.key_set, self.wab_record)
        return tuple(source for source in sources if isinstance(source, FetchedKeys))

    @property
    def unread(self) -> tuple[UnreadSource, ...]:
        sources = (self.key_set, self.wab_record, self.pins)
        return tuple(source for source in sources if isinstance(source, UnreadSource))

    @property
    def outcome(self) -> Literal["keys", "none", "unread"]:
        if any(source.keys for source in self.published):
            return "keys"
        return "unread" if self.unread else "none"

    def find(self, kid: str) -> tuple[FetchedKeys, PublicKey] | None:
        """The key and where it stands; in the key set rather than in the DNS."""
        for source in self.published:
            for key in source.keys:
                if key.kid == kid:
                    return source, key
        return None
