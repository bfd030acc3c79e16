"""What was looked up is remembered for seconds, and only what was found."""

from collections import Counter

from registry.usecases.operators.operator_access import (
    LIFE_S,
    MAX_CACHED,
    LookupCache,
)


class Source:
    """Counts who asks it; `known` may change at any time."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {1: "one"}
        self.lookups: Counter[int] = Counter()
        self.now_s = 0.0
        self.remembered = LookupCache(self.look_up, lambda: self.now_s)

    async def look_up(self, key: int) -> str | None:
        self.lookups[key] += 1
        return self.known.get(key)


async def test_key_is_looked_up_once_in_its_time() -> None:
    source = Source()
    for _ in range(5):
        assert await source.remembered.find(1) == "one"
    assert source.lookups == {1: 1}


async def test_key_that_was_taken_away_is_unknown_after_it() -> None:
    source = Source()
    await source.remembered.find(1)
    source.known.clear()
    source.now_s = LIFE_S - 0.01
    assert await source.remembered.find(1) == "one"
    source.now_s = LIFE_S
    assert await source.remembered.find(1) is None


async def test_asking_does_not_make_it_live_longer() -> None:
    source = Source()
    for _ in range(10):
        await source.remembered.find(1)
        source.now_s += LIFE_S / 4
    assert source.lookups[1] == 3


async def test_key_that_was_not_there_is_found_as_soon_as_it_is() -> None:
    source = Source()
    assert await source.remembered.find(2) is None
    source.known[2] = "two"
    assert await source.remembered.find(2) == "two"


async def test_guesses_push_nobody_out() -> None:
    source = Source()
    await source.remembered.find(1)
    for guess in range(2, MAX_CACHED + 10):
        await source.remembered.find(guess)
    assert await source.remembered.find(1) == "one"
    assert source.lookups[1] == 1


async def test_no_more_than_so_many_are_remembered() -> None:
    source = Source()
    source.known = dict.fromkeys(range(MAX_CACHED + 1), "one")
    for number in source.known:
        await source.remembered.find(number)
    await source.remembered.find(MAX_CACHED)
    assert source.lookups[MAX_CACHED] == 1
    await source.remembered.find(0)
    assert source.lookups[0] == 2, "the first that came was forgotten"
