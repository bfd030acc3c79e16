"""Search: from plain words to a ranked answer whose record is durable.

The order of things is the promise: the index ranks, the record is committed, and only
then is the answer handed out. Whatever fails before the commit leaves no answer.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

import msgspec

from registry.db.log.seeds import CommittedSeed
from registry.errors import Refused, Unavailable
from registry.index.columns.filters import Filters
from registry.index.query.facets import Facets, count_facets
from registry.index.query.index import Index
from registry.index.query.index_searcher import is_compiled
from registry.index.query.near import NearCategory, near_categories
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import Ranked, prepare_query, search
from registry.ranking.explain import FACTOR_NAMES, Explanation
from registry.ranking.rank_score import FIRST_PAGE, PageStart, RankScale
from registry.ranking.ties import make_seed
from registry.records.packed_scores import PLACELESS, Probes, ScoreColumns
from registry.records.promise import Promise
from registry.records.ranked_answer import AnswerRequest, RankedAnswer, put_on_record
from registry.records.record import Record
from registry.records.seed import digest_request, has_pages
from registry.sites.city_mentions import CityMention, CityMentions
from registry.sites.identifier import format_site_id
from registry.sites.summary import SiteSummary
from registry.usecases.ids import IdSource
from registry.usecases.log.promiser import Promiser
from registry.usecases.refusals import NOT_READY, PAGES_ENDED
from registry.usecases.search.brief import BriefResult, brief_result
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.search.ranking_threads import RankingThreads
from registry.usecases.search.record_rankings import RankingRecorder
from registry.usecases.search.result import Result
from registry.usecases.search.search_query import FIELD_OF_FACET, SearchQuery
from registry.usecases.search.todays_seed import SeedReader
from registry.usecases.sites.listed_entries import ListedEntries

SMALL_INDEX = {True: 500_000, False: 2_000}
"""Sites, with and without the compiled kernel; below it a thread costs more than it
leaves the event loop to others: both share a core, and Python's lock."""

FACETS_COST = 10
"""Rankings that take as long as counting facets once, about."""


