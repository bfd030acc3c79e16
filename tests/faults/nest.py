"""A process that has read all that a crawler reads at its start, and forks crawlers.

To import everything and to read the tables takes seconds, which a test that starts fifty
crawlers does not have. What runs is `crawler.__main__.main`, as of `python -m crawler`.

Each line of standard input is one order, a JSON object; the answer is the pid.
"""

import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import select

import crawler.__main__ as process
from registry.db import tasks
from registry.db.engine import Connection
from registry.db.tables import task as task_table
from registry.db.tasks import Completion, Lease
from registry.ranking.encoder import Encoder, load_encoder
from registry.sites.gazetteer import Gazetteer

complete_all = tasks.complete_all


async def complete_unfenced(
    connection: Connection, several: Sequence[Completion]
) -> frozenset[Lease]:
    """As if the fence were not asked for: under whichever there is."""
    written = set()
    for one in several:
        fence = await connection.execute(
            select(task_table.c.fence).where(
                task_table.c.site_id == one.task.site_id,
                task_table.c.kind == one.task.kind,
            )
        )
        current = replace(one.task, fence=fence.scalar_one())
        await complete_all(connection, [replace(one, task=current)])
        written.add(one.task.lease)
    return frozenset(written)


def main() -> None:
    gazetteer, encoder = Gazetteer.load(), load_encoder()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    pids = []
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            hatch(json.loads(line), gazetteer, encoder)
        pids.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def hatch(order: dict[str, Any], gazetteer: Gazetteer, encoder: Encoder) -> None:
    """Never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.environ.update(order["environment"])
    Gazetteer.load = lambda: gazetteer  # type: ignore[method-assign]
    process.load_encoder = lambda _: encoder
    if order["unfenced"]:
        tasks.complete_all = complete_unfenced
    try:
        process.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
