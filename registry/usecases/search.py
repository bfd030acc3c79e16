"""Search: from plain words to a ranked answer whose record is durable.

The order of things is the promise: the index ranks, the record is committed, and only
then is the answer handed out. Whatever fails before the commit leaves no answer.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter

import msgspec

from registry.audit import record as records
from registry.audit.canonical import JsonValue
from registry.audit.packed_scores import ScoreColumns
from registry.audit.promise import Promise
from registry.audit.ranked_answer import RankedAnswer, Request, put_on_record
from registry.db.seeds import CommittedSeed
from registry.errors import Unavailable
from registry.index.query.constants import Filters
from registry.index.query.engine import is_compiled
from registry.index.query.facets import Facets, count_facets
from registry.index.query.search import Ranked, prepare_query, search
from registry.ranking.explain import FACTOR_NAMES, Advantage, Facts
from registry.ranking.policy import Policy
from registry.ranking.score import Factors
from registry.ranking.ties import OrderKey, make_seed
from registry.sites.identifier import spell_site_id
from registry.usecases.chance import Chance
from registry.usecases.follow_index import IndexFollower
from registry.usecases.listed_entries import ListedEntries
from registry.usecases.promiser import Promiser
from registry.usecases.record_rankings import RankingRecorder
from registry.usecases.refusals import NOT_READY
from registry.usecases.todays_seed import SeedReader

SMALL_INDEX = {True: 2_000_000, False: 2_000}
"""Sites, with and without the compiled kernel; below it a thread costs more than it
leaves the event loop to others."""

FACETS_COST = 10
"""To count facets takes as long as to rank about so many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request. cell: geohash of the user's surroundings, or None.

    nonce: the asker's own, so that the registry can't choose the tie-break alone.
    facets: fields of `rows.FIELDS` whose values are to be counted.
    """

    text: str
    cell: str | None
    filters: Filters
    limit: int
    nonce: str = ""
    facets: tuple[str, ...] = ()


class Continuation(msgspec.Struct, frozen=True, array_like=True):
    """Where an answer goes on: the same request, instant and seed, after a key."""

    request_id: str
    nonce: str
    at: datetime
    after: tuple[int, int, int, int]
    rank: int

    @property
    def order_key(self) -> OrderKey:
        return OrderKey(*self.after)


class RankedEntry(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """score: 0..10^8. entry: of the site, as it is shown. facts: behind the factors.

    behind: near-duplicates of the same publisher, best first. ahead: of the next place.
    """

    rank: int
    score: int
    entry: bytes
    factors: Factors
    facts: Facts
    behind: tuple[str, ...]
    ahead: Advantage | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A ranked answer on record. eligible, is_exact: see `Ranked`.

    corrected: for each mistyped word the one that was looked for besides. number: of
    the record among those of its operator; None: nobody told who asks.
    """

    record: records.Record
    number: int | None
    policy: Policy
    generated_at: datetime
    eligible: int
    is_exact: bool
    corrected: Mapping[str, str]
    facets: Facets
    results: tuple[RankedEntry, ...]
    promise: Promise
    following: Continuation | None


