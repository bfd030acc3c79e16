"""The declared rate of a minute: never more in any, and not 1% less for who floods."""

import random

import pytest

from registry.interfaces.http.bucket_table import BucketTable, Quota
from registry.interfaces.http.limits import LIMITS, Kind

MINUTE_S = 60.0


def let_through(quota: Quota, arrivals: list[float]) -> list[float]:
    buckets = BucketTable(None, b"k" * 32)
    return [at for at in arrivals if buckets.take([("agent", quota)], at)[0]]


def fullest_minute(times: list[float]) -> int:
    fullest, first = 0, 0
    for last, at in enumerate(times):
        while times[first] <= at - MINUTE_S:
            first += 1
        fullest = max(fullest, last - first + 1)
    return fullest


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("seed", range(3))
def test_no_minute_holds_more_than_is_declared(kind: Kind, seed: int) -> None:
    quota, rng = LIMITS[kind].anonymous, random.Random(seed)
    most = quota.burst + MINUTE_S * quota.per_s
    pace, at, arrivals = 3 * most / MINUTE_S, 1_000.0, []
    while at < 1_000 + 4 * MINUTE_S:
        at += rng.expovariate(pace) if rng.random() < 0.999 else rng.uniform(0, 30)
        arrivals.append(at)
    times = let_through(quota, arrivals)
    assert fullest_minute(times) <= most + 1


def test_a_flood_gets_what_is_declared_within_one_percent() -> None:
    quota = LIMITS[Kind.MESSAGE].anonymous
    declared = quota.burst + MINUTE_S * quota.per_s
    arrivals = [1_000 + number / 1_000 for number in range(int(MINUTE_S * 1_000))]
    taken = len(let_through(quota, arrivals))
    assert abs(taken - declared) <= declared / 100
