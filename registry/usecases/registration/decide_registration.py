"""Deciding a registration from what the crawler found, in one transaction.

The nonce is consumed together with the effect, so a failed attempt does not burn it;
the lease's fence is checked by the same transaction, so a crawler that lost its lease
changes nothing.
"""

from dataclasses import replace
from datetime import datetime, timedelta

from registry.db import labels
from registry.db.engine.engines import Connection, Engine
from registry.db.frontier import tasks
from registry.db.log import entries as log
from registry.db.registration import challenges, registrations
from registry.db.registration.registrations import Registration, RegistrationStatus
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices, probes, profiles
from registry.db.sites.notices import Notice
from registry.errors import Conflict, Problem, Refused, RegistryError
from registry.identity.refusals import NONCE_USED
from registry.identity.statements.registration import verify_sequence
from registry.ranking.quality import QUALITY_WINDOW
from registry.records.canonical import digest_of
from registry.records.record import registration_record
from registry.records.record_fields import RegistrationAct
from registry.reports.labels import REGISTRATION
from registry.sites.entry import SiteEntry
from registry.sites.identifier import format_site_id
from registry.sites.site import Site
from registry.usecases.ids import IdSource
from registry.usecases.refusals import DOCUMENT_MISSING, SITE_NOT_REGISTERED
from registry.usecases.registration.key_acts import (
    VerifiedStatement,
    revoke_key,
    rotate_keys,
    save_keys,
    verify_signer,
)
from registry.usecases.registration.published_keys import save_published_keys
from registry.usecases.sites.declared import declared_of, label_declared
from registry.usecases.sites.list_site import Lister, SiteUpdate
from registry.usecases.sites.notices import make_notice
from registry.usecases.sites.parse_site import ParsedSite

REPROVE_AFTER = timedelta(days=7)
PROBE_INTERVAL = timedelta(hours=1)


async def reject(
    engine: Engine, registration: Registration, problem: Problem, now: datetime
) -> None:
    """The owner gets no notice: anybody can send what no key of the site signed."""
    async with engine.begin() as connection:
        await registrations.decide(connection, registration, "rejected", [problem], now)


async def carry_out(
    engine: Engine,
    verified: VerifiedStatement,
    understood: ParsedSite | None,
    lister: Lister,
    ids: IdSource,
) -> RegistrationStatus:
    """Make the statement take effect, or reject it with the reason.

    understood: the site's documents; None for acts that need none.
    """
    try:
        async with engine.begin() as connection:
            decision = _Decision(connection, verified, lister, ids)
            return await decision.carry_out(understood)
    except LeaseLost:
        return "verifying"
    except RegistryError as refused:
        return await _reject_verified(engine, verified, refused.problem, ids.clock())


class LeaseLost(Exception):
    """A lease that another crawler has by now; all that was done is rolled back."""


