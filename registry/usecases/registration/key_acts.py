"""Effects of a signed statement on the keys of a site: who may sign, rotate and revoke."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime

from registry.db.engine.engines import Connection
from registry.db.registration.registrations import Registration
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices
from registry.db.sites.listed_sites import StoredKey
from registry.errors import Conflict, Refused
from registry.identity import refusals
from registry.identity.keys.key_source import KeyReference
from registry.identity.keys.key_trust import (
    Distrusted,
    OnHold,
    RevocationSigned,
    Trusted,
    next_key_state,
)
from registry.identity.statements.jws import CompactJws, parse_compact, verify_jws
from registry.identity.statements.registration import SiteStatement, parse_statement
from registry.sites.entry import SiteEntry
from registry.usecases.refusals import KEY_HELD
from registry.usecases.registration.published_keys import (
    PublishedKeys,
    observe_keys,
    save_published_keys,
    weigh_key,
)
from registry.usecases.sites.notices import key_notices


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedStatement:
    """signer: the key and where it stands; whether it is trusted is not decided yet."""

    registration: Registration
    jws: CompactJws
    statement: SiteStatement
    signer: KeyReference
    published: PublishedKeys


def verify_signature(
    registration: Registration, published: PublishedKeys, *, test_hosts: bool
) -> VerifiedStatement:
    """Raises: Refused."""
    jws = parse_compact(registration.token)
    signing_key = published.find(jws.kid)
    if signing_key is None:
        raise Refused(
            refusals.KEY_NOT_PUBLISHED, f"No key has the thumbprint {jws.kid}."
        )
    signer, key = signing_key
    verify_jws(jws, key)
    return VerifiedStatement(
        registration=registration,
        jws=jws,
        statement=parse_statement(jws.payload, test_hosts=test_hosts),
        signer=signer,
        published=published,
    )


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
    """Hand over to a key that stands beside the old one at its source. Raises: Refused."""
    following = KeyReference(
        source_url=verified.signer.source_url, kid=verified.statement.next_kid or ""
    )
    if following not in verified.published.keys:
        detail = f"{following.source_url} holds no key of thumbprint {following.kid}."
        raise Refused(refusals.NEXT_KEY_NOT_PUBLISHED, detail, pointer="/next_kid")
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
    if all(key.known.reference.kid != signed.revoked_kid for key in known):
        raise Refused(
            refusals.REVOKED_KEY_UNKNOWN,
            f"The thumbprint is {signed.revoked_kid}.",
            pointer="/revoked_kid",
        )
    after = [
        replace(key, known=replace(key.known, state=next_key_state(key.known, signed)))
        for key in known
    ]
    for key in after:
        await sites.save_key(connection, entry.site_id, key)
    changed = key_notices(known, after)
    await notices.save_notices(connection, entry.site_id, changed, now)


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
        case OnHold(until=until, reason=reason):
            detail = f"{reason.replace('_', ' ')} until {until:%Y-%m-%dT%H:%M:%SZ}"
            raise Conflict(KEY_HELD, detail, pointer=pointer)
        case Distrusted(problem=problem):
            raise Refused(problem, pointer=pointer)
