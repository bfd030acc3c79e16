"""Made-up rankings for `bench log`: of the size and make of real ones, without a search.

A ranking of 20 with all its disclosures and its sample. A stock of them is made before
the clock starts; what goes on record is one of them under a new id.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import cycle, islice

from registry.audit import record as records
from registry.audit.canonical import JsonValue
from registry.audit.disclosure import seal
from registry.audit.record import Record
from registry.db.rankings import RankingToLog
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.ties import make_seed, tie_key
from registry.sites.identifier import spell_site_id
from registry.usecases.accept import accepted
from registry.usecases.chance import Chance

STOCK = 500
K, ELIGIBLE, DIGESTS = 20, 4_000, 8
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
    """Rankings to be put on record again and again, each time under another id."""

    rankings: tuple[RankingToLog, ...]
    chance: Chance

    @classmethod
    def make(cls, chance: Chance, seed: int = 1) -> "Stock":
        dice = random.Random(seed)  # noqa: S311 — figures for a benchmark
        return cls(tuple(_make(dice, chance) for _ in range(STOCK)), chance)

    def shares(self, count: int) -> list[Iterator[RankingToLog]]:
        """For so many callers: each of them takes others, and no end of them."""
        return [
            map(self._renewed, islice(cycle(self.rankings), n, None, count))
            for n in range(count)
        ]

    def _renewed(self, template: RankingToLog) -> RankingToLog:
        old, new = template.record.record_id, self.chance.ulid()
        body = template.record.body.replace(old.encode(), new.encode())
        record = Record(id=new, kind="ranking", body=body)
        return replace(template, record=accepted(record, self.chance.now()))


def _make(dice: random.Random, chance: Chance) -> RankingToLog:
    now, request_id = chance.now(), chance.ulid()
    sites = [chance.site_id() for _ in range(K)]
    question = dice.choice(_QUESTIONS)
    seed = make_seed(b"s" * 32, request_id, "")
    disclosed: dict[str, JsonValue] = {
        "query": question,
        "location": dice.choice((None, "u33d", "u281")),
        "filters": {"country": "DE"} if dice.random() < 0.1 else {},
        "request": {
            "id": request_id,
            "nonce": "",
            "at": now.isoformat(),
            "after": ["-1000000000", "0", "0", "0"],
        },
        "scores": _scores(dice, seed, sites),
        "terms": {word: dice.randint(2_000, 9_000) for word in question.split()},
    }
    sealed = seal(disclosed, chance.random_bytes, DIGESTS)
    record = records.ranking_record(
        record_id=chance.ulid(),
        at=now,
        operator=records.ANONYMOUS,
        policy=DEFAULT_POLICY.digest,
        snapshot=_SNAPSHOT,
        seed_index=1,
        eligible_count=ELIGIBLE,
        order=[spell_site_id(site) for site in sites],
        sd_digests=sealed.digests,
    )
    others = {chance.site_id() for _ in range(DEFAULT_POLICY.eligible_sample)}
    return RankingToLog(
        record=accepted(record, now),
        openings=sealed.openings,
        eligible=sorted(others),
        tie_seed=seed,
    )


def _scores(dice: random.Random, seed: bytes, sites: list[int]) -> list[JsonValue]:
    """Falling relevance; quality and freshness as young and as old sites have them."""
    relevance = sorted((dice.randint(2_500, 8_000) for _ in sites), reverse=True)
    draw: Callable[[int, int], int] = dice.randint
    found: list[JsonValue] = []
    for site, relevant in zip(sites, relevance, strict=True):
        nearness = _NO_PLACE if dice.random() < 0.5 else draw(0, 10_000)
        quality = 6_000 if dice.random() < 0.3 else draw(7_000, 10_000)
        factors = [relevant, nearness, draw(1_500, 9_000), quality, draw(1_000, 10_000)]
        weighed = zip(DEFAULT_POLICY.weights, factors, strict=True)
        spelled = spell_site_id(site)
        found.append(
            {
                "site": spelled,
                "factors": factors,
                "score": sum(weight * factor for weight, factor in weighed),
                "tie": f"{tie_key(seed, spelled):016x}",
            }
        )
    return found
