"""A task that could not be done: when it is tried again, and what is written meanwhile."""

from datetime import timedelta

from crawler import refusals
from crawler.context import Context
from crawler.frontier.schedule import next_retry_at
from registry.db.frontier.tasks import Completion, Task
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
    done = Completion(
        task=task,
        due_at=next_retry_at(
            now, failures=failures, draw=context.draw, retry_after=pause
        ),
        failures=failures,
        outcome={"result": "failed", "code": code, "at": now.isoformat()},
        not_before=now + pause if pause else None,
        standing=comparison.standing if comparison else None,
    )
    notices = comparison.notices if comparison else ()
    await context.crawl_store.end(done, notices, now)
