"""Ranked answers to be put on record, without a search."""

import random
from datetime import UTC, datetime
from operator import mul

import msgspec

from registry.ranking.rank_score import FIRST_PAGE
from registry.ranking.ties import make_seed, tie_key
from registry.records.packed_scores import WEIGHTS, ScoreColumns
from registry.records.ranked_answer import AnswerRequest, RankedAnswer
from registry.sites.identifier import format_site_id, make_ulid

AT = datetime(2026, 11, 22, 18, 4, 59, 123_456, tzinfo=UTC)
SEED = make_seed(b"s" * 32, bytes(32), "")
POLICY, SNAPSHOT = f"sha256:{'7' * 64}", f"sha256:{'0f' * 32}"


def make_scores(count: int, *, seed: bytes = SEED, dice_seed: int = 1) -> ScoreColumns:
    dice = random.Random(dice_seed)
    sites = [dice.getrandbits(63) for _ in range(count)]
    factors = [
        (dice.randint(0, 10_000), 4_000, dice.randint(0, 9_000), 6_000, place)
        for place in range(count)
    ]
    return ScoreColumns(
        sites=sites,
        factors=factors,
        totals=[sum(map(mul, WEIGHTS, row)) for row in factors],
        ties=[tie_key(seed, format_site_id(site)) for site in sites],
        tiers=[site % 2 for site in sites],
        places=[site % 9_000_000 - 1 for site in sites],
        probes=[(720, 719, 700 + site % 9, site % 900 or None) for site in sites],
    )


def make_answer(**changes: object) -> RankedAnswer:
    answer = RankedAnswer(
        record_id=make_ulid(1_763_661_659_999, b"0123456789"),
        at=AT,
        operator=None,
        policy=POLICY,
        snapshot=SNAPSHOT,
        seed_index=3,
        eligible=1234,
        sample=range(20),
        scores=make_scores(20),
        tie_seed=SEED,
        query="book a table for two",
        cell="u33d",
        filters={},
        request=AnswerRequest(make_ulid(1, b"9876543210"), "", AT, FIRST_PAGE),
        terms={"table": 5_000, "book": 4_999},
    )
    return msgspec.structs.replace(answer, **changes)
