"""The probe task: how the site answers, at the same rate for all, whatever else happens."""

from datetime import datetime

from crawler.context import Context
from crawler.http.exchange import Wanted
from crawler.http.head import HTML_TYPES, Validators
from crawler.probes.asking import probe
from crawler.probes.targets import ProbeTarget, bridge_of, document_at, ping_of
from crawler.schedule import first_probe_at, next_probe_at
from registry.db import documents, notices, sites, tasks
from registry.db.documents import StoredDocument
from registry.db.probes import StoredProbe
from registry.db.tasks import Task
from registry.sites.entry import SiteEntry
from registry.usecases.notices import compare_probe


async def probe_quality(context: Context, task: Task, entry: SiteEntry) -> None:
    async with context.reader.connect() as connection:
        stored = await documents.current_documents(connection, entry.site_id)
    target = probe_target(entry, stored)
    probing = probe(context.fetcher, context.robots, target)
    result = await context.canaries.vouched(probing)
    now = context.chance.now()
    if result.outcome == "never_checked":
        told = None
    else:
        told = compare_probe(
            task.standing, result.outcome, url=target.url, detail=result.detail
        )
    async with context.engine.begin() as connection:
        # Its host is held before its task, as everywhere: nobody waits in a circle.
        await sites.lock_site(connection, task.host)
        held = await tasks.complete(
            connection,
            task,
            due_at=_next_probe_at(context, task, now),
            failures=0,
            outcome={
                "result": result.outcome,
                "code": result.code,
                "url": target.url,
                "at": now.isoformat(),
            },
            standing=told.standing if told else None,
        )
        if not held:
            await connection.rollback()
            return
        if told is None:
            return
        await notices.save_notices(connection, entry.site_id, told.notices, now)
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
        return ProbeTarget(
            url=f"https://{entry.host}/", wanted=Wanted(accept=HTML_TYPES)
        )
    first = stored[0]
    return document_at(
        first.url,
        promised=first.format,
        content_type=first.content_type,
        body=first.body,
        stored=Validators(etag=first.etag, last_modified=first.last_modified),
    )
