"""The regular tasks at a listed site: crawl its documents, probe it, prove control."""

from collections.abc import Awaitable, Callable, Mapping

from crawler.context import Context
from crawler.tasks.crawl import crawl
from crawler.tasks.probe import probe_quality
from crawler.tasks.prove_control import prove_control
from registry.db.frontier.tasks import Task, TaskKind
from registry.db.sites import listed_sites as sites
from registry.sites.entry import SiteEntry


async def carry_out_task(context: Context, task: Task) -> None:
    """Carry out a leased task; its outcome is written only if the lease still holds."""
    if task.kind == "crawl":
        await crawl(context, task)
        return
    async with context.reader.connect() as connection:
        entry = await sites.find_site(connection, task.host)
    if entry is not None and entry.status != "withdrawn":
        await _JOBS[task.kind](context, task, entry)


_JOBS: Mapping[TaskKind, Callable[[Context, Task, SiteEntry], Awaitable[None]]] = {
    "probe": probe_quality,
    "prove": prove_control,
}
