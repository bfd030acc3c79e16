"""The regular tasks at a listed site: crawl its documents, probe it, prove control."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog

from crawler import refusals
from crawler.context import Context
from crawler.discover import Discovery, discover
from crawler.evidence import fetched_bodies, problems_of, published_keys
from crawler.fetch import HTML_TYPES, Validators, media_type_of
from crawler.probe import (
    ProbeTarget,
    check_bridge,
    document_at,
    ping_of,
    probe,
)
from crawler.prove import fetch_evidence
from crawler.schedule import (
    decide_reproof,
    decide_unconditional,
    first_probe_at,
    next_probe_at,
    next_retry_at,
    parse_retry_after,
)
from registry.db import documents, sites, tasks
from registry.db.documents import StoredDocument
from registry.db.probes import StoredProbe
from registry.db.tasks import Task, TaskKind
from registry.errors import Problem, RegistryError
from registry.formats.semantic import semantic_hash
from registry.formats.wab.transports import EXECUTE
from registry.identity.jwk import parse_jwk
from registry.sites.change_history import ChangeHistory
from registry.sites.entry import SiteEntry
from registry.sites.host import parse_host
from registry.usecases.declared import declarations_from, documents_from
from registry.usecases.published_keys import save_published_keys
from registry.usecases.understand import FetchedBody, Understood, understand

logger = structlog.get_logger()


async def carry_out_task(context: Context, task: Task) -> None:
    """One leased task; its outcome is written only if the lease still holds."""
    async with context.engine.connect() as connection:
        entry = await sites.find_site(connection, task.host)
    if entry is not None and entry.status != "withdrawn":
        await _JOBS[task.kind](context, task, entry)


async def _crawl(context: Context, task: Task, entry: SiteEntry) -> None:
    async with context.engine.connect() as connection:
        stored = await documents.current_documents(connection, entry.site_id)
        declared = await sites.declarations_of(connection, entry.site_id)
        keys = await sites.keys_of(connection, entry.site_id)
    now = context.chance.now()
    discovery = await discover(
        context.fetcher,
        context.robots,
        parse_host(entry.host, test_hosts=context.test_hosts),
        clock=context.chance.now,
        declared=[claim.url for claim in documents_from(declared)],
        known={} if decide_unconditional(context.draw) else _validators(stored),
    )
    if discovery.is_outage:
        code = discovery.failures[0].problem.code
        await _retry(context, task, code, _asked_pause(discovery, now))
        return
    if _is_confirmed(stored, discovery):
        await _confirm(context, task, stored, discovery, now)
        return
    try:
        understood = understand(
            [*fetched_bodies(discovery), *_still_standing(stored, discovery, now)],
            claims=(),
            declarations=declarations_from(declared),
            pinned=[
                parse_jwk(one.jwk) for one in keys if one.known.standing == "trusted"
            ],
            site_url=f"https://{entry.host}/",
            problems=problems_of(discovery),
            now=now,
        )
    except RegistryError as refused:
        await _retry(context, task, refused.code, _asked_pause(discovery, now))
        return
    await _store(context, task, understood, declared, stored=stored, now=now)


async def _confirm(
    context: Context,
    task: Task,
    stored: list[StoredDocument],
    discovery: Discovery,
    now: datetime,
) -> None:
    history = _learnt(task, stored, now, unchanged=True)
    async with context.engine.begin() as connection:
        held = await tasks.complete(
            connection,
            task,
            due_at=context.revisits.next_at(now, history, context.draw),
            failures=0,
            outcome={"result": "unchanged"},
            history=history,
        )
        if held:
            await documents.confirm_documents(
                connection, task.site_id, discovery.unchanged, now
            )


async def _store(
    context: Context,
    task: Task,
    understood: Understood,
    declared: Mapping[str, Any],
    *,
    stored: list[StoredDocument],
    now: datetime,
) -> None:
    async with context.engine.begin() as connection:
        # Its host is held before its task, as everywhere: nobody waits in a circle.
        current = await sites.lock_site(connection, task.host)
        if current is None or current.status == "withdrawn":
            return
        unchanged = semantic_hash(understood.site) == current.semantic_hash
        history = _learnt(task, stored, now, unchanged=unchanged)
        held = await tasks.complete(
            connection,
            task,
            due_at=context.revisits.next_at(now, history, context.draw),
            failures=0,
            outcome={"result": "fetched", "problems": _told(understood.problems)},
            history=history,
        )
        if held:
            await context.lister.list_site(
                connection, current, understood, dict(declared), now
            )


async def _probe(context: Context, task: Task, entry: SiteEntry) -> None:
    async with context.engine.connect() as connection:
        stored = await documents.current_documents(connection, entry.site_id)
    target = probe_target(entry, stored)
    probing = probe(context.fetcher, context.robots, target)
    result = await context.canaries.vouched(probing)
    now = context.chance.now()
    due_at = _next_probe_at(context, task, now)
    outcome = {"result": result.outcome, "code": result.code, "url": target.url}
    async with context.engine.begin() as connection:
        # Its host is held before its task, as everywhere: nobody waits in a circle.
        await sites.lock_site(connection, task.host)
        held = await tasks.complete(
            connection, task, due_at=due_at, failures=0, outcome=outcome
        )
        if not held:
            await connection.rollback()
            return
        if result.outcome == "never_checked":
            return
        seen = StoredProbe(
            observed_at=now, outcome=result.outcome, elapsed_ms=result.elapsed_ms
        )
        await context.lister.note_probe(connection, entry.site_id, seen)


def _next_probe_at(context: Context, task: Task, now: datetime) -> datetime:
    """Registered together, sites are not probed together ever after."""
    if task.is_first or task.due_at is None:
        return first_probe_at(now, interval=context.probe_interval, draw=context.draw)
    return next_probe_at(task.due_at, now, interval=context.probe_interval)


def probe_target(entry: SiteEntry, stored: list[StoredDocument]) -> ProbeTarget:
    """A WAB bridge's ping; else the first document, conditionally; else the page."""
    base_url = bridge_of(entry)
    if base_url:
        return ping_of(base_url)
    if not stored:
        return ProbeTarget(url=f"https://{entry.host}/", accept=HTML_TYPES)
    first = stored[0]
    return document_at(
        first.url,
        promised=first.format,
        content_type=first.content_type,
        body=first.body,
        stored=Validators(etag=first.etag, last_modified=first.last_modified),
    )


