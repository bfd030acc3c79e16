"""A task that could not be done: when it is tried again, and what is written meanwhile."""

from datetime import timedelta

from crawler import refusals
from crawler.context import Context
from crawler.schedule import next_retry_at
from registry.db import notices, tasks
from registry.db.tasks import Task
from registry.usecases.notices import Comparison


async def postpone(
    context: Context,
    task: Task,
    code: str,
    pause: timedelta | None,
    told: Comparison | None = None,
) -> None:
    """code: of the problem. pause: asked for by the server, or by our own restraint.

    Our own restraint is no failure. No hint of the owner comes before the pause is over.
    """
    now = context.chance.now()
    failures = task.failures + (code not in refusals.LATER)
    async with context.engine.begin() as connection:
        held = await tasks.complete(
            connection,
            task,
            due_at=next_retry_at(
                now, failures=failures, draw=context.draw, retry_after=pause
            ),
            failures=failures,
            outcome={"result": "failed", "code": code, "at": now.isoformat()},
            not_before=now + pause if pause else None,
            standing=told.standing if told else None,
        )
        if held and told is not None:
            await notices.save_notices(connection, task.site_id, told.notices, now)
