"""The crawl task: a site's documents are read again, and what they say now is listed."""

from datetime import datetime, timedelta
from functools import partial
from typing import Any

from crawler.context import Context
from crawler.discovery.search import discover
from crawler.discovery.visit_result import Discovery
from crawler.frontier.crawl_store import FinishedVisit, StoredSite
from crawler.frontier.schedule import (
    Draw,
    decide_missing,
    decide_unconditional,
    next_retry_at,
)
from crawler.http.head import Validators
from crawler.tasks.convert import fetched_bodies
from crawler.tasks.crawl_findings import compare_crawl, troubles_of
from crawler.tasks.postpone import postpone
from registry.db.frontier import tasks
from registry.db.frontier.tasks import Completion, Task
from registry.db.sites import documents, notices
from registry.db.sites import listed_sites as sites
from registry.errors import RegistryError
from registry.formats.document import StoredDocument
from registry.identity.keys.jwk import parse_jwk
from registry.sites.change_history import ChangeHistory
from registry.sites.entry import SiteEntry, Unlisted
from registry.sites.host import parse_host
from registry.sites.place import counts_from
from registry.usecases.sites.declared import declarations_from, documents_from
from registry.usecases.sites.notices import MISSING, ConditionChanges
from registry.usecases.sites.parse_site import (
    FetchedBody,
    NoDocument,
    ParsedSite,
    Registrant,
    is_at,
    parse_site,
)


async def crawl(context: Context, task: Task) -> None:
    with context.crawl_store.visits, context.batch_parser.visits:
        stored = await context.crawl_store.read(task.host)
        if stored is None:
            return
        discovery = await discover(
            context.fetcher,
            context.robots,
            parse_host(task.host, test_hosts=context.test_hosts),
            clock=context.clock,
            declared=[claim.url for claim in documents_from(stored.declared)],
            known=_validators(stored.documents, context.draw),
            batch_parser=context.batch_parser,
        )
        await _Crawl(context, task, stored, discovery).finish()


class _Crawl:
    """Outcome of one visit, and what is written of it."""

    def __init__(
        self, context: Context, task: Task, stored: StoredSite, discovery: Discovery
    ) -> None:
        self._context = context
        self._task = task
        self._site = stored
        self._discovery = discovery
        self._now = context.clock()

    async def finish(self) -> None:
        discovery = self._discovery
        if discovery.is_outage and not _is_gone(discovery, self._site.documents):
            comparison = self._compare(is_outage=True)
            await self._postpone(discovery.failures[0].problem.code, comparison)
        elif (
            _is_confirmed(self._site.documents, discovery, self._site.entry.host)
            and not self._is_move_due()
        ):
            await self._confirm()
        else:
            await self._read()

    def _is_move_due(self) -> bool:
        """Return whether a moved place counts from this visit on, as it is confirmed."""
        move = self._site.entry.place_move
        days = self._context.lister.policy.place_cooling_days
        return move is not None and self._now >= counts_from(move, days)

    async def _read(self) -> None:
        try:
            understood = await self._context.batch_parser.whole_visit(self._understand)
        except NoDocument as nothing:
            await self._miss(nothing)
        except RegistryError as refused:
            await self._postpone(refused.code, self._compare())
        else:
            await self._store(understood)

    def _understand(self) -> ParsedSite:
        standing = _still_standing(self._site.documents, self._discovery, self._now)
        return parse_site(
            [*fetched_bodies(self._discovery), *standing],
            Registrant(
                site_url=f"https://{self._site.entry.host}/",
                declarations=declarations_from(self._site.declared),
                pinned=[
                    parse_jwk(key.jwk)
                    for key in self._site.keys
                    if key.known.state == "trusted"
                ],
                allow_loopback=self._context.test_hosts,
            ),
            problems=self._discovery.problems,
            tried=self._discovery.tried,
            absent=self._discovery.absent,
            now=self._now,
        )

    async def _confirm(self) -> None:
        comparison = self._compare()
        done = Completion(
            task=self._task,
            failures=0,
            outcome=self._outcome("unchanged"),
            standing=comparison.standing,
            **self._learnt(unchanged=True),
        )
        await self._context.crawl_store.end(
            done, comparison.notices, self._now, self._discovery.unchanged
        )

    async def _store(self, understood: ParsedSite) -> None:
        comparison = self._compare(understood)
        await self._context.crawl_store.write(
            FinishedVisit(
                host=self._task.host,
                understood=understood,
                declared=self._site.declared,
                notices=comparison.notices,
                now=self._now,
                complete=partial(self._complete, understood, comparison),
            )
        )

    def _complete(
        self, understood: ParsedSite, comparison: ConditionChanges, current: SiteEntry
    ) -> Completion:
        problems = [
            {"code": problem.code, "detail": problem.detail}
            for problem in understood.problems
        ]
        unchanged = understood.meaning == current.semantic_hash
        return Completion(
            task=self._task,
            failures=0,
            outcome=self._outcome("fetched", problems=problems),
            standing=comparison.standing,
            **self._learnt(unchanged=unchanged),
        )

    async def _miss(self, nothing: NoDocument) -> None:
        """The site answered, and nothing there counts as a document."""
        comparison = self._compare(nothing)
        async with self._context.engine.begin() as connection:
            current = await sites.lock_site(connection, self._task.host)
            if current is None or current.status == "withdrawn":
                return
            failures = self._task.failures + 1
            held = await tasks.complete(
                connection,
                self._task,
                due_at=next_retry_at(
                    self._now, failures=failures, draw=self._context.draw
                ),
                failures=failures,
                outcome=self._outcome("failed", code=nothing.code),
                standing=comparison.standing,
            )
            if not held:
                return
            await notices.save_notices(
                connection, current.site_id, comparison.notices, self._now
            )
            await documents.note_signatures(
                connection, current.site_id, nothing.signatures
            )
            reason = _why_unlisted(nothing, comparison, self._now)
            if reason and current.unlisted_for is None:
                await self._context.lister.unlist_site(
                    connection, current, reason, self._now
                )

    async def _postpone(self, code: str, comparison: ConditionChanges) -> None:
        pause = self._discovery.requested_pause(self._now)
        await postpone(self._context, self._task, code, pause, comparison)

    def _compare(
        self, reading: ParsedSite | NoDocument | None = None, *, is_outage: bool = False
    ) -> ConditionChanges:
        troubles = troubles_of(
            self._discovery,
            reading,
            stored=[document.url for document in self._site.documents],
            is_outage=is_outage,
        )
        return compare_crawl(self._task.standing, troubles, self._now)

    def _outcome(self, result: str, **more: Any) -> dict[str, Any]:
        return {"result": result, "at": self._now.isoformat(), **more}

    def _learnt(self, *, unchanged: bool) -> dict[str, Any]:
        """The next due time, and the site's history with this visit.

        A visit for the sake of a hint leaves both as they are: it did not come by
        chance, so it says nothing of how often the site changes. What it found counts
        at the next regular visit. Without a visit before it there is no gap.
        """
        task, now = self._task, self._now
        fetched_at = max(
            (document.fetched_at for document in self._site.documents), default=now
        )
        before = task.learnt_at or fetched_at
        if task.is_early(now):
            return {"due_at": task.due_at, "learnt_at": before}
        history: ChangeHistory[float] = task.history
        if before < now:
            # Of the documents, and not `changed_at`, which moves once in the policy's days.
            newest = max(
                (d.first_fetched_at for d in self._site.documents), default=before
            )
            stayed = unchanged and newest <= before
            gap_days = (now - before) / timedelta(days=1)
            history = history.after(gap_days, float(stayed))
        due_at = self._context.revisits.next_at(now, history, self._context.draw)
        return {"due_at": due_at, "history": history, "learnt_at": now}