def bridge_of(entry: SiteEntry) -> str:
    """The base URL of its WAB bridge, "" where it has none of its own."""
    for action in entry.site.actions:
        for call in action.calls:
            if call.format == "wab" and call.transport == "http":
                base_url, found, _ = call.target.rpartition(EXECUTE)
                if found and not call.off_origin:
                    return base_url
    return ""


async def _prove(context: Context, task: Task, entry: SiteEntry) -> None:
    host = parse_host(entry.host, test_hosts=context.test_hosts)
    evidence = await fetch_evidence(context.fetcher, host)
    for unread in evidence.unread:
        if unread.problem.code in refusals.LATER:
            await _retry(context, task, unread.problem.code, None)
            return
    published = published_keys(evidence)
    bridge = await _check_bridge(context, entry)
    now = context.chance.now()
    async with context.engine.begin() as connection:
        current = await sites.lock_site(connection, entry.host)
        if current is None:
            return
        speaking = await save_published_keys(
            connection, entry.site_id, published, now=now
        )
        proved = bool(speaking)
        reproof = decide_reproof(now, proved=proved, strikes=task.failures)
        held = await tasks.complete(
            connection,
            task,
            due_at=reproof.next_at,
            failures=reproof.strikes,
            outcome={"result": "proved" if proved else "not_proved", **bridge},
        )
        if not held:
            await connection.rollback()
            return
        if proved:
            await sites.note_proof(connection, entry.site_id, now)
        status = "active" if reproof.trust == "verified" else "unverified"
        if current.status in {"active", "unverified"} and current.status != status:
            await sites.set_status(connection, entry.site_id, status, current.seq, now)


async def _check_bridge(context: Context, entry: SiteEntry) -> dict[str, Any]:
    """As often as a proof: which of its answers are those of the specification."""
    base_url = bridge_of(entry)
    if not base_url:
        return {}
    found = await check_bridge(context.fetcher, context.robots, base_url)
    told = {
        method: {"result": one.outcome, "detail": one.detail}
        for method, one in found.items()
    }
    return {"bridge": told}


async def _retry(
    context: Context, task: Task, code: str, pause: timedelta | None
) -> None:
    failures = task.failures + (code not in refusals.LATER)
    due_at = next_retry_at(
        context.chance.now(), failures=failures, draw=context.draw, retry_after=pause
    )
    await _complete(context, task, due_at, {"result": "failed", "code": code}, failures)


async def _complete(
    context: Context,
    task: Task,
    due_at: datetime,
    outcome: dict[str, Any],
    failures: int = 0,
) -> None:
    async with context.engine.begin() as connection:
        await tasks.complete(
            connection, task, due_at=due_at, failures=failures, outcome=outcome
        )


def _is_confirmed(stored: list[StoredDocument], discovery: Discovery) -> bool:
    """Whether everything stands as it did.

    A signature is judged at each visit: where no byte changes, its time runs out and its
    key may be revoked.
    """
    if discovery.documents or discovery.absent or not discovery.unchanged:
        return False
    return all(one.signature["status"] == "unsigned" for one in stored)


def _told(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [{"code": one.code, "detail": one.detail} for one in problems]


def _still_standing(
    stored: list[StoredDocument], discovery: Discovery, now: datetime
) -> list[FetchedBody]:
    """Stored documents that this visit neither brought anew nor found gone."""
    replaced = {one.final_url for one in discovery.documents} | set(discovery.absent)
    return [
        FetchedBody(
            asked_url=one.url,
            url=one.url,
            is_page=media_type_of(one.content_type) in HTML_TYPES,
            body=one.body,
            content_type=one.content_type,
            etag=one.etag,
            last_modified=one.last_modified,
            fetched_at=now if one.url in discovery.unchanged else one.fetched_at,
        )
        for one in stored
        if one.url not in replaced
    ]


def _validators(stored: list[StoredDocument]) -> dict[str, Validators]:
    return {
        one.url: Validators(etag=one.etag, last_modified=one.last_modified)
        for one in stored
    }


def _learnt(
    task: Task, stored: list[StoredDocument], now: datetime, *, unchanged: bool
) -> ChangeHistory[float]:
    """The site's history with this visit; without one before it there is no gap."""
    before = max((one.fetched_at for one in stored), default=now)
    if before >= now:
        return task.history
    return task.history.after((now - before) / timedelta(days=1), float(unchanged))


def _asked_pause(discovery: Discovery, now: datetime) -> timedelta | None:
    asked = [parse_retry_after(one.retry_after, now) for one in discovery.failures]
    return max((one for one in asked if one is not None), default=None)


_JOBS: Mapping[TaskKind, Callable[[Context, Task, SiteEntry], Awaitable[None]]] = {
    "crawl": _crawl,
    "probe": _probe,
    "prove": _prove,
}
