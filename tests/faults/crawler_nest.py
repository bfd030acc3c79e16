"""A nest of crawlers; what runs is `crawler.__main__.main`, as of `python -m crawler`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

import crawler.__main__ as process
from registry.db.engine.engines import Connection
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Completion, Lease
from registry.db.schema.tables import task as task_table
from registry.ranking.encoders.encoder import load_encoder
from registry.sites.gazetteer import Gazetteer
from tests.faults.nest import fork_on_order

complete_all = tasks.complete_all


async def complete_unfenced(
    connection: Connection, several: Sequence[Completion]
) -> frozenset[Lease]:
    """As if the fence were not asked for: under whichever there is."""
    written = set()
    for item in several:
        fence = await connection.execute(
            select(task_table.c.fence).where(
                task_table.c.site_id == item.task.site_id,
                task_table.c.kind == item.task.kind,
            )
        )
        current = replace(item.task, fence=fence.scalar_one())
        await complete_all(connection, [replace(item, task=current)])
        written.add(item.task.lease)
    return frozenset(written)


def main() -> None:
    gazetteer, encoder = Gazetteer.load(), load_encoder()
    Gazetteer.load = lambda: gazetteer  # type: ignore[method-assign]
    process.load_encoder = lambda _: encoder
    fork_on_order(crawl)


def crawl(order: dict[str, Any]) -> None:
    if order["unfenced"]:
        tasks.complete_all = complete_unfenced
    process.main()


if __name__ == "__main__":
    main()
