"""Deciding one leased registration: keys, signature, documents, effect.

A site that can't be reached is asked again a few times before the registration is
refused: a first try meets many a server that is just starting. Where a server, or our own
restraint, names a time, nobody is asked before it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

import structlog

from crawler import refusals
from crawler.context import Context
from crawler.control.evidence import Evidence
from crawler.control.places import fetch_evidence
from crawler.discovery.found import Discovery
from crawler.discovery.search import discover
from crawler.tasks.handover import fetched_bodies, published_keys
from registry.db import registrations
from registry.db.registrations import Registration
from registry.errors import Problem, RegistryError
from registry.identity.refusals import KEY_NOT_PUBLISHED
from registry.sites.host import parse_host
from registry.usecases.decide_registration import carry_out, reject
from registry.usecases.understand import Registrant, Understood, understand
from registry.usecases.verified_statement import VerifiedStatement, verify_signature

RETRIES = 4
RETRY_PAUSE = timedelta(milliseconds=250)
RESTRAINT_PAUSE = timedelta(seconds=15)
"""Where a visit was cut short by our own restraint: as long as a circuit is open first."""
LONGEST_PAUSE = timedelta(hours=1)
"""Somebody waits. Who has to wait longer is told so, and may submit again."""

logger = structlog.get_logger()


class TryAgain(Exception):
    """The site could not be reached this time. pause: before which it is not asked."""

    def __init__(self, pause: timedelta) -> None:
        self.pause = pause
        super().__init__(f"not before {pause}")


async def decide_one(context: Context, registration: Registration) -> None:
    """Never raises a RegistryError: a refusal is written to the registration."""
    host = parse_host(registration.host, test_hosts=context.test_hosts)
    evidence = await fetch_evidence(context.fetcher, host)
    try:
        verified = _verify_control(context, registration, evidence)
        understood = await _read_documents(context, verified, evidence)
    except TryAgain as later:
        pause = max(later.pause, RETRY_PAUSE * 2**registration.fence)
        async with context.engine.begin() as connection:
            until = context.chance.now() + pause
            await registrations.postpone(connection, registration, until)
        return
    except RegistryError as refused:
        await _reject(context, registration, refused.problem)
        return
    status = await carry_out(
        context.engine, verified, understood, context.lister, context.chance
    )
    logger.info("registration_decided", host=registration.host, status=status)


def _verify_control(
    context: Context, registration: Registration, evidence: Evidence
) -> VerifiedStatement:
    try:
        return verify_signature(
            registration, published_keys(evidence), test_hosts=context.test_hosts
        )
    except RegistryError as refused:
        if refused.code != KEY_NOT_PUBLISHED.code or not evidence.unread:
            raise
        if _may_pass(evidence):
            _try_again(registration, _asked_pauses(evidence))
        raise type(refused)(KEY_NOT_PUBLISHED, _why_unread(evidence)) from refused


async def _read_documents(
    context: Context, verified: VerifiedStatement, evidence: Evidence
) -> Understood | None:
    statement = verified.statement
    if statement.act not in {"register", "update"}:
        return None
    discovery = await discover(
        context.fetcher,
        context.robots,
        statement.host,
        clock=context.chance.now,
        declared=[claim.url for claim in statement.documents],
    )
    now = context.chance.now()
    if _is_passing(discovery):
        pauses = [*_asked_pauses(evidence), *_pauses_of(discovery, now)]
        _try_again(verified.registration, pauses)
    return understand(
        fetched_bodies(discovery),
        Registrant(
            site_url=f"https://{statement.host.name}/",
            claims=statement.documents,
            declarations=statement.declarations,
            pinned=tuple(verified.published.keys.values()),
        ),
        problems=discovery.problems,
        now=now,
    )


def _try_again(registration: Registration, asked: Iterable[timedelta]) -> None:
    """Unless it was tried enough. Raises: TryAgain."""
    pause = max(asked, default=timedelta())
    if registration.fence < RETRIES and pause <= LONGEST_PAUSE:
        raise TryAgain(pause)


async def _reject(
    context: Context, registration: Registration, problem: Problem
) -> None:
    await reject(context.engine, registration, problem, context.chance.now())
    logger.info(
        "registration_decided",
        host=registration.host,
        status="rejected",
        code=problem.code,
    )


def _may_pass(evidence: Evidence) -> bool:
    return any(place.may_pass for place in evidence.unread)


def _is_passing(discovery: Discovery) -> bool:
    """A declared document, or everything, could not be had this time."""
    return any(
        failure.may_pass and (failure.found_by == "declared" or discovery.is_outage)
        for failure in discovery.failures
    )


def _asked_pauses(evidence: Evidence) -> Iterator[timedelta]:
    for place in evidence.unread:
        if place.retry_after_s is not None:
            yield timedelta(seconds=place.retry_after_s)


def _pauses_of(discovery: Discovery, now: datetime) -> Iterator[timedelta]:
    for one in discovery.failures:
        if one.retry_after_s is not None:
            yield timedelta(seconds=one.retry_after_s)
        elif one.problem.code in refusals.LATER:
            yield RESTRAINT_PAUSE
    asked = discovery.asked_pause(now)
    if asked is not None:
        yield asked


def _why_unread(evidence: Evidence) -> str:
    return "; ".join(
        f"{place.source_url}: {place.problem.detail}" for place in evidence.unread
    )
