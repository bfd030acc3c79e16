"""A process that has read all that a crawler reads at its start, and forks crawlers.

To import everything and to read the tables takes seconds, which a test that starts fifty
crawlers does not have. What runs is `crawler.__main__.main`, as of `python -m crawler`.

Each line of standard input is one order, a JSON object; the answer is the pid.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import select

import crawler.__main__ as process
from registry.db import tasks
from registry.db.engine import Connection
from registry.db.tables import task as task_table
from registry.db.tasks import Task
from registry.ranking.encoder import Encoder, load_encoder
from registry.sites.gazetteer import Gazetteer

complete = tasks.complete


async def complete_unfenced(connection: Connection, one: Task, **written: Any) -> bool:
    """As if the fence were not asked for: under whichever there is."""
    fence = await connection.execute(
        select(task_table.c.fence).where(
            task_table.c.site_id == one.site_id, task_table.c.kind == one.kind
        )
    )
    return await complete(connection, replace(one, fence=fence.scalar_one()), **written)


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
    process.load_encoder = lambda: encoder
    if order["unfenced"]:
        tasks.complete = complete_unfenced
    try:
        process.main()
    finally:
        os._exit(0)


if __name__ == "__main__":
    main()
