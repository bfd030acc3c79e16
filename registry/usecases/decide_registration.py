"""Deciding a registration from what the crawler found, in one transaction.

The nonce is consumed together with the effect, so a failed attempt does not burn it;
the lease's fence is checked by the same transaction, so a crawler that lost its lease
changes nothing.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from registry.audit.members import RegistrationAct
from registry.audit.record import registration_record
from registry.db import challenges, profiles, registrations, sites, tasks
from registry.db.engine import Connection, Engine
from registry.db.registrations import Registration, RegistrationStatus
from registry.db.sites import Label, StoredKey
from registry.errors import Conflict, Problem, ProblemType, Refused, RegistryError
from registry.identity.jws import CompactJws, parse_compact, verify_jws
from registry.identity.key_source import KeyReference
from registry.identity.key_trust import (
    Distrusted,
    Held,
    RevocationSigned,
    Trusted,
    decide_standing,
)
from registry.identity.refusals import KEY_NOT_PUBLISHED, NONCE_USED
from registry.identity.registration import (
    Statement,
    parse_statement,
    verify_sequence,
)
from registry.sites.entry import SiteEntry
from registry.sites.identifier import spell_site_id
from registry.sites.site import Site
from registry.usecases.accept import accept_record
from registry.usecases.chance import Chance
from registry.usecases.declared import declared_of
from registry.usecases.list_site import Lister
from registry.usecases.published_keys import (
    PublishedKeys,
    observe_keys,
    save_published_keys,
    weigh_key,
)
from registry.usecases.refusals import DOCUMENT_MISSING, SITE_NOT_REGISTERED
from registry.usecases.understand import Understood

REPROVE_AFTER = timedelta(days=7)

KEY_HELD = ProblemType(
    "key_held",
    "The key is new beside the site's trusted key and has to wait in public",
    "Let the trusted key sign act=rotate with next_kid, or submit again after the hold.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedStatement:
    """A statement whose signature holds under a key that the host publishes."""

    registration: Registration
    jws: CompactJws
    statement: Statement
    signer: KeyReference
    published: PublishedKeys


def verify_signature(
    registration: Registration, published: PublishedKeys, *, test_hosts: bool
) -> VerifiedStatement:
    """Raises: Refused."""
    jws = parse_compact(registration.token)
    found = published.find(jws.kid)
    if found is None:
        raise Refused(KEY_NOT_PUBLISHED, f"No key has the thumbprint {jws.kid}.")
    signer, key = found
    verify_jws(jws, key)
    return VerifiedStatement(
        registration=registration,
        jws=jws,
        statement=parse_statement(jws.payload, test_hosts=test_hosts),
        signer=signer,
        published=published,
    )


async def reject(
    engine: Engine, registration: Registration, problem: Problem, now: datetime
) -> None:
    async with engine.begin() as connection:
        await registrations.decide(connection, registration, "rejected", [problem], now)


async def carry_out(
    engine: Engine,
    verified: VerifiedStatement,
    understood: Understood | None,
    lister: Lister,
    chance: Chance,
) -> RegistrationStatus:
    """Make the statement take effect, or reject it with the reason.

    understood: the site's documents; None for acts that need none.
    """
    try:
        async with engine.begin() as connection:
            decision = _Decision(connection, verified, lister, chance)
            return await decision.carry_out(understood)
    except LeaseLost:
        return "verifying"
    except RegistryError as refused:
        return await _reject_verified(engine, verified, refused.problem, chance.now())


class LeaseLost(Exception):
    """Another crawler has the registration now; what was done is rolled back."""


class _Decision:
    """One transaction; whatever raises rolls all of it back."""

    def __init__(
        self,
        connection: Connection,
        verified: VerifiedStatement,
        lister: Lister,
        chance: Chance,
    ) -> None:
        self._connection = connection
        self._verified = verified
        self._statement = verified.statement
        self._lister = lister
        self._chance = chance
        self._now = chance.now()

    async def carry_out(self, understood: Understood | None) -> RegistrationStatus:
        entry = await sites.lock_site(self._connection, self._statement.host.name)
        verify_sequence(self._statement, last_seq=entry.seq if entry else None)
        self._verify_trust(self._verified.signer, await self._observed(entry))
        await self._use_nonce()
        status = await self._act(entry, understood)
        problems = understood.problems if understood else ()
        held = await registrations.decide(
            self._connection, self._verified.registration, status, problems, self._now
        )
        if not held:
            raise LeaseLost
        return status

    async def _observed(self, entry: SiteEntry | None) -> list[StoredKey]:
        """The keys of a listed site as this fetch leaves them."""
        if entry is None:
            return []
        known = await sites.keys_of(self._connection, entry.site_id)
        return observe_keys(known, self._verified.published, frozenset(), self._now)

    def _verify_trust(
        self,
        reference: KeyReference,
        observed: Sequence[StoredKey],
        *,
        endorsed: AbstractSet[KeyReference] = frozenset(),
        pointer: str | None = None,
    ) -> None:
        published = self._verified.published
        match weigh_key(reference, published, observed, self._now, endorsed=endorsed):
            case Trusted():
                return
            case Held(until=until, reason=reason):
                detail = f"{reason.replace('_', ' ')} until {until:%Y-%m-%dT%H:%M:%SZ}"
                raise Conflict(KEY_HELD, detail, pointer=pointer)
            case Distrusted(problem=problem):
                raise Refused(problem, pointer=pointer)

    async def _use_nonce(self) -> None:
        used = await challenges.use_nonce(
            self._connection,
            self._statement.host.name,
            self._statement.nonce,
            self._now,
        )
        if not used:
            raise Conflict(NONCE_USED, pointer="/jti")

    async def _act(
        self, entry: SiteEntry | None, understood: Understood | None
    ) -> RegistrationStatus:
        act = self._statement.act
        if understood is not None and act in {"register", "update"}:
            listed = await self._list(entry, understood)
            await self._log(listed.site_id)
            return "active"
        if entry is None:
            raise Conflict(SITE_NOT_REGISTERED, pointer="/act")
        match act:
            case "rotate":
                await self._rotate(entry)
            case "revoke":
                await self._revoke(entry)
            case "withdraw":
                await self._withdraw(entry)
            case "register" | "update":
                raise Refused(DOCUMENT_MISSING)
        await self._log(entry.site_id)
        return "withdrawn" if act == "withdraw" else "active"

    async def _list(self, entry: SiteEntry | None, understood: Understood) -> SiteEntry:
        basis = replace(
            entry or _new_entry(self._verified, self._chance.site_id(), self._now),
            status="active",
            seq=self._statement.seq,
            proved_at=self._now,
            proof_source=self._verified.signer.source_url,
        )
        listed = await self._lister.list_site(
            self._connection,
            basis,
            understood,
            declared_of(self._statement),
            self._now,
        )
        await sites.save_label(
            self._connection,
            listed.site_id,
            _label(self._statement, understood.site),
            self._now,
        )
        await self._save_keys(listed.site_id)
        await self._schedule(listed.site_id)
        return listed

    async def _save_keys(self, site_id: int) -> None:
        await save_published_keys(
            self._connection,
            site_id,
            self._verified.published,
            trusted=frozenset({self._verified.signer}),
            now=self._now,
        )

    async def _schedule(self, site_id: int) -> None:
        """A first probe at once; the crawl's own schedule starts with the next one."""
        due = {
            "probe": self._now,
            "crawl": self._now + timedelta(hours=1),
            "prove": self._now + REPROVE_AFTER,
        }
        for kind in get_args(tasks.TaskKind):
            await tasks.schedule(self._connection, site_id, kind, due[kind])

    async def _rotate(self, entry: SiteEntry) -> None:
        """The old key hands over to one that stands beside it at its source."""
        following = KeyReference(
            source_url=self._verified.signer.source_url,
            kid=self._statement.next_kid or "",
        )
        self._verify_trust(
            following,
            await self._observed(entry),
            endorsed={following},
            pointer="/next_kid",
        )
        await save_published_keys(
            self._connection,
            entry.site_id,
            self._verified.published,
            trusted=frozenset({self._verified.signer, following}),
            now=self._now,
        )
        await self._note_seq(entry, entry.status)

    async def _revoke(self, entry: SiteEntry) -> None:
        await self._save_keys(entry.site_id)
        signed = RevocationSigned(revoked_kid=self._statement.revoked_kid or "")
        known = await sites.keys_of(self._connection, entry.site_id)
        if all(one.known.reference.kid != signed.revoked_kid for one in known):
            raise Refused(
                KEY_NOT_PUBLISHED,
                "The site has no key of that thumbprint.",
                pointer="/revoked_kid",
            )
        for one in known:
            standing = decide_standing(one.known, signed)
            changed = replace(one, known=replace(one.known, standing=standing))
            await sites.save_key(self._connection, entry.site_id, changed)
        await self._note_seq(entry, entry.status)

    async def _withdraw(self, entry: SiteEntry) -> None:
        await self._save_keys(entry.site_id)
        await self._note_seq(entry, "withdrawn")
        await profiles.unlist(self._connection, entry.site_id)
        await tasks.forget_tasks(self._connection, entry.site_id)

    async def _note_seq(self, entry: SiteEntry, status: str) -> None:
        await sites.set_status(
            self._connection, entry.site_id, status, self._statement.seq, self._now
        )

    async def _log(self, site_id: int) -> None:
        act: RegistrationAct = self._statement.act
        record = registration_record(
            record_id=self._chance.ulid(),
            at=self._now,
            site_id=spell_site_id(site_id),
            act=act,
            seq=self._statement.seq,
            kid=self._verified.signer.kid,
            jws=self._verified.registration.token,
        )
        await accept_record(self._connection, record, self._now)


