"""The keys that a site's operator publishes: what is remembered, and how it weighs.

Each successful fetch is an observation: it is taken in first, and then every key that it
found is weighed (`registry.identity.key_trust`), whether it has signed or not. A place
that could not be read changes nothing.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from registry.db import notices, sites
from registry.db.engine import Connection
from registry.db.sites import StoredKey
from registry.identity.key_source import KeyReference
from registry.identity.key_trust import (
    Distrusted,
    KeyEvidence,
    KeysFetched,
    KnownKey,
    Standing,
    TrustDecision,
    Trusted,
    decide_key_trust,
    decide_standing,
)
from registry.identity.keys import PublicKey
from registry.usecases.notices import key_notices
from registry.usecases.refusals import PINS_UNREAD


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """What the site's operator publishes at this moment.

    keys: by reference, of all places that were read. sources: those places, also those
    without a key. pins: thumbprints in the host's pin records; None if they could not be
    read, and then no key gains trust that they might deny it.
    """

    keys: Mapping[KeyReference, PublicKey]
    sources: frozenset[str]
    pins: frozenset[str] | None

    def find(self, kid: str) -> tuple[KeyReference, PublicKey] | None:
        for reference, key in self.keys.items():
            if reference.kid == kid:
                return reference, key
        return None

    def is_named_by_dns(self, kid: str) -> bool | None:
        """By a pin, or by a record that holds the key; None if that can't be told."""
        if kid in (self.pins or ()):
            return True
        if any(each.kid == kid and _is_dns(each.source_url) for each in self.keys):
            return True
        return False if self.pins is not None and self._wab_was_read else None

    @property
    def _wab_was_read(self) -> bool:
        return any(_is_dns(source) for source in self.sources)


async def save_published_keys(
    connection: Connection,
    site_id: int,
    published: PublishedKeys,
    *,
    trusted: AbstractSet[KeyReference] = frozenset(),
    now: datetime,
) -> frozenset[KeyReference]:
    """Remember what was seen; the published keys that may speak for the site now.

    trusted: keys found trustworthy already, because of what was signed.
    """
    before = await sites.keys_of(connection, site_id)
    observed = observe_keys(before, published, trusted, now)
    speaking = frozenset(
        reference
        for reference in published.keys
        if isinstance(weigh_key(reference, published, observed, now), Trusted)
    )
    after = [
        _standing_as(one, "trusted") if one.known.reference in speaking else one
        for one in observed
    ]
    for one in after:
        if one not in before:
            await sites.save_key(connection, site_id, one)
    told = key_notices(before, after)
    await notices.save_notices(connection, site_id, told, now)
    return speaking


def observe_keys(
    known: Sequence[StoredKey],
    published: PublishedKeys,
    trusted: AbstractSet[KeyReference],
    now: datetime,
) -> list[StoredKey]:
    """All keys as they stand after this fetch. trusted: as above.

    A new key cools off beside a trusted one. Where none is left it can only recover the
    site, for which the DNS must name it all the time; one that nothing names is absent.
    """
    remembered = {one.known.reference: _after(one, published) for one in known}
    for reference in trusted & remembered.keys():
        remembered[reference] = _standing_as(remembered[reference], "trusted")
    beside = bool(trusted) or any(
        one.known.standing == "trusted" for one in remembered.values()
    )
    for reference, key in published.keys.items():
        before = remembered.get(reference)
        standing: Standing = "trusted"
        if reference not in trusted:
            named = published.is_named_by_dns(reference.kid)
            standing = _standing_seen(before, beside=beside, named=named)
        remembered[reference] = _seen(before, reference, key, standing, now)
    return list(remembered.values())


def weigh_key(
    reference: KeyReference,
    published: PublishedKeys,
    observed: Sequence[StoredKey],
    now: datetime,
    *,
    endorsed: AbstractSet[KeyReference] = frozenset(),
) -> TrustDecision:
    """observed: all keys as this fetch left them; empty before the first registration.

    endorsed: named as the next key by a trusted one that signed this.
    """
    recovering_since = [
        one.known.first_seen_at
        for one in observed
        if one.known.standing == "recovering"
        and one.known.reference.kid == reference.kid
    ]
    evidence = KeyEvidence(
        published=published.keys.keys(),
        known=[one.known for one in observed],
        endorsed=endorsed,
        pins=published.pins or frozenset(),
        dns_proven_since=min(recovering_since, default=None),
    )
    decision = decide_key_trust(reference, evidence, now=now)
    if published.pins is None and _is_gained_by_waiting(decision):
        return Distrusted(problem=PINS_UNREAD)
    return decision


def _is_gained_by_waiting(decision: TrustDecision) -> bool:
    """As against trust that a signature gives, or that the key has had."""
    return isinstance(decision, Trusted) and decision.reason in {
        "seen_twice",
        "dns_recovery",
    }


def _is_dns(source_url: str) -> bool:
    return source_url.startswith("dns:")


def _after(one: StoredKey, published: PublishedKeys) -> StoredKey:
    """A remembered key, absent if its place was read and lacks it."""
    source = one.known.reference.source_url
    if source not in published.sources:
        return one
    kids = {each.kid for each in published.keys if each.source_url == source}
    observation = KeysFetched(source_url=source, kids=kids)
    return _standing_as(one, decide_standing(one.known, observation))


def _standing_seen(
    before: StoredKey | None, *, beside: bool, named: bool | None
) -> Standing:
    """beside: the site has a trusted key. named: the DNS names this one."""
    standing = before.known.standing if before else "absent"
    if standing in {"trusted", "revoked", "cooling"}:
        return standing
    if beside:
        return "cooling"
    if named is None:  # a failed look-up breaks no hold, nor does it start one
        return standing
    return "recovering" if named else "absent"


def _seen(
    before: StoredKey | None,
    reference: KeyReference,
    key: PublicKey,
    standing: Standing,
    now: datetime,
) -> StoredKey:
    """first_seen_at starts anew with each hold that the key has to wait out."""
    goes_on = before is not None and (
        before.known.standing == standing
        or before.known.standing not in {"absent", "recovering"}
    )
    known = KnownKey(
        reference=reference,
        standing=standing,
        first_seen_at=before.known.first_seen_at if before and goes_on else now,
        last_seen_at=now,
    )
    return StoredKey(known=known, jwk=key.jwk)


def _standing_as(one: StoredKey, standing: Standing) -> StoredKey:
    return replace(one, known=replace(one.known, standing=standing))
