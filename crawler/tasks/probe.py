"""The probe task: how the site answers, at the same rate for all, whatever else happens."""

from datetime import datetime

from crawler.context import Context
from crawler.frontier.schedule import first_probe_at, next_probe_at
from crawler.http.head import Validators
from crawler.probes.http_probe import probe
from crawler.probes.targets import ProbeTarget, bridge_of, document_at, page_of, ping_of
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.sites import documents, notices
from registry.db.sites import listed_sites as sites
from registry.formats.document import StoredDocument
from registry.ranking.quality import StoredProbe
from registry.sites.entry import SiteEntry
from registry.usecases.sites.notices import clean_text, compare_probe
from registry.usecases.sites.parse_site import is_at


async def probe_quality(context: Context, task: Task, entry: SiteEntry) -> None:
    async with context.reader.connect() as connection:
        stored = await documents.current_documents(connection, entry.site_id)
    target = probe_target(entry, stored)
    probing = probe(context.fetcher, context.robots, target)
    result = await context.canaries.vouched(probing)
    now = context.clock()
    if result.outcome == "never_checked":
        comparison = None
    else:
        comparison = compare_probe(
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
                "detail": clean_text(result.detail),
                "wanted": target.promise,
                "at": now.isoformat(),
            },
            standing=comparison.standing if comparison else None,
        )
        if not held:
            await connection.rollback()
            return
        if comparison is None:
            return
        await notices.save_notices(connection, entry.site_id, comparison.notices, now)
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
    """Return a WAB bridge's ping; else the first document, conditionally; else the page.

    Only the site's own host is probed: another's answers say nothing of this one.
    """
    base_url = bridge_of(entry)
    if base_url:
        return ping_of(base_url)
    first = next((row for row in stored if is_at(entry.host, row.url)), None)
    if first is None:
        return page_of(entry.host)
    return document_at(
        first.url,
        promised=first.format,
        content_type=first.content_type,
        body=first.body,
        stored=Validators(etag=first.etag, last_modified=first.last_modified),
    )
