"""Deciding one leased registration: keys, signature, documents, effect.

A site that can't be reached is asked again a few times, soon and then minutes apart,
before the registration is refused: a first try meets many a server that is just starting. Where a server, or our own
restraint, names a time, nobody is asked before it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from crawler import refusals
from crawler.context import Context
from crawler.control.control_evidence import ControlEvidence
from crawler.control.fetch_evidence import fetch_evidence
from crawler.discovery.search import discover
from crawler.discovery.visit_result import Discovery
from crawler.tasks.convert import fetched_bodies, published_keys
from registry.db.registration import registrations
from registry.db.registration.registrations import Registration
from registry.errors import Problem, RegistryError
from registry.identity.refusals import KEY_NOT_PUBLISHED
from registry.sites.host import parse_host
from registry.usecases.registration.decide_registration import carry_out, reject
from registry.usecases.registration.key_acts import VerifiedStatement, verify_signature
from registry.usecases.sites.parse_site import ParsedSite, Registrant, parse_site

RETRY_PAUSES = (
    timedelta(seconds=5),  # of a server that is just starting
    *(timedelta(minutes=minutes) for minutes in (1, 2)),
)
TRIES = len(RETRY_PAUSES) + 1
KEYS_FIRST_S = 3.0
"""Limit of a first try, when nobody has shown yet that the host wants to be asked."""
RESTRAINT_PAUSE = timedelta(seconds=15)
"""Pause after our own restraint cut a visit short: a circuit is first open so long."""
LONGEST_PAUSE = timedelta(hours=1)
"""Longest pause while an owner waits. After it he is asked to submit again."""

logger = structlog.get_logger()


class TryAgain(Exception):
    """The site could not be reached this time. pause: before which it is not asked."""

    def __init__(self, pause: timedelta, problem: Problem) -> None:
        self.pause = pause
        self.problem = problem
        super().__init__(f"not before {pause}")


async def settle_registration(context: Context, registration: Registration) -> None:
    """Decide a registration. Never raises a RegistryError: a refusal is written to it."""
    host = parse_host(registration.host, test_hosts=context.test_hosts)
    evidence = await fetch_evidence(
        context.fetcher,
        host,
        key_set_s=KEYS_FIRST_S if registration.fence == 1 else None,
    )
    try:
        verified = _verify_control(context, registration, evidence)
        understood = await _read_documents(context, verified, evidence)
    except TryAgain as later:
        pause = max(later.pause, RETRY_PAUSES[registration.fence - 1])
        until = context.clock() + pause
        why = f"{later.problem.detail}; asked again from {until:%H:%M:%S} UTC on"
        problem = replace(later.problem, detail=why)
        async with context.engine.begin() as connection:
            await registrations.postpone(connection, registration, until, [problem])
        return
    except RegistryError as refused:
        await _reject(context, registration, refused.problem)
        return
    status = await carry_out(
        context.engine, verified, understood, context.lister, context.ids
    )
    logger.info("registration_decided", host=registration.host, status=status)


def _verify_control(
    context: Context, registration: Registration, evidence: ControlEvidence
) -> VerifiedStatement:
    try:
        return verify_signature(
            registration, published_keys(evidence), test_hosts=context.test_hosts
        )
    except RegistryError as refused:
        if refused.code != KEY_NOT_PUBLISHED.code or not evidence.unread:
            raise
        unread = type(refused)(KEY_NOT_PUBLISHED, _why_unread(evidence))
        if any(source.may_pass for source in evidence.unread):
            _try_again(registration, _requested_pauses(evidence), unread.problem)
        raise unread from refused


async def _read_documents(
    context: Context, verified: VerifiedStatement, evidence: ControlEvidence
) -> ParsedSite | None:
    statement = verified.statement
    if statement.act not in {"register", "update"}:
        return None
    discovery = await discover(
        context.fetcher,
        context.robots,
        statement.host,
        clock=context.clock,
        declared=[claim.url for claim in statement.documents],
    )
    now = context.clock()
    if passing := _passing(discovery):
        pauses = [*_requested_pauses(evidence), *_pauses_of(discovery, now)]
        _try_again(verified.registration, pauses, passing[0])
    return parse_site(
        fetched_bodies(discovery),
        Registrant(
            site_url=f"https://{statement.host.name}/",
            claims=statement.documents,
            declarations=statement.declarations,
            pinned=tuple(verified.published.keys.values()),
            allow_loopback=context.test_hosts,
        ),
        problems=discovery.problems,
        tried=discovery.tried,
        absent=discovery.absent,
        now=now,
    )


def _try_again(
    registration: Registration, pauses: Iterable[timedelta], problem: Problem
) -> None:
    """Postpone the registration unless it was tried enough. Raises: TryAgain."""
    pause = max(pauses, default=timedelta())
    if registration.fence < TRIES and pause <= LONGEST_PAUSE:
        raise TryAgain(pause, problem)


async def _reject(
    context: Context, registration: Registration, problem: Problem
) -> None:
    await reject(context.engine, registration, problem, context.clock())
    logger.info(
        "registration_decided",
        host=registration.host,
        status="rejected",
        code=problem.code,
    )


def _passing(discovery: Discovery) -> list[Problem]:
    """Return why a declared document, or everything, could not be fetched this time."""
    return [
        failure.problem
        for failure in discovery.failures
        if failure.may_pass and (failure.found_by == "declared" or discovery.is_outage)
    ]


def _requested_pauses(evidence: ControlEvidence) -> Iterator[timedelta]:
    for source in evidence.unread:
        if source.retry_after_s is not None:
            yield timedelta(seconds=source.retry_after_s)


def _pauses_of(discovery: Discovery, now: datetime) -> Iterator[timedelta]:
    for failure in discovery.failures:
        if failure.retry_after_s is not None:
            yield timedelta(seconds=failure.retry_after_s)
        elif failure.problem.code in refusals.LATER:
            yield RESTRAINT_PAUSE
    pause = discovery.requested_pause(now)
    if pause is not None:
        yield pause


def _why_unread(evidence: ControlEvidence) -> str:
    return "; ".join(
        f"{source.source_url}: {source.problem.detail}" for source in evidence.unread
    )
