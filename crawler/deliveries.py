"""Deliveries of webhooks: leased, signed, retried ever more slowly, at last given up.

A receiver is a stranger's server. It is asked through the fetcher's guard and deadline
like any other, gets a slot of its own few, and is sent nothing before it has answered a
challenge. What it answers decides only whether it is asked again.
"""

import asyncio
import hashlib
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec
import structlog

from crawler.context import Context
from crawler.http.body import BodyLimits
from crawler.http.bot_auth import BotAuth
from registry.db import webhooks
from registry.db.engine.engines import Connection, reading
from registry.db.webhooks import DeadLetter, Lane, Webhook
from registry.errors import Gone, Refused
from registry.sites.identifier import format_site_id
from registry.usecases.background import follow
from registry.usecases.sites.change_feed import (
    FeedCursor,
    FeedPage,
    SiteChange,
    begin_feed,
    read_feed,
)

SLOTS: dict[Lane, int] = {
    ("active", False): 64,
    ("active", True): 24,
    ("pending", False): 16,
    ("pending", True): 8,
}
"""Slots of their own for slow receivers and for challenges: they delay nobody else."""
LEASE = timedelta(seconds=60)
PAUSE_S, IDLE, QUICK = 0.25, timedelta(seconds=5), timedelta(seconds=1)
PATIENCE_S = 2.0  # for a receiver in a quick slot; a slower one moves to a slow slot
RECOVERY = 10  # quick answers until a slow receiver has a quick slot again
RESTS = 60  # times what it took is who answers slowly left alone: slots are for all
MOST_CHANGES = 100
FIRST_PAUSE, LONGEST_PAUSE, SLOWER = timedelta(seconds=30), timedelta(hours=6), 4
MOST_FAILURES, MOST_UNANSWERED = 8, 5
JSON = "application/json"
LIMITS = BodyLimits(wire_bytes=16_384, decoded_bytes=16_384, truncate=True)

logger = structlog.get_logger()


class FailedDelivery(NamedTuple):
    """is_final: the receiver wants no more (410)."""

    code: str
    detail: str
    is_final: bool = False


SLOW = FailedDelivery("slow", "")