class Continuation(msgspec.Struct, frozen=True, array_like=True):
    """A page of an answer: its request, instant and seed, and the key that it follows."""

    request_id: str
    nonce: str
    at: datetime
    after: PageStart
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedQuery:
    """A query and what it means here.

    cell: geohash of the user's surroundings, or None. filters: those of the query, as
    they go on record. operator: for whom the ranking is counted; None: anonymous.
    network: of the client; who else is in it may learn what it asked before.
    """

    query: SearchQuery
    cell: str | None = None
    filters: Filters = field(default_factory=Filters)
    operator: str | None = None
    network: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A ranked answer on record. eligible, is_exact: see `Ranked`.

    corrected: for each mistyped word the one that was looked for besides. mentions:
    cities in the words of a request that says nowhere where it is asked from. facets: by
    their names in requests. near: categories that have sites, where none is eligible.
    number: of the record among those of its operator; None: the request was anonymous.
    brief: the results in brief; results is empty then.
    """

    record: Record
    number: int | None
    policy: str
    generated_at: datetime
    eligible: int
    is_exact: bool
    corrected: Mapping[str, str]
    mentions: tuple[CityMention, ...]
    facets: Facets
    near: tuple[NearCategory, ...]
    results: tuple[Result, ...]
    brief: tuple[BriefResult, ...]
    promise: Promise
    continuation: Continuation | None


@dataclass(slots=True, kw_only=True, eq=False)
class Searcher:
    """Answers requests; `follower` and both recorders must be running.

    counting: the recorder of rankings that are counted for an operator.
    """

    follower: IndexFollower
    recorder: RankingRecorder
    counting: RankingRecorder
    entries: ListedEntries
    mentions: CityMentions
    seeds: SeedReader
    promiser: Promiser
    ids: IdSource
    _threads: RankingThreads = field(init=False, default_factory=RankingThreads)

    async def is_ready(self) -> bool:
        """The index is loaded, and policy and seed of the day stand in the log.

        Raises: Unavailable if the log stands still.
        """
        self.promiser.verify_log_moves()
        return (
            self.follower.is_loaded
            and await self.seeds.find(self.ids.clock().date()) is not None
        )

    async def search(
        self, resolved: ResolvedQuery, continuation: Continuation | None = None
    ) -> Answer:
        """Rank, put on record and answer.

        Raises: Unavailable (starting, or a stalled log); Refused (ties' secret is due).
        """
        with self._threads.serving(resolved.operator):
            return await self._search(resolved, continuation)

    async def _search(
        self, resolved: ResolvedQuery, continuation: Continuation | None
    ) -> Answer:
        self.promiser.verify_log_moves()
        query, cell, now = resolved.query, resolved.cell, self.ids.clock()
        page = continuation or self._first_page(query.nonce, now)
        seed = await self._seed_of(page.at, now)
        request = digest_request(query.q, cell, resolved.filters.given(), page.at)
        tie_seed = make_seed(seed.secret, request, page.nonce)
        ranked, facets, near = await self._rank(resolved, page, tie_seed)
        summaries = await self.entries.find([site.site_id for site in ranked.sites])
        brief = await self._brief(query, ranked, summaries)
        record, number = await self._record(
            *(resolved, page, ranked), at=now, seed=seed, tie_seed=tie_seed
        )
        return Answer(
            record=record,
            number=number,
            policy=self.follower.policy.digest,
            generated_at=now,
            eligible=ranked.eligible,
            is_exact=ranked.is_exact,
            corrected=ranked.corrected,
            mentions=() if cell else self.mentions.find(query.q, query.country or ""),
            facets=facets,
            near=near,
            results=() if brief else _results(ranked, summaries, page.rank),
            brief=brief,
            promise=self.promiser.promise(record.leaf_hash, now),
            continuation=_next_page(page, ranked),
        )

    async def count(self, resolved: ResolvedQuery) -> tuple[int, Facets]:
        """Count the eligible sites and their values. No site is disclosed, so nothing is recorded.

        Raises: Unavailable if the registry is starting.
        """
        page = self._first_page("", self.ids.clock())
        seed = await self._seed_of(page.at, page.at)
        ranked, facets, _ = await self._rank(resolved, page, seed.secret)
        return ranked.eligible, facets

    async def _brief(
        self, query: SearchQuery, ranked: Ranked, summaries: Mapping[int, SiteSummary]
    ) -> tuple[BriefResult, ...]:
        if query.detail != "brief":
            return ()
        invocations = await self.entries.find_invocations(list(summaries))
        return tuple(
            brief_result(
                site, summaries[site.site_id], invocations.get(site.site_id, ())
            )
            for site in ranked.sites
            if site.site_id in summaries
        )

    def _first_page(self, nonce: str, now: datetime) -> Continuation:
        return Continuation(
            request_id=self.ids.ulid(), nonce=nonce, at=now, after=FIRST_PAGE, rank=0
        )

    async def _seed_of(self, at: datetime, now: datetime) -> CommittedSeed:
        """Return the seed of the day. at: of the first page."""
        if not has_pages(at, now):
            raise Refused(PAGES_ENDED, pointer="cursor")
        seed = await self.seeds.find(at.date())
        if seed is None or not self.follower.is_loaded:
            raise Unavailable(NOT_READY, retry_after_s=1)
        return seed

    async def _rank(
        self, resolved: ResolvedQuery, page: Continuation, tie_seed: bytes
    ) -> tuple[Ranked, Facets, tuple[NearCategory, ...]]:
        """Rank off the event loop where the size of the index is felt."""
        index, encoder = self.follower.index, self.follower.encoder
        policy, query = self.follower.policy, resolved.query

        def rank() -> tuple[Ranked, Facets, tuple[NearCategory, ...]]:
            prepared = prepare_query(
                *(query.q, encoder, policy),
                cell=resolved.cell,
                filters=resolved.filters,
                caller=resolved.operator or resolved.network,
            )
            ranked = search(
                index,
                prepared,
                now=page.at,
                seed=tie_seed,
                k=query.limit,
                after=page.after.order_key(RankScale.of(policy)),
            )
            weights, now = ranked.term_weights, page.at
            near: tuple[NearCategory, ...] = ()
            if not ranked.eligible:
                near = near_categories(index, prepared, weights, now=now)
            return ranked, _facets(query, index, prepared, weights, now), near

        cost = len(index) * (FACETS_COST if query.facets else 1)
        is_short = cost < SMALL_INDEX[is_compiled()]
        return await self._threads.run(rank, resolved.operator, is_short=is_short)

    async def _record(
        self,
        resolved: ResolvedQuery,
        page: Continuation,
        ranked: Ranked,
        *,
        at: datetime,
        seed: CommittedSeed,
        tie_seed: bytes,
    ) -> tuple[Record, int | None]:
        """Return the durable record, and the number an operator's count gave it."""
        ranking = put_on_record(
            RankedAnswer(
                record_id=self.ids.ulid(),
                at=at,
                operator=resolved.operator,
                policy=self.follower.policy.digest,
                snapshot=ranked.generation,
                seed_index=seed.leaf_index,
                # An estimate may be below what it is an estimate of.
                eligible=max(ranked.eligible, len(ranked.sites)),
                sample=ranked.eligible_sample,
                scores=_scores(ranked),
                tie_seed=tie_seed,
                query=resolved.query.q,
                cell=resolved.cell,
                filters=resolved.filters.given(),
                request=AnswerRequest(page.request_id, page.nonce, page.at, page.after),
                terms=ranked.term_weights,
            ),
            self.ids.random_bytes,
        )
        recorder = self.counting if resolved.operator else self.recorder
        number = await recorder.record(ranking)
        record = ranking.record if number is None else ranking.counted(number)
        return record, number


def _results(
    ranked: Ranked, summaries: Mapping[int, SiteSummary], offset: int
) -> tuple[Result, ...]:
    return tuple(
        Result(
            rank=rank,
            score=site.score,
            site=summaries[site.site_id],
            factors=site.explanation,
            ahead=site.ahead,
            behind=tuple(map(format_site_id, site.sharing)),
        )
        for rank, site in enumerate(ranked.sites, start=offset + 1)
        if site.site_id in summaries
    )


_IN_ORDER = attrgetter(*FACTOR_NAMES)


def _scores(ranked: Ranked) -> ScoreColumns:
    sites = ranked.sites
    return ScoreColumns(
        sites=[site.site_id for site in sites],
        factors=[_IN_ORDER(site.factors) for site in sites],
        totals=[site.score for site in sites],
        ties=[site.order_key.tie_key for site in sites],
        tiers=[site.commission_tier for site in sites],
        probes=[_probes_of(site.explanation) for site in sites],
        places=[_place_of(site.explanation) for site in sites],
    )


def _probes_of(explanation: Explanation) -> Probes:
    facts = explanation.quality.facts
    return facts.probes, facts.answers, facts.successes, facts.median_ms


def _place_of(explanation: Explanation) -> int:
    facts = explanation.proximity.facts
    return facts.geonames_id if facts.local else PLACELESS


def _facets(
    query: SearchQuery,
    index: Index,
    prepared: Query,
    term_weights: Mapping[str, int],
    now: datetime,
) -> Facets:
    if not query.facets:
        return {}
    fields = {FIELD_OF_FACET[name] for name in query.facets}
    counts = count_facets(index, prepared, term_weights, now=now, fields=fields)
    return {
        name: counts[field] for name, field in FIELD_OF_FACET.items() if field in counts
    }


def _next_page(page: Continuation, ranked: Ranked) -> Continuation | None:
    if not ranked.has_more:
        return None
    return msgspec.structs.replace(
        page, after=ranked.sites[-1].page_start, rank=page.rank + len(ranked.sites)
    )
