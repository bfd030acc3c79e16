"""The judgement of `bench wab`: the same on a machine of any speed."""

import asyncio
import math

import pytest

from registry.bench.bridge.wab import FIRST_UNDER_WAY, WAIT_S, Gate, Ping, held_against
from registry.interfaces.http.bucket_table import Quota

QUOTA = Quota(600, 40)


async def let_pass(gate: Gate, wanted: int) -> int:
    """Let so many come at once; return how many are under way before one ends."""
    done, under_way = asyncio.Event(), 0

    async def go() -> None:
        nonlocal under_way
        async with gate.passed():
            under_way += 1
            await done.wait()

    tasks = [asyncio.create_task(go()) for _ in range(wanted)]
    for _ in range(3 * wanted):
        await asyncio.sleep(0)
    counted = under_way
    done.set()
    await asyncio.gather(*tasks)
    assert under_way == wanted
    return counted


async def test_as_many_are_under_way_as_ended_of_late() -> None:
    now = 0.0
    gate = Gate(lambda: now)
    assert await let_pass(gate, 100) == FIRST_UNDER_WAY
    assert await let_pass(gate, 300) == 100
    now += WAIT_S / 2
    assert await let_pass(gate, 1_000) == 400
    now += WAIT_S / 2 + 0.1
    assert await let_pass(gate, 2_000) == 1_000
    now += 2 * WAIT_S
    assert await let_pass(gate, 20) == FIRST_UNDER_WAY


def flood(
    seconds: float, exchange_s: float, *, rate: float = 1.0, held_s: float = 0.25
) -> list[Ping]:
    """Ping without pause; what is let through is rate times what the quota says."""
    pings, taken, at = [], 0, 0.0
    while at < seconds:
        for _ in range(round(100 + 100 * exchange_s)):
            decided_at = at + exchange_s / 2
            quota = rate * QUOTA.burst + rate * QUOTA.per_s * (decided_at - 0.5)
            is_taken = taken < math.floor(quota)
            taken += is_taken
            held = 0 if is_taken else held_s
            code = "success" if is_taken else "RATE_LIMITED"
            pings.append(Ping(at, at + exchange_s + held, code))
        at += exchange_s
    return pings


@pytest.mark.parametrize("exchange_s", [0.02, 0.5, 3.0])
@pytest.mark.parametrize(("rate", "is_met"), [(1.0, True), (1.2, False), (0.8, False)])
def test_a_limit_is_missed_by_who_misses_it_and_not_by_who_is_slow(
    rate: float, exchange_s: float, *, is_met: bool
) -> None:
    figures = held_against(QUOTA, flood(60.0, exchange_s, rate=rate))
    assert (abs(figures["limit_missed_percent"]) <= 1) == is_met
    if exchange_s < 0.1:
        assert figures["limit_known_to_percent"] < 0.2


def test_what_is_never_refused_is_no_flood() -> None:
    with pytest.raises(ValueError, match="none was refused"):
        held_against(QUOTA, [Ping(0.0, 0.1, "success")])