class Deliverer:
    """Deliverer of one process. auth: signs what is sent."""

    def __init__(self, context: Context, auth: BotAuth) -> None:
        self._context = context
        self._auth = auth
        self._jobs: dict[asyncio.Task[None], Lane] = {}

    async def run(self) -> None:
        """Deliver until cancelled; leases of what is under way run out."""
        try:
            await follow(self.deliver_due, pause_s=PAUSE_S, lost="webhooks_lost")
        finally:
            for job in self._jobs:
                job.cancel()

    async def deliver_due(self) -> bool:
        """Start what is due, as far as there are slots. Returns: whether something was."""
        started = 0
        async with reading(self._context.engine).connect() as connection:
            for lane, slots in SLOTS.items():
                if free := slots - list(self._jobs.values()).count(lane):
                    started += await self._start(connection, lane, free)
        return started > 0

    async def _start(self, connection: Connection, lane: Lane, most: int) -> int:
        leased = await webhooks.lease_webhooks(
            connection, lane, self._context.clock(), LEASE, most
        )
        for row in leased:
            job = asyncio.create_task(self._serve(row))
            self._jobs[job] = lane
            job.add_done_callback(self._jobs.pop)
        return len(leased)

    async def join(self) -> None:
        """Wait for what is under way."""
        await asyncio.gather(*self._jobs)

    async def _serve(self, row: Webhook) -> None:
        try:
            if row.state == "pending":
                await self._challenge(row)
            else:
                await self._deliver(row)
        except Exception:  # the one place where a job's bug ends
            logger.exception("delivery_failed", webhook=row.webhook_id)

    async def _challenge(self, row: Webhook) -> None:
        """Ask the receiver to send back the challenge, which no other has."""
        members = {"webhook": row.webhook_id, "challenge": row.challenge}
        body = msgspec.json.encode({"type": "challenge", **members})
        answer = await self._post(row, body)
        if not isinstance(answer, FailedDelivery):
            if _echoes(answer, row.challenge):
                await self._settle(
                    row, state="active", failures=0, problem=None, network=None
                )
                return
            answer = FailedDelivery(
                "challenge_unanswered", "it did not say it back as JSON"
            )
        is_over = answer.is_final or row.failures + 1 >= MOST_UNANSWERED
        await self._put_off(row, answer, is_over=is_over)

    async def _deliver(self, row: Webhook) -> None:
        page = await self._next_page(row)
        if page is None or not page.changes:
            await self._settle(row, page, due_at=self._context.clock() + IDLE)
            return
        delivery_id = _delivery_id(row, page)
        body = msgspec.json.encode(
            {
                "type": "changes",
                "id": delivery_id,
                "webhook": row.webhook_id,
                "changes": list(map(_view, page.changes)),
                "hasMore": page.has_more,
            }
        )
        began = self._context.clock()
        answer = await self._post(row, body)
        if not isinstance(answer, FailedDelivery):
            now = self._context.clock()
            took, idle = now - began, timedelta() if page.has_more else IDLE
            owed = RECOVERY if took > QUICK else max(0, row.slowness - 1)
            await self._settle(
                row,
                page,
                due_at=now + (RESTS * max(took, QUICK) if owed else idle),
                delivered_at=now,
                failures=0,
                problem=None,
                slowness=owed,
            )
            return
        is_over = answer.is_final or row.failures + 1 >= MOST_FAILURES
        letter = self._letter(row, delivery_id, body, answer) if is_over else None
        await self._put_off(row, answer, is_over=is_over, letter=letter)

    async def _next_page(self, row: Webhook) -> FeedPage | None:
        """Return None where the database has another history: it then begins now."""
        cursor = msgspec.json.decode(row.cursor, type=FeedCursor)
        async with self._context.engine.connect() as connection:
            try:
                return await read_feed(connection, cursor, MOST_CHANGES)
            except Gone:
                fresh = await begin_feed(connection, from_now=True)
                return FeedPage(changes=(), cursor=fresh, has_more=False)

    async def _post(self, row: Webhook, body: bytes) -> bytes | FailedDelivery:
        """Return what a receiver answered with success."""
        fetcher = self._context.fetcher
        try:
            headers = self._auth.sign_post(fetcher.target_of(row.url), body, JSON)
            async with asyncio.timeout(None if row.slowness else PATIENCE_S):
                answer = await fetcher.post(
                    row.url, body, content_type=JSON, limits=LIMITS, headers=headers
                )
        except Refused as refused:
            return FailedDelivery(refused.code, refused.problem.detail[:300])
        except TimeoutError:
            return SLOW
        if 200 <= answer.status < 300:
            return answer.body
        detail = f"it answered {answer.status}"
        return FailedDelivery("status", detail, is_final=answer.status == 410)

    async def _settle(
        self, row: Webhook, page: FeedPage | None = None, **changed: Any
    ) -> None:
        if page is not None:
            changed["cursor"] = msgspec.json.encode(page.cursor)
        async with self._context.engine.begin() as connection:
            await webhooks.settle(connection, row, **changed)

    async def _put_off(
        self,
        row: Webhook,
        failure: FailedDelivery,
        *,
        is_over: bool,
        letter: DeadLetter | None = None,
    ) -> None:
        """Try later, or never: then the letter, if there is one, is for the owner."""
        if failure is SLOW:
            await self._settle(row, slowness=RECOVERY, due_at=self._context.clock())
            return
        changed = {
            "state": "suspended" if is_over else row.state,
            "network": None if is_over else row.network,
            "failures": row.failures + 1,
            "problem": {"code": failure.code, "detail": failure.detail},
            "due_at": self._context.clock() + self._pause(row.failures),
        }
        async with self._context.engine.begin() as connection:
            held = await webhooks.settle(connection, row, **changed)
            if held and letter is not None:
                await webhooks.bury(connection, row.webhook_id, letter)

    def _pause(self, failures: int) -> timedelta:
        """Return a pause that grows, and that no two share."""
        slower: int = SLOWER ** min(failures, 10)
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * slower)
        return pause * (0.75 + self._context.draw() / 2)

    def _letter(
        self, row: Webhook, delivery_id: str, body: bytes, failure: FailedDelivery
    ) -> DeadLetter:
        return DeadLetter(
            delivery_id=delivery_id,
            body=body.decode(),
            problem={"code": failure.code, "detail": failure.detail},
            attempts=row.failures + 1,
            died_at=self._context.clock(),
        )


def _echoes(answer: bytes, challenge: str) -> bool:
    try:
        members = msgspec.json.decode(answer, type=dict[str, Any])
    except msgspec.MsgspecError:
        return False
    return members.get("challenge") == challenge


def _delivery_id(row: Webhook, page: FeedPage) -> str:
    """Return the same id for the same changes, so that a receiver can tell a repetition."""
    members = [row.webhook_id, [change.cursor.after for change in page.changes]]
    return hashlib.sha256(msgspec.json.encode(members)).hexdigest()[:32]


def _view(change: SiteChange) -> dict[str, object]:
    entry = change.entry
    return {
        "id": format_site_id(entry.site_id),
        "host": entry.host,
        "status": entry.shown_status,
        "listed": entry.is_listed,
        "updatedAt": entry.updated_at,
    }
