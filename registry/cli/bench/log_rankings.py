"""Made-up rankings for `bench log`: of the size and make of real ones, without a search.

A ranking of 20 with all its disclosures and its sample. A stock of them is made before
the clock starts; one of them under a new id is sealed, packed and put on record as that
of a search is.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import cycle, islice
from operator import mul

import msgspec

from registry.audit.packed_scores import ScoreColumns
from registry.audit.ranked_answer import (
    AnswerOnRecord,
    RankedAnswer,
    Request,
    put_on_record,
)
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import make_seed, tie_key
from registry.sites.identifier import spell_site_id
from registry.usecases.chance import Chance

STOCK = 500
K, ELIGIBLE = 20, 4_000
_NO_PLACE = 4_000  # of most sites: what is not local, is as near as this to anybody
_QUESTIONS = (
    "book a table for two near the harbour tonight",
    "order sourdough bread and rye rolls for saturday",
    "get my bicycle repaired this week",
    "rent a van with a driver for moving house",
    "dentist appointment that takes new patients",
)
_SNAPSHOT = f"sha256:{sha256(b'snapshot').hexdigest()}"


@dataclass(frozen=True, slots=True)
class Stock:
    """Answers to be put on record again and again, each time under another id."""

    answers: tuple[RankedAnswer, ...]
    chance: Chance

    @classmethod
    def make(cls, chance: Chance, seed: int = 1) -> "Stock":
        dice = random.Random(seed)  # noqa: S311 — figures for a benchmark
        return cls(tuple(_make(dice, chance) for _ in range(STOCK)), chance)

    def shares(self, count: int) -> list[Iterator[AnswerOnRecord]]:
        """For so many callers: each of them takes others, and no end of them."""
        return [
            map(self._put, islice(cycle(self.answers), n, None, count))
            for n in range(count)
        ]

    def _put(self, template: RankedAnswer) -> AnswerOnRecord:
        chance = self.chance
        renewed = msgspec.structs.replace(
            template, record_id=chance.ulid(), at=chance.now()
        )
        return put_on_record(renewed, chance.random_bytes)


def _make(dice: random.Random, chance: Chance) -> RankedAnswer:
    now, request_id = chance.now(), chance.ulid()
    question = dice.choice(_QUESTIONS)
    seed = make_seed(b"s" * 32, request_id, "")
    others = {chance.site_id() for _ in range(DEFAULT_POLICY.eligible_sample)}
    return RankedAnswer(
        record_id=chance.ulid(),
        at=now,
        operator=None,
        policy=DEFAULT_POLICY.digest,
        snapshot=_SNAPSHOT,
        seed_index=1,
        eligible=ELIGIBLE,
        sample=sorted(others),
        scores=_scores(dice, seed, [chance.site_id() for _ in range(K)]),
        tie_seed=seed,
        query=question,
        cell=dice.choice((None, "u33d", "u281")),
        filters={"country": "DE"} if dice.random() < 0.1 else {},
        request=Request(request_id, "", now, (-(10**9), 0, 0, 0)),
        terms={word: dice.randint(2_000, 9_000) for word in question.split()},
    )


def _scores(dice: random.Random, seed: bytes, sites: list[int]) -> ScoreColumns:
    """Falling relevance; quality and freshness as young and as old sites have them."""
    relevance = sorted((dice.randint(2_500, 8_000) for _ in sites), reverse=True)
    draw: Callable[[int, int], int] = dice.randint
    rows = []
    for relevant in relevance:
        nearness = _NO_PLACE if dice.random() < 0.5 else draw(0, 10_000)
        quality = 6_000 if dice.random() < 0.3 else draw(7_000, 10_000)
        rows.append(
            (relevant, nearness, draw(1_500, 9_000), quality, draw(1_000, 10_000))
        )
    return ScoreColumns(
        sites=sites,
        factors=rows,
        totals=[sum(map(mul, DEFAULT_POLICY.weights, factors)) for factors in rows],
        ties=[tie_key(seed, spell_site_id(site)) for site in sites],
    )