def _is_gone(discovery: Discovery, stored: list[StoredDocument]) -> bool:
    """Return whether there surely is nothing, neither declared nor stored."""
    looked = [failure for failure in discovery.failures if failure.is_expected]
    expected = [document.url for document in stored]
    # Without any, a place that was merely looked at may hide the document.
    expected += [f.url for f in (looked if stored else discovery.failures)]
    return not discovery.documents and set(expected) <= set(discovery.absent)


def _is_confirmed(
    stored: list[StoredDocument], discovery: Discovery, host: str
) -> bool:
    """Return whether everything stands as it did.

    A document on another host has to speak for this one. A signature is judged at each visit: where no byte changes, its time runs out and its
    key may be revoked.
    """
    if discovery.documents or discovery.absent or not discovery.unchanged:
        return False
    return all(
        document.signature["status"] == "unsigned" and is_at(host, document.url)
        for document in stored
    )


def _why_unlisted(
    nothing: NoDocument, comparison: ConditionChanges, now: datetime
) -> Unlisted | None:
    """A date that the owner set needs no patience; what is missing may come back."""
    if nothing.has_expired:
        return "documents_expired"
    missing = comparison.standing.get(MISSING)
    if missing is None:
        return None
    since = datetime.fromisoformat(missing["since"])
    is_over = decide_missing(now, since=since, visits=missing["seen"])
    return "documents_missing" if is_over else None


def _still_standing(
    stored: list[StoredDocument], discovery: Discovery, now: datetime
) -> list[FetchedBody]:
    """Stored documents that this visit neither fetched nor found gone."""
    replaced = {document.final_url for document in discovery.documents} | set(
        discovery.absent
    )
    return [
        FetchedBody(
            url=document.url,
            body=document.body,
            content_type=document.content_type,
            etag=document.etag,
            last_modified=document.last_modified,
            fetched_at=now
            if document.url in discovery.unchanged
            else document.fetched_at,
        )
        for document in stored
        if document.url not in replaced
    ]


def _validators(stored: list[StoredDocument], draw: Draw) -> dict[str, Validators]:
    """Return what each is asked for by; now and then nothing, so that none answers 304."""
    unconditional = bool(stored) and decide_unconditional(draw)
    return {
        document.url: Validators()
        if unconditional
        else Validators(etag=document.etag, last_modified=document.last_modified)
        for document in stored
    }
