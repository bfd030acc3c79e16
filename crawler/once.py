"""Visit made now, with everything it decides written as JSON objects, one a line.

`look` needs no database and stores nothing. `carry_out` does the crawl task of a listed
site out of turn, under a lease and its fence as any worker.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import TextIO

import msgspec

from crawler import refusals, trace
from crawler.context import Context
from crawler.discovery.search import discover
from crawler.discovery.visit_result import Discovery
from crawler.frontier.revisits import Revisits
from crawler.frontier.schedule import next_retry_at
from crawler.http.fetch import Fetcher
from crawler.robots.robots_cache import RobotsCache
from crawler.tasks.convert import fetched_bodies
from crawler.tasks.dispatch import carry_out_task
from registry.db.frontier import due_work as frontier
from registry.db.frontier import tasks
from registry.db.sites import listed_sites as sites
from registry.errors import Problem, Refused, RegistryError
from registry.sites.change_history import NEVER_VISITED
from registry.sites.host import Host, parse_host
from registry.usecases.ids import Clock
from registry.usecases.sites.parse_site import ParsedSite, Registrant, parse_site

NAMED_ACTIONS = 50


async def look(
    fetcher: Fetcher,
    host: str,
    *,
    declared: Sequence[str],
    clock: Clock,
    test_hosts: bool,
    write: TextIO,
) -> bool:
    """Return whether there were documents. declared: URLs that alone are asked for."""
    with trace.listening(partial(write_event, write)):
        try:
            parsed = parse_host(host, test_hosts=test_hosts)
        except Refused as refused:
            _emit_refusal(host, refused)
            return False
        discovery = await discover(
            fetcher, RobotsCache(fetcher), parsed, clock=clock, declared=declared
        )
        return _judge(discovery, parsed, clock(), allow_loopback=fetcher.allow_loopback)


async def carry_out(
    context: Context, host: str, *, lease: timedelta, write: TextIO
) -> bool:
    """Return whether there were documents, or all stand as they were."""
    with trace.listening(partial(write_event, write)):
        try:
            name = parse_host(host, test_hosts=context.test_hosts).name
        except Refused as refused:
            _emit_refusal(host, refused)
            return False
        now = context.clock()
        async with context.engine.begin() as connection:
            task = await frontier.lease_task_at(
                connection, name, "crawl", now=now, lease=lease
            )
            listed = await sites.find_site(connection, name)
        if task is None:
            why: trace.WhyNotLeased = "leased" if listed else "not_listed"
            trace.emit(trace.NotLeased, host=name, why=why)
            return False
        trace.emit(
            trace.Leased,
            site_id=task.site_id,
            fence=task.fence,
            lease_s=round(lease.total_seconds()),
        )
        try:
            await carry_out_task(context, task)
        finally:
            async with context.engine.begin() as connection:
                await frontier.give_back(connection, [task])
        async with context.engine.connect() as connection:
            outcome = (await tasks.outcomes_of(connection, task.site_id))["crawl"]
        due_at = outcome["nextDueAt"] or now
        _emit_schedule(
            outcome.get("result", ""), outcome.get("code", ""), now, due_at, due_at
        )
        return outcome.get("result") in {"fetched", "unchanged"}


def write_event(out: TextIO, event: trace.Event) -> None:
    """Write the event in ASCII: no character of a site reaches a terminal as it is."""
    out.write(json.dumps(msgspec.to_builtins(event)) + "\n")
    out.flush()


def _emit_refusal(host: str, refused: Refused) -> None:
    members = {"status": 0, "elapsed_ms": 0}
    trace.emit(trace.NotTaken.of, refused.problem, url=host, **members)


def _judge(
    discovery: Discovery, host: Host, now: datetime, *, allow_loopback: bool
) -> bool:
    """Trace how a crawler would judge it, and when it would come again."""
    given = discovery.problems
    failed = discovery.failures[0].problem.code if discovery.is_outage else ""
    try:
        understood = parse_site(
            fetched_bodies(discovery),
            Registrant(site_url=f"https://{host.name}/", allow_loopback=allow_loopback),
            problems=given,
            tried=discovery.tried,
            now=now,
        )
    except RegistryError as refused:
        trace.emit(trace.NotUnderstood.of, refused.problem)
        _emit_retry(discovery, failed or refused.code, now)
        return False
    _emit_understood(understood, given)
    next_at = partial(Revisits().next_at, now, NEVER_VISITED)
    _emit_schedule("fetched", "", now, next_at(lambda: 0.0), next_at(lambda: 1.0))
    return True


def _emit_understood(understood: ParsedSite, given: Sequence[Problem]) -> None:
    for problem in understood.problems:
        if problem not in given:
            trace.emit(trace.Noted.of, problem)
    site = understood.site
    trace.emit(
        trace.Understood.of,
        site,
        actions=len(site.actions),
        named=[action.name for action in site.actions[:NAMED_ACTIONS]],
        documents=[
            trace.Reading.of(
                document,
                signature=document.signature["status"],
                deviations=len(document.deviations),
            )
            for document in understood.documents
        ],
        problems=len(understood.problems),
    )


def _emit_retry(discovery: Discovery, code: str, now: datetime) -> None:
    pause = discovery.requested_pause(now)
    failures = int(code not in refusals.LATER)
    earliest, latest = (
        next_retry_at(now, failures=failures, draw=lambda: share, retry_after=pause)  # noqa: B023 — called at once
        for share in (0.0, 1.0)
    )
    _emit_schedule("failed", code, now, earliest, latest)


def _emit_schedule(
    result: str, code: str, now: datetime, earliest: datetime, latest: datetime
) -> None:
    trace.emit(
        trace.Scheduled,
        result=result,
        code=code,
        earliest_s=round((earliest - now).total_seconds()),
        latest_s=round((latest - now).total_seconds()),
    )
