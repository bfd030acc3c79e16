"""The proof task: whether the site's operator still shows the key, and how its bridge is.

Both are asked as seldom as each other, and neither counts in the site's quality.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from crawler import refusals
from crawler.context import Context
from crawler.control.control_evidence import ControlEvidence
from crawler.control.fetch_evidence import fetch_evidence
from crawler.frontier.schedule import REPROOF_STRIKES, Reproof, decide_reproof
from crawler.probes.bridge import Method
from crawler.probes.http_probe import check_bridge
from crawler.probes.outcome import ProbeResult
from crawler.probes.targets import bridge_of
from crawler.tasks.convert import published_keys
from crawler.tasks.postpone import postpone
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Task
from registry.db.sites import listed_sites as sites
from registry.db.sites import notices
from registry.db.sites.notices import Notice
from registry.identity.refusals import KEY_NOT_PUBLISHED
from registry.sites.entry import SiteEntry
from registry.sites.host import parse_host
from registry.usecases.registration.published_keys import save_published_keys
from registry.usecases.sites.notices import (
    Condition,
    ConditionChanges,
    compare,
    make_notice,
)

Bridge = Mapping[Method, ProbeResult]


async def prove_control(context: Context, task: Task, entry: SiteEntry) -> None:
    host = parse_host(entry.host, test_hosts=context.test_hosts)
    evidence = await fetch_evidence(context.fetcher, host)
    for unread in evidence.unread:
        if unread.problem.code in refusals.LATER:
            requested_s = unread.retry_after_s
            pause = timedelta(seconds=requested_s) if requested_s else None
            await postpone(context, task, unread.problem.code, pause)
            return
    bridge = await _check_bridge(context, entry)
    now = context.clock()
    comparison = _compare_bridge(bridge, task, context)
    async with context.engine.begin() as connection:
        current = await sites.lock_site(connection, entry.host)
        if current is None:
            return
        trusted = await save_published_keys(
            connection, entry.site_id, published_keys(evidence), now=now
        )
        proved = bool(trusted)
        reproof = decide_reproof(now, proved=proved, strikes=task.failures)
        held = await tasks.complete(
            connection,
            task,
            due_at=reproof.next_at,
            failures=reproof.strikes,
            outcome={
                "result": "proved" if proved else "not_proved",
                "at": now.isoformat(),
                **_outcome_of(bridge),
            },
            standing=comparison.standing,
        )
        if not held:
            await connection.rollback()
            return
        news = [*_proof_notices(task, reproof, evidence), *comparison.notices]
        await notices.save_notices(connection, entry.site_id, news, now)
        if proved:
            await sites.note_proof(connection, entry.site_id, now)
        status = "active" if reproof.trust == "verified" else "unverified"
        if current.status in {"active", "unverified"} and current.status != status:
            await sites.set_status(connection, entry.site_id, status, current.seq, now)


async def _check_bridge(context: Context, entry: SiteEntry) -> Bridge:
    """Check its answers against the specification, as often as control is proved."""
    base_url = bridge_of(entry)
    if not base_url:
        return {}
    return await check_bridge(context.fetcher, context.robots, base_url)


def _outcome_of(bridge: Bridge) -> dict[str, Any]:
    states = {
        method: {"result": check.outcome, "detail": check.detail}
        for method, check in bridge.items()
    }
    return {"bridge": states} if states else {}


def _compare_bridge(bridge: Bridge, task: Task, context: Context) -> ConditionChanges:
    """A method that gave no answer stands as it stood: the probes tell of outages."""
    departing = {
        method: Condition(
            topic="bridge",
            detail=f"{method}: {check.detail}",
            fix=refusals.BRIDGE_ANSWER.fix,
            problem=check.code,
            url=method,
        )
        for method, check in bridge.items()
        if check.outcome != "alive"
    }
    unseen = [
        condition.key
        for method, condition in departing.items()
        if bridge[method].outcome != "mismatch"
    ]
    deviating = [
        condition for condition in departing.values() if condition.key not in unseen
    ]
    unjudged = [key for key in unseen if key in task.standing]
    return compare(task.standing, deviating, context.clock(), unseen=unjudged)


def _proof_notices(
    task: Task, reproof: Reproof, evidence: ControlEvidence
) -> list[Notice]:
    if reproof.strikes == 0:
        again = (
            "The registry found a key of the site where only its operator can put it."
        )
        return [make_notice("proof_renewed", again)] if task.failures else []
    if reproof.strikes > REPROOF_STRIKES:
        return []
    why = "; ".join(
        f"{source.source_url}: {source.problem.detail}" for source in evidence.unread
    )
    detail = f"Strike {reproof.strikes} of {REPROOF_STRIKES}. {why}".strip()
    code = "proof_lost" if reproof.trust == "unverified" else "proof_failed"
    return [
        make_notice(
            code, detail, fix=KEY_NOT_PUBLISHED.fix, problem=KEY_NOT_PUBLISHED.code
        )
    ]
