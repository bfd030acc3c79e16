"""What stands in the places where only a site's operator can write. Pure.

That a place could not be read and that it holds no key are two things: only the latter
can cost a site a key.
"""

from dataclasses import dataclass
from typing import Literal

from registry.errors import Problem
from registry.identity.keys import PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """A place that was read; it may hold no key. source_url: an https or dns URL."""

    source_url: str
    keys: tuple[PublicKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPins:
    """kids: the thumbprints that the host allows; none allows all."""

    source_url: str
    kids: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A place that could not be read, or holds what is no key set or record.

    may_pass: it is worth another try. retry_after_s: but not before.
    """

    source_url: str
    problem: Problem
    may_pass: bool = False
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    key_set: PublishedKeys | Unread
    wab_record: PublishedKeys | Unread
    pins: PublishedPins | Unread

    @property
    def published(self) -> tuple[PublishedKeys, ...]:
        """The places with keys that were read."""
        places = (self.key_set, self.wab_record)
        return tuple(place for place in places if isinstance(place, PublishedKeys))

    @property
    def unread(self) -> tuple[Unread, ...]:
        places = (self.key_set, self.wab_record, self.pins)
        return tuple(place for place in places if isinstance(place, Unread))

    @property
    def outcome(self) -> Literal["keys", "none", "unread"]:
        if any(place.keys for place in self.published):
            return "keys"
        return "unread" if self.unread else "none"

    def find(self, kid: str) -> tuple[PublishedKeys, PublicKey] | None:
        """The key and where it stands; in the key set rather than in the DNS."""
        for place in self.published:
            for key in place.keys:
                if key.kid == kid:
                    return place, key
        return None