class _Decision:
    """A decision in one transaction, which any exception rolls back as a whole."""

    def __init__(
        self,
        connection: Connection,
        verified: VerifiedStatement,
        lister: Lister,
        ids: IdSource,
    ) -> None:
        self._connection = connection
        self._verified = verified
        self._statement = verified.statement
        self._lister = lister
        self._ids = ids
        self._now = ids.clock()

    async def carry_out(self, understood: ParsedSite | None) -> RegistrationStatus:
        entry = await sites.lock_site(self._connection, self._statement.host.name)
        last_seq = entry.seq if entry else None
        verify_sequence(self._statement, last_seq=last_seq, now=self._now)
        await verify_signer(self._connection, self._verified, entry, self._now)
        await self._use_nonce()
        status = await self._act(entry, understood)
        problems = understood.problems if understood else ()
        held = await registrations.decide(
            self._connection, self._verified.registration, status, problems, self._now
        )
        if not held:
            raise LeaseLost
        return status

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
        self, entry: SiteEntry | None, understood: ParsedSite | None
    ) -> RegistrationStatus:
        act = self._statement.act
        if understood is not None and act in {"register", "update"}:
            listed = await self._list(entry, understood)
            await self._note(listed.site_id)
            return "active"
        if entry is None:
            raise Conflict(SITE_NOT_REGISTERED, pointer="/act")
        match act:
            case "rotate":
                await rotate_keys(self._connection, self._verified, entry, self._now)
                await self._note_seq(entry, entry.status)
            case "revoke":
                await revoke_key(self._connection, self._verified, entry, self._now)
                await self._note_seq(entry, entry.status)
            case "withdraw":
                await self._withdraw(entry)
            case "register" | "update":
                raise Refused(DOCUMENT_MISSING)
        await self._note(entry.site_id)
        return "withdrawn" if act == "withdraw" else "active"

    async def _list(self, entry: SiteEntry | None, understood: ParsedSite) -> SiteEntry:
        basis = replace(
            entry or _new_entry(self._verified, self._ids.site_id(), self._now),
            status="active",
            seq=self._statement.seq,
            proved_at=self._now,
            proof_source=self._verified.signer.source_url,
        )
        update = SiteUpdate(
            entry=basis,
            understood=understood,
            declarations=declared_of(self._statement),
            now=self._now,
        )
        (listed,) = await self._lister.list_sites(self._connection, [update])
        await labels.save_own_label(
            self._connection,
            listed.site_id,
            label_declared(self._statement.declarations),
            stated_by=REGISTRATION,
            source=digest_of(self._verified.registration.token),
            now=self._now,
        )
        await save_keys(self._connection, listed.site_id, self._verified, self._now)
        await self._schedule(listed.site_id)
        return listed

    async def _schedule(self, site_id: int) -> None:
        """Schedule the site's tasks; the crawl's own schedule starts with the next one."""
        crawl_at, prove_at = self._now + timedelta(hours=1), self._now + REPROVE_AFTER
        await tasks.schedule(self._connection, site_id, "crawl", crawl_at)
        await tasks.schedule(self._connection, site_id, "prove", prove_at)
        probe_at = await self._next_probe_at(site_id)
        await tasks.begin(self._connection, site_id, "probe", probe_at)

    async def _next_probe_at(self, site_id: int) -> datetime:
        """Return the present for a new site; else the next turn of the site's own clock.

        Probes that a statement could bring would let a site choose when it is measured,
        and leave youth in a minute.
        """
        since = self._now - QUALITY_WINDOW
        past = await probes.probes_since(self._connection, site_id, since, limit=1)
        if not past:
            return self._now
        elapsed = self._now - past[0].observed_at
        return self._now + PROBE_INTERVAL - elapsed % PROBE_INTERVAL

    async def _withdraw(self, entry: SiteEntry) -> None:
        await save_keys(self._connection, entry.site_id, self._verified, self._now)
        await self._note_seq(entry, "withdrawn")
        await profiles.unlist(self._connection, entry.site_id)
        await tasks.forget_tasks(self._connection, entry.site_id)

    async def _note_seq(self, entry: SiteEntry, status: str) -> None:
        await sites.set_status(
            self._connection, entry.site_id, status, self._statement.seq, self._now
        )

    async def _note(self, site_id: int) -> None:
        """Put the act on public record, and note it for the owner."""
        act: RegistrationAct = self._statement.act
        record = registration_record(
            record_id=self._ids.ulid(),
            at=self._now,
            site_id=format_site_id(site_id),
            act=act,
            seq=self._statement.seq,
            kid=self._verified.signer.kid,
            jws=self._verified.registration.token,
        )
        await log.accept(self._connection, record, self._now)
        accepted = make_notice(
            "registration_accepted",
            f"act={act} with seq={self._statement.seq}, signed by the key "
            f"{self._verified.signer.kid}.",
            fix="If it is not yours, revoke that key with act=revoke.",
            url=_path_of(self._verified.registration),
        )
        await notices.save_notices(self._connection, site_id, [accepted], self._now)


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
            rejections = [_rejection(verified, problem)]
            await notices.save_notices(connection, entry.site_id, rejections, now)
    return "rejected"


def _rejection(verified: VerifiedStatement, problem: Problem) -> Notice:
    return make_notice(
        "registration_rejected",
        f"act={verified.statement.act}: {problem.detail}",
        fix=problem.fix,
        url=_path_of(verified.registration),
        problem=problem.code,
    )


def _path_of(registration: Registration) -> str:
    return f"/v1/registrations/{registration.registration_id}"


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
