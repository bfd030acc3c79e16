"""A task that could not be done: when it is tried again, and what is written meanwhile."""

from datetime import timedelta

from crawler import refusals
from crawler.context import Context
from crawler.frontier.schedule import next_retry_at
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.sites import notices
from registry.usecases.sites.notices import ConditionChanges


async def postpone(
    context: Context,
    task: Task,
    code: str,
    pause: timedelta | None,
    comparison: ConditionChanges | None = None,
) -> None:
    """code: of the problem. pause: asked for by the server, or by our own restraint.

    Our own restraint is no failure. No hint of the owner comes before the pause is over.
    """
    now = context.clock()
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
            standing=comparison.standing if comparison else None,
        )
        if held and comparison is not None:
            await notices.save_notices(
                connection, task.site_id, comparison.notices, now
            )