async def _reject_verified(
    engine: Engine, verified: VerifiedStatement, problem: Problem, now: datetime
) -> RegistrationStatus:
    """The keys of a listed site were seen all the same: a new one's hold starts."""
    async with engine.begin() as connection:
        entry = await sites.lock_site(connection, verified.statement.host.name)
        held = await registrations.decide(
            connection, verified.registration, "rejected", [problem], now
        )
        if not held:
            return "verifying"
        if entry is not None:
            await save_published_keys(
                connection, entry.site_id, verified.published, now=now
            )
    return "rejected"


def _new_entry(verified: VerifiedStatement, site_id: int, now: datetime) -> SiteEntry:
    host = verified.statement.host
    return SiteEntry(
        site_id=site_id,
        host=host.name,
        registrable_domain=host.registrable_domain,
        status="active",
        seq=verified.statement.seq,
        site=Site(),
        place=None,
        conformance="tolerated",
        semantic_hash=b"",
        registered_at=now,
        updated_at=now,
        changed_at=now,
        proved_at=now,
        proof_source=verified.signer.source_url,
    )


def _label(statement: Statement, site: Site) -> Label:
    """For reports. What the signed registration says comes before the document."""
    declared = statement.declarations
    independent = declared.is_independent
    if independent is None:
        independent = site.is_independent
    independence: dict[bool | None, str] = {
        True: "independent",
        False: "chain",
        None: "unknown",
    }
    commission: Any = declared.commission_percent
    if commission is None:
        commission = site.commission_percent
    return Label(
        size=declared.size or "unknown",
        independence=independence[independent],
        commission_percent=commission,
        source="registration",
    )
