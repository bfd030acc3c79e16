"""What several jobs bring is done in one go, and one job's fault stays its own."""

import asyncio
from collections.abc import Sequence

import pytest

from crawler.group import Group, JobsUnderWay

MOST = 4
FOREVER_S = 3600.0


class Doubling:
    """Keeps what was done together. bad: what nothing can be done with."""

    def __init__(self, bad: int | None = None) -> None:
        self.batches: list[list[int]] = []
        self._bad = bad

    async def __call__(self, numbers: Sequence[int]) -> list[int]:
        self.batches.append(list(numbers))
        await asyncio.sleep(0)
        if self._bad in numbers:
            raise ValueError(f"{self._bad} among {len(numbers)}")
        return [2 * number for number in numbers]


async def test_those_of_one_moment_go_together_in_their_order() -> None:
    double = Doubling()
    group = Group(double, most=MOST, jobs=JobsUnderWay())
    assert await asyncio.gather(*map(group.do, range(3))) == [0, 2, 4]
    assert double.batches == [[0, 1, 2]]


async def test_no_more_than_allowed_go_together() -> None:
    double = Doubling()
    group = Group(double, most=MOST, jobs=JobsUnderWay())
    await asyncio.gather(*map(group.do, range(MOST + 1)))
    assert double.batches == [[0, 1, 2, 3], [4]]


async def test_the_first_waits_for_those_expected_and_no_longer() -> None:
    double = Doubling()
    jobs = JobsUnderWay()
    group = Group(double, most=MOST, linger_s=FOREVER_S, jobs=jobs)
    with jobs, jobs:
        first = asyncio.create_task(group.do(1))
        await asyncio.sleep(0.01)
        assert double.batches == []
        assert await group.do(2) == 4
        assert await first == 2
    assert double.batches == [[1, 2]]


async def test_who_is_expected_and_never_comes_is_waited_for_a_while() -> None:
    jobs = JobsUnderWay()
    group = Group(Doubling(), most=MOST, linger_s=0.01, jobs=jobs)
    with jobs, jobs:
        assert await group.do(1) == 2


async def test_fault_of_one_is_told_to_that_one_alone() -> None:
    double = Doubling(bad=1)
    group = Group(double, most=MOST, jobs=JobsUnderWay())
    outcomes = await asyncio.gather(*map(group.do, range(3)), return_exceptions=True)
    assert [outcomes[0], outcomes[2]] == [0, 4]
    assert isinstance(outcomes[1], ValueError)
    assert "among 1" in str(outcomes[1])
    assert sorted(map(len, double.batches)) == [1, 1, 1, 3]


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    double = Doubling()
    jobs = JobsUnderWay()
    group = Group(double, most=MOST, linger_s=FOREVER_S, jobs=jobs)
    with jobs, jobs:
        given_up = asyncio.create_task(group.do(1))
        await asyncio.sleep(0)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await asyncio.gather(group.do(2), group.do(3))
    assert double.batches == [[2, 3]]