class Searcher:
    """Answers requests; `follower` and both recorders must be running.

    counting: the recorder of rankings that are counted for an operator.
    """

    def __init__(
        self,
        *,
        follower: IndexFollower,
        recorder: RankingRecorder,
        counting: RankingRecorder,
        entries: ListedEntries,
        seeds: SeedReader,
        promiser: Promiser,
        chance: Chance,
    ) -> None:
        self.follower = follower
        self.promiser = promiser
        self._recorder = recorder
        self._counting = counting
        self._entries = entries
        self._seeds = seeds
        self._chance = chance

    async def is_ready(self) -> bool:
        """The index is loaded, and policy and seed of the day stand in the log.

        Raises: Unavailable if the log stands still.
        """
        self.promiser.verify_log_moves()
        return (
            self.follower.is_loaded
            and await self._seeds.find(self._chance.now().date()) is not None
        )

    async def search(
        self,
        asked: Asked,
        continuation: Continuation | None = None,
        operator: str | None = None,
    ) -> Answer:
        """operator: for whom the ranking is counted; None: nobody told.

        Raises: Unavailable if the registry is starting or the log is stalled.
        """
        self.promiser.verify_log_moves()
        now = self._chance.now()
        going_on = continuation or Continuation(
            request_id=self._chance.ulid(),
            nonce=asked.nonce,
            at=now,
            after=(-(10**9), 0, 0, 0),
            rank=0,
        )
        seed = await self._seed_of(going_on.at)
        tie_seed = make_seed(seed.secret, going_on.request_id, going_on.nonce)
        ranked, facets = await self._rank(asked, going_on, tie_seed)
        entries = await self._entries.find([one.site_id for one in ranked.sites])
        record, number = await self._record(
            *(asked, going_on, ranked, now),
            seed_index=seed.leaf_index,
            tie_seed=tie_seed,
            operator=operator,
        )
        return Answer(
            record=record,
            number=number,
            policy=self.follower.policy,
            generated_at=now,
            eligible=ranked.eligible,
            is_exact=ranked.is_exact,
            corrected=ranked.corrected,
            facets=facets,
            results=_results(ranked, entries, going_on.rank),
            promise=self.promiser.promise(record.leaf_hash, now),
            following=_following(going_on, ranked),
        )

    async def _seed_of(self, at: datetime) -> CommittedSeed:
        seed = await self._seeds.find(at.date())
        if seed is None or not self.follower.is_loaded:
            raise Unavailable(NOT_READY, retry_after_s=1)
        return seed

    async def _rank(
        self, asked: Asked, going_on: Continuation, tie_seed: bytes
    ) -> tuple[Ranked, Facets]:
        """Off the event loop where the index or the encoder is felt."""
        index, encoder = self.follower.index, self.follower.encoder
        policy = self.follower.policy

        def rank() -> tuple[Ranked, Facets]:
            query = prepare_query(
                asked.text, encoder, policy, cell=asked.cell, filters=asked.filters
            )
            ranked = search(
                index,
                query,
                now=going_on.at,
                seed=tie_seed,
                k=asked.limit,
                after=going_on.order_key,
            )
            if not asked.facets:
                return ranked, {}
            weights, at = ranked.term_weights, going_on.at
            return ranked, count_facets(
                index, query, weights, now=at, fields=asked.facets
            )

        cost = FACETS_COST if asked.facets else 1
        if encoder.is_quick and cost * len(index) < SMALL_INDEX[is_compiled()]:
            return rank()
        return await asyncio.to_thread(rank)

    async def _record(
        self,
        asked: Asked,
        going_on: Continuation,
        ranked: Ranked,
        now: datetime,
        *,
        seed_index: int,
        tie_seed: bytes,
        operator: str | None,
    ) -> tuple[records.Record, int | None]:
        """The record, once it is durable, and the number an operator's count gave it."""
        ranking = put_on_record(
            RankedAnswer(
                record_id=self._chance.ulid(),
                at=now,
                operator=operator,
                policy=self.follower.policy.digest,
                snapshot=ranked.generation,
                seed_index=seed_index,
                eligible=ranked.eligible,
                sample=ranked.eligible_sample,
                scores=_scores(ranked),
                tie_seed=tie_seed,
                query=asked.text,
                cell=asked.cell,
                filters=_filters(asked.filters),
                request=Request(
                    going_on.request_id, going_on.nonce, going_on.at, going_on.after
                ),
                terms=ranked.term_weights,
            ),
            self._chance.random_bytes,
        )
        recorder = self._counting if operator else self._recorder
        number = await recorder.record(ranking)
        record = ranking.record
        return record if number is None else records.counted(record, number), number


def _results(
    ranked: Ranked, entries: Mapping[int, bytes], offset: int
) -> tuple[RankedEntry, ...]:
    return tuple(
        RankedEntry(
            rank=offset + position,
            score=one.score,
            entry=entries[one.site_id],
            factors=one.factors,
            facts=one.facts,
            behind=tuple(map(spell_site_id, one.behind)),
            ahead=one.ahead,
        )
        for position, one in enumerate(ranked.sites, start=1)
        if one.site_id in entries
    )


_IN_ORDER = attrgetter(*FACTOR_NAMES)


def _filters(given: Filters) -> dict[str, JsonValue]:
    """Those that are set."""
    told = msgspec.to_builtins(given)
    return {name: value for name, value in told.items() if value is not None}


def _scores(ranked: Ranked) -> ScoreColumns:
    sites = ranked.sites
    return ScoreColumns(
        sites=[one.site_id for one in sites],
        factors=[_IN_ORDER(one.factors) for one in sites],
        totals=[one.score for one in sites],
        ties=[one.order_key.tie_key for one in sites],
    )


def _following(going_on: Continuation, ranked: Ranked) -> Continuation | None:
    if not ranked.has_more:
        return None
    key = ranked.sites[-1].order_key
    return msgspec.structs.replace(
        going_on,
        after=(key.negative_score, key.commission_tier, key.tie_key, key.site_id),
        rank=going_on.rank + len(ranked.sites),
    )
