"""The keys that a site's operator publishes: what is remembered, and how it weighs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from registry.db import sites
from registry.db.engine import Connection
from registry.db.sites import StoredKey
from registry.identity.key_source import KeyReference
from registry.identity.key_trust import (
    KeyEvidence,
    KeysFetched,
    KnownKey,
    decide_standing,
)
from registry.identity.keys import PublicKey


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """What the site's operator publishes at this moment.

    keys: by reference, of all places that were read. sources: those places, also those
    without a key. pins: thumbprints in the host's pin records.
    """

    keys: Mapping[KeyReference, PublicKey]
    sources: frozenset[str]
    pins: frozenset[str]

    def find(self, kid: str) -> tuple[KeyReference, PublicKey] | None:
        for reference, key in self.keys.items():
            if reference.kid == kid:
                return reference, key
        return None


async def save_published_keys(
    connection: Connection,
    site_id: int,
    published: PublishedKeys,
    *,
    trusted: frozenset[KeyReference],
    now: datetime,
) -> None:
    """Remember what was seen: new keys cool off, missing ones become absent."""
    known = {
        one.known.reference: one for one in await sites.keys_of(connection, site_id)
    }
    for reference, key in published.keys.items():
        before = known.pop(reference, None)
        seen = _seen(before, reference, key, trusted=reference in trusted, now=now)
        await sites.save_key(connection, site_id, seen)
    for one in known.values():
        source = one.known.reference.source_url
        if source in published.sources:
            kids = {ref.kid for ref in published.keys if ref.source_url == source}
            observation = KeysFetched(source_url=source, kids=kids)
            standing = decide_standing(one.known, observation)
            gone = replace(one, known=replace(one.known, standing=standing))
            await sites.save_key(connection, site_id, gone)


def _seen(
    before: StoredKey | None,
    reference: KeyReference,
    key: PublicKey,
    *,
    trusted: bool,
    now: datetime,
) -> StoredKey:
    if before is None or before.known.standing == "absent":
        known = KnownKey(
            reference=reference,
            standing="trusted" if trusted else "cooling",
            first_seen_at=now,
            last_seen_at=now,
        )
        return StoredKey(known=known, jwk=key.jwk)
    known = replace(before.known, last_seen_at=now)
    if trusted and known.standing == "cooling":
        known = replace(known, standing="trusted")
    return StoredKey(known=known, jwk=key.jwk)


def weigh_keys(
    signer: KeyReference,
    published: PublishedKeys,
    known: Sequence[KnownKey],
    now: datetime,
) -> KeyEvidence:
    """What speaks for and against the signer."""
    return KeyEvidence(
        published=published.keys.keys(),
        known=known,
        pins=published.pins,
        dns_proven_since=_dns_proven_since(signer.kid, published, known, now),
    )


def _dns_proven_since(
    kid: str, published: PublishedKeys, known: Sequence[KnownKey], now: datetime
) -> datetime | None:
    """Since when the DNS has named the key without a break."""
    named = [
        reference
        for reference in published.keys
        if reference.kid == kid and reference.source_url.startswith("dns:")
    ]
    if not named:
        return None
    since = [
        one.first_seen_at
        for one in known
        if one.reference in named and one.standing != "absent"
    ]
    return min(since, default=now)
