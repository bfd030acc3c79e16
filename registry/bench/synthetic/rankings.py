"""Rankings of 20 synthetic sites, put on record by the code that records a search's."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import cycle, islice
from operator import mul

import msgspec

from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.rank_score import FIRST_PAGE
from registry.ranking.ties import make_seed, tie_key
from registry.records.packed_scores import ScoreColumns
from registry.records.ranked_answer import (
    AnswerOnRecord,
    AnswerRequest,
    RankedAnswer,
    put_on_record,
)
from registry.sites.identifier import format_site_id
from registry.usecases.ids import IdSource

STOCK = 500
K, ELIGIBLE = 20, 4_000
TIED = 0.1  # share of results with the scores of the one before
CATEGORIES = ("restaurant", "bakery", "hotel", "repair", "clinic", "shop", "museum")
_FAR = 4_000  # proximity of most sites: those that are not local
_QUERIES = (
    "book a table for two near the harbour tonight",
    "order sourdough bread and rye rolls for saturday",
    "get my bicycle repaired this week",
    "rent a van with a driver for moving house",
    "dentist appointment that takes new patients",
)
_SNAPSHOT = f"sha256:{sha256(b'snapshot').hexdigest()}"

Factors = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stock:
    """Answers to be recorded again and again, each time under another id."""

    answers: tuple[RankedAnswer, ...]
    ids: IdSource

    @classmethod
    def make(cls, ids: IdSource, seed: int = 1) -> "Stock":
        dice = random.Random(seed)  # noqa: S311 — figures for a benchmark
        return cls(tuple(_make_answer(dice, ids) for _ in range(STOCK)), ids)

    def shares(self, count: int) -> list[Iterator[AnswerOnRecord]]:
        """Return an endless iterator for each of so many callers."""
        return [
            map(self.record, islice(cycle(self.answers), first, None, count))
            for first in range(count)
        ]

    def record(self, answer: RankedAnswer) -> AnswerOnRecord:
        ids = self.ids
        renewed = msgspec.structs.replace(answer, record_id=ids.ulid(), at=ids.clock())
        return put_on_record(renewed, ids.random_bytes)


def _make_answer(dice: random.Random, ids: IdSource) -> RankedAnswer:
    now, request_id = ids.clock(), ids.ulid()
    query = dice.choice(_QUERIES)
    seed = make_seed(b"s" * 32, sha256(query.encode()).digest(), "")
    sample = {ids.site_id() for _ in range(DEFAULT_POLICY.eligible_sample)}
    return RankedAnswer(
        record_id=ids.ulid(),
        at=now,
        operator=None,
        policy=DEFAULT_POLICY.digest,
        snapshot=_SNAPSHOT,
        seed_index=1,
        eligible=ELIGIBLE,
        sample=sorted(sample),
        scores=score_columns(
            seed, [ids.site_id() for _ in range(K)], _draw_factors(dice)
        ),
        tie_seed=seed,
        query=query,
        cell=dice.choice((None, "u33d", "u281")),
        filters={"category": dice.choice(CATEGORIES)} if dice.random() < 0.2 else {},
        request=AnswerRequest(request_id, "", now, FIRST_PAGE),
        terms={word: dice.randint(2_000, 9_000) for word in query.split()},
    )


def score_columns(
    seed: bytes, sites: Sequence[int], factors: Sequence[Factors]
) -> ScoreColumns:
    """Return the scores of sites in this order; `factors` of each, best first."""
    return ScoreColumns(
        sites=sites,
        factors=factors,
        totals=[_total(row) for row in factors],
        ties=[tie_key(seed, format_site_id(site)) for site in sites],
        tiers=[int(site % 7 > 0) for site in sites],
        places=[250_441 + site % 999 for site in sites],
        probes=[
            (720, 720 - site % 3, 720 - site % 3 - site % 2, 40 + site % 900)
            for site in sites
        ],
    )


def _draw_factors(dice: random.Random) -> list[Factors]:
    """Draw factors as young and old, near and far sites have them, best first."""
    rows: list[Factors] = []
    for _ in range(K):
        nearness = _FAR if dice.random() < 0.5 else dice.randint(0, 10_000)
        quality = 6_000 if dice.random() < 0.3 else dice.randint(7_000, 10_000)
        rows.append(
            (
                dice.randint(2_500, 8_000),
                nearness,
                dice.randint(1_500, 9_000),
                quality,
                dice.randint(1_000, 10_000),
            )
        )
        if len(rows) > 1 and dice.random() < TIED:
            rows[-1] = rows[-2]
    return sorted(rows, key=_total, reverse=True)


def _total(factors: Factors) -> int:
    return sum(map(mul, DEFAULT_POLICY.weights, factors))
