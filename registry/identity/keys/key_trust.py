"""Trust in the keys of a site.

The policy of the registration protocol: the first key found at the source is trusted; a
later one needs the old key's signature, or an hour in public, or, when all old keys are
gone, the site's DNS and three days. Keys are distinguished by (source, thumbprint).
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from registry.errors import ProblemType
from registry.identity import refusals
from registry.identity.keys.key_source import KeyReference

COOLING_OFF = timedelta(hours=1)
RECOVERY_HOLD = timedelta(hours=72)
RETURN_WINDOW = timedelta(hours=72)

KeyState = Literal["cooling", "recovering", "trusted", "absent", "revoked"]
"""cooling: first seen beside a trusted key. recovering: first seen when none was left,
and named by the DNS since. absent: no longer published; unless it returns in time, it
comes back only as a new key does. revoked: by a signature, for good."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownKey:
    """A key of a site, recorded since the site's first registration.

    first_seen_at, last_seen_at: by successful fetches, without an absence between them.
    missed_at: when it was first missed while it was trusted, and no other key has been
    trusted since; None otherwise.
    """

    reference: KeyReference
    state: KeyState
    first_seen_at: datetime
    last_seen_at: datetime
    missed_at: datetime | None = None

    def may_return(self, now: datetime) -> bool:
        """Return whether it is trusted again if its source serves it again.

        Who held a web server for a minute could otherwise lock its owner out for good.
        """
        return self.missed_at is not None and now - self.missed_at <= RETURN_WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    reason: Literal[
        "established",
        "first_registration",
        "signed_rotation",
        "seen_twice",
        "dns_recovery",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnHold:
    """Decision postponed to `until`; the hold is public, so that an owner can object."""

    until: datetime
    reason: Literal["cooling_off", "recovery_hold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distrusted:
    problem: ProblemType


TrustDecision = Trusted | OnHold | Distrusted


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEvidence:
    """Knowledge of a site's keys at one moment.

    published: keys that the sources serve, by their latest successful fetches.
    known: every recorded key of the site; empty before its first registration.
    endorsed: those that a then trusted key named as `next_kid`, at that key's source.
    pins: thumbprints in `_agent-registry` records; empty allows any.
    dns_proven_since: since when a DNS record has named the key without a break.
    """

    published: AbstractSet[KeyReference]
    known: Collection[KnownKey] = ()
    endorsed: AbstractSet[KeyReference] = frozenset()
    pins: AbstractSet[str] = frozenset()
    dns_proven_since: datetime | None = None


def decide_key_trust(
    reference: KeyReference, evidence: KeyEvidence, *, now: datetime
) -> TrustDecision:
    """Decide if this key may sign for the site.

    Call it at every successful fetch for every published key, not only for one that has
    just signed: a key that waited its hour keeps its trust when the old one goes.
    """
    obstacle = _find_obstacle(reference, evidence)
    if obstacle is not None:
        return Distrusted(problem=obstacle)
    if not evidence.known:
        return Trusted(reason="first_registration")
    key = next((key for key in evidence.known if key.reference == reference), None)
    if key is not None and key.state == "trusted":
        return Trusted(reason="established")
    if reference in evidence.endorsed:
        return Trusted(reason="signed_rotation")
    if key is not None and key.state == "cooling":
        return _decide_cooling(key)
    if any(key.state == "trusted" for key in evidence.known):
        return OnHold(until=now + COOLING_OFF, reason="cooling_off")
    return _decide_recovery(evidence.dns_proven_since, now)


def _find_obstacle(
    reference: KeyReference, evidence: KeyEvidence
) -> ProblemType | None:
    # A revoked key is revoked at every source of the site: its secret is what leaked.
    revoked = {k.reference.kid for k in evidence.known if k.state == "revoked"}
    if reference.kid in revoked:
        return refusals.KEY_REVOKED
    if reference not in evidence.published:
        return refusals.KEY_NOT_PUBLISHED
    if evidence.pins and reference.kid not in evidence.pins:
        return refusals.KEY_NOT_PINNED
    return None


def _decide_cooling(key: KnownKey) -> Trusted | OnHold:
    # Two sightings, not the mere passing of an hour: the key must still be there.
    if key.last_seen_at - key.first_seen_at >= COOLING_OFF:
        return Trusted(reason="seen_twice")
    return OnHold(until=key.first_seen_at + COOLING_OFF, reason="cooling_off")


def _decide_recovery(dns_proven_since: datetime | None, now: datetime) -> TrustDecision:
    if dns_proven_since is None:
        return Distrusted(problem=refusals.KEY_RECOVERY_NEEDS_DNS)
    until = dns_proven_since + RECOVERY_HOLD
    if now < until:
        return OnHold(until=until, reason="recovery_hold")
    return Trusted(reason="dns_recovery")


@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationSigned:
    """A trusted key of the site signed `act=revoke` with this `revoked_kid`."""

    revoked_kid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysFetched:
    """A source answered with a valid key set or records; an empty one counts."""

    source_url: str
    kids: AbstractSet[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchFailed:
    """A source did not answer, or its answer was refused."""

    source_url: str


Observation = RevocationSigned | KeysFetched | FetchFailed


def next_key_state(key: KnownKey, observation: Observation) -> KeyState:
    """Return the state of `key` after the observation; never more trusted than before.

    A failed fetch revokes nothing: an outage must not cost a site its keys.
    """
    match observation:
        case RevocationSigned(revoked_kid=kid) if kid == key.reference.kid:
            return "revoked"
        case KeysFetched() if key.state != "revoked" and _lacks(observation, key):
            return "absent"
        case _:
            return key.state


def _lacks(fetched: KeysFetched, key: KnownKey) -> bool:
    """Return whether this source stopped serving the key; others do not count."""
    reference = key.reference
    return (
        fetched.source_url == reference.source_url and reference.kid not in fetched.kids
    )
