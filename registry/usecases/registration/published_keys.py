"""The keys that a site's operator publishes: what is remembered, and how it weighs.

Each successful fetch is an observation: it is taken in first, and then every key that it
found is weighed (`registry.identity.keys.key_trust`), whether it has signed or not. A place
that could not be read changes nothing.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from registry.db.engine.engines import Connection
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices
from registry.db.sites.listed_sites import StoredKey
from registry.identity.keys.key_source import KeyReference
from registry.identity.keys.key_trust import (
    Distrusted,
    KeyEvidence,
    KeysFetched,
    KeyState,
    KnownKey,
    TrustDecision,
    Trusted,
    decide_key_trust,
    next_key_state,
)
from registry.identity.keys.public_keys import PublicKey
from registry.usecases.refusals import PINS_UNREAD
from registry.usecases.sites.notices import key_notices


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """Keys that the site's operator publishes at this moment.

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
        """Return whether a pin or a key record names it; None if that can't be read."""
        if kid in (self.pins or ()):
            return True
        if any(key.kid == kid and _is_dns(key.source_url) for key in self.keys):
            return True
        wab_was_read = any(map(_is_dns, self.sources))
        return False if self.pins is not None and wab_was_read else None


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
    trusted_references = frozenset(
        reference
        for reference in published.keys
        if isinstance(weigh_key(reference, published, observed, now), Trusted)
    )
    after = [
        _with_state(stored, "trusted")
        if stored.known.reference in trusted_references
        else stored
        for stored in observed
    ]
    if any(stored.known.state == "trusted" for stored in after):
        # None simply comes back: another is trusted by now.
        after = [
            replace(own, known=replace(own.known, missed_at=None)) for own in after
        ]
    for stored in after:
        if stored not in before:
            await sites.save_key(connection, site_id, stored)
    changed = key_notices(before, after)
    await notices.save_notices(connection, site_id, changed, now)
    return trusted_references


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
    remembered = {
        stored.known.reference: _after(stored, published, now) for stored in known
    }
    for reference in trusted & remembered.keys():
        remembered[reference] = _with_state(remembered[reference], "trusted")
    beside = bool(trusted) or any(
        stored.known.state == "trusted" for stored in remembered.values()
    )
    for reference, key in published.keys.items():
        before = remembered.get(reference)
        state: KeyState = "trusted"
        if reference not in trusted:
            named = published.is_named_by_dns(reference.kid)
            state = _state_seen(before, beside=beside, named=named, now=now)
        remembered[reference] = _seen(before, reference, key, state, now)
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
        stored.known.first_seen_at
        for stored in observed
        if stored.known.state == "recovering"
        and stored.known.reference.kid == reference.kid
    ]
    evidence = KeyEvidence(
        published=published.keys.keys(),
        known=[stored.known for stored in observed],
        endorsed=endorsed,
        pins=published.pins or frozenset(),
        dns_proven_since=min(recovering_since, default=None),
    )
    decision = decide_key_trust(reference, evidence, now=now)
    if published.pins is None and _needs_pins(decision):
        return Distrusted(problem=PINS_UNREAD)
    return decision


def _needs_pins(decision: TrustDecision) -> bool:
    """Return whether a pin could deny the trust: no signature or earlier trust gave it."""
    return isinstance(decision, Trusted) and decision.reason in {
        "first_registration",
        "seen_twice",
        "dns_recovery",
    }


def _is_dns(source_url: str) -> bool:
    return source_url.startswith("dns:")


def _after(stored: StoredKey, published: PublishedKeys, now: datetime) -> StoredKey:
    """Return a remembered key, absent if its source was read and lacks it."""
    source = stored.known.reference.source_url
    if source not in published.sources:
        return stored
    kids = {key.kid for key in published.keys if key.source_url == source}
    observation = KeysFetched(source_url=source, kids=kids)
    after = _with_state(stored, next_key_state(stored.known, observation))
    if (stored.known.state, after.known.state) == ("trusted", "absent"):
        after = replace(after, known=replace(after.known, missed_at=now))
    return after


def _state_seen(
    before: StoredKey | None, *, beside: bool, named: bool | None, now: datetime
) -> KeyState:
    """Return the state of a published key that no signature vouches for.

    beside: the site has a trusted key. named: the DNS names this one.
    """
    state = before.known.state if before else "absent"
    if state in {"trusted", "revoked", "cooling"}:
        return state
    if beside:
        return "cooling"
    if before is not None and before.known.may_return(now):
        return "trusted"
    if named is None:  # a failed look-up breaks no hold, nor does it start one
        return state
    return "recovering" if named else "absent"


def _seen(
    before: StoredKey | None,
    reference: KeyReference,
    key: PublicKey,
    state: KeyState,
    now: datetime,
) -> StoredKey:
    """first_seen_at is set again at the start of each hold of the key."""
    goes_on = before is not None and (
        before.known.state == state
        or before.known.state not in {"absent", "recovering"}
    )
    known = KnownKey(
        reference=reference,
        state=state,
        first_seen_at=before.known.first_seen_at if before and goes_on else now,
        last_seen_at=now,
    )
    return StoredKey(known=known, jwk=key.jwk)


def _with_state(stored: StoredKey, state: KeyState) -> StoredKey:
    return replace(stored, known=replace(stored.known, state=state))
