"""What a signed statement does to the keys of a site: who may sign, rotate and revoke."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime

from registry.db import notices, sites
from registry.db.engine import Connection
from registry.db.sites import StoredKey
from registry.errors import Conflict, Refused
from registry.identity.key_source import KeyReference
from registry.identity.key_trust import (
    Distrusted,
    Held,
    RevocationSigned,
    Trusted,
    decide_standing,
)
from registry.identity.refusals import KEY_NOT_PUBLISHED
from registry.sites.entry import SiteEntry
from registry.usecases.notices import key_notices
from registry.usecases.published_keys import (
    PublishedKeys,
    observe_keys,
    save_published_keys,
    weigh_key,
)
from registry.usecases.refusals import KEY_HELD
from registry.usecases.verified_statement import VerifiedStatement


async def verify_signer(
    connection: Connection,
    verified: VerifiedStatement,
    entry: SiteEntry | None,
    now: datetime,
) -> None:
    """entry: None before the first registration. Raises: Refused, Conflict."""
    observed = await _observed(connection, verified, entry, now)
    _verify_trust(verified.signer, verified.published, observed, now)


async def save_keys(
    connection: Connection, site_id: int, verified: VerifiedStatement, now: datetime
) -> None:
    await save_published_keys(
        connection,
        site_id,
        verified.published,
        trusted=frozenset({verified.signer}),
        now=now,
    )


async def rotate_keys(
    connection: Connection, verified: VerifiedStatement, entry: SiteEntry, now: datetime
) -> None:
    """The old key hands over to one that stands beside it at its source."""
    following = KeyReference(
        source_url=verified.signer.source_url, kid=verified.statement.next_kid or ""
    )
    _verify_trust(
        following,
        verified.published,
        await _observed(connection, verified, entry, now),
        now,
        endorsed=frozenset({following}),
        pointer="/next_kid",
    )
    await save_published_keys(
        connection,
        entry.site_id,
        verified.published,
        trusted=frozenset({verified.signer, following}),
        now=now,
    )


async def revoke_key(
    connection: Connection, verified: VerifiedStatement, entry: SiteEntry, now: datetime
) -> None:
    await save_keys(connection, entry.site_id, verified, now)
    signed = RevocationSigned(revoked_kid=verified.statement.revoked_kid or "")
    known = await sites.keys_of(connection, entry.site_id)
    if all(one.known.reference.kid != signed.revoked_kid for one in known):
        raise Refused(
            KEY_NOT_PUBLISHED,
            "The site has no key of that thumbprint.",
            pointer="/revoked_kid",
        )
    after = [
        replace(
            one, known=replace(one.known, standing=decide_standing(one.known, signed))
        )
        for one in known
    ]
    for one in after:
        await sites.save_key(connection, entry.site_id, one)
    told = key_notices(known, after)
    await notices.save_notices(connection, entry.site_id, told, now)


async def _observed(
    connection: Connection,
    verified: VerifiedStatement,
    entry: SiteEntry | None,
    now: datetime,
) -> list[StoredKey]:
    """The keys of a listed site as this fetch leaves them."""
    if entry is None:
        return []
    known = await sites.keys_of(connection, entry.site_id)
    return observe_keys(known, verified.published, frozenset(), now)


def _verify_trust(
    reference: KeyReference,
    published: PublishedKeys,
    observed: Sequence[StoredKey],
    now: datetime,
    *,
    endorsed: AbstractSet[KeyReference] = frozenset(),
    pointer: str | None = None,
) -> None:
    match weigh_key(reference, published, observed, now, endorsed=endorsed):
        case Trusted():
            return
        case Held(until=until, reason=reason):
            detail = f"{reason.replace('_', ' ')} until {until:%Y-%m-%dT%H:%M:%SZ}"
            raise Conflict(KEY_HELD, detail, pointer=pointer)
        case Distrusted(problem=problem):
            raise Refused(problem, pointer=pointer)
