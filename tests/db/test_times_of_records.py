"""Records of another time: a log takes none for which it would be called unsound.

A clock that goes back, or ahead and back again, is no lie; but verifiers can't tell it
from records that were held back, and the log would stay unsound for good.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from registry.db.engine.engines import DatabaseError, Engine, Role
from registry.db.log import entries as log
from registry.db.log.rankings import FEW, RankingWriter
from registry.errors import Unavailable
from registry.usecases.log.promiser import CLOCK_TOLERANCE
from tests.db.rankings import make_ranking
from tests.db.scene import Clock, Scene
from tests.db.test_sequencing import drain, empty_log  # noqa: F401 — used by pytest

TOLERANCE_S = CLOCK_TOLERANCE.total_seconds()


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime.now(UTC) - timedelta(hours=1))


@pytest.fixture(autouse=True)
async def guarded(
    empty_log: None,  # noqa: F811
    scene: Scene,
    engines: dict[Role, Engine],
) -> AsyncIterator[None]:
    """A log whose newest entry is an hour old."""
    await scene.sql("ALTER TABLE audit.pending ENABLE TRIGGER of_its_time")
    await accept(scene)
    await drain(scene, engines[Role.PUBLISHER])
    yield
    await scene.sql("ALTER TABLE audit.pending DISABLE TRIGGER of_its_time")


async def accept(scene: Scene) -> None:
    record = make_ranking(scene.ids).record
    async with scene.api.begin() as connection:
        await log.accept(connection, record, scene.clock())


async def write(scene: Scene, number: int) -> None:
    rows = [make_ranking(scene.ids).row for _ in range(number)]
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write(rows)


async def pending(scene: Scene) -> int:
    count: int = (await scene.sql("SELECT count(*) FROM audit.pending"))[0][0]
    return count


async def test_clocks_may_differ_by_half_of_what_the_rules_allow(scene: Scene) -> None:
    scene.clock.advance(seconds=-TOLERANCE_S)
    await accept(scene)
    await write(scene, FEW + 1)
    assert await pending(scene) == FEW + 2


@pytest.mark.parametrize("number", [1, FEW + 1])
async def test_rankings_before_the_newest_entry_are_refused(
    number: int, scene: Scene
) -> None:
    scene.clock.advance(seconds=-TOLERANCE_S - 1)
    with pytest.raises(DatabaseError, match="clock of its writer"):
        await write(scene, number)
    assert await pending(scene) == 0


@pytest.mark.parametrize("by", [{"seconds": -TOLERANCE_S - 1}, {"hours": 2}])
async def test_records_of_another_time_are_refused(
    by: dict[str, float], scene: Scene
) -> None:
    scene.clock.advance(**by)
    with pytest.raises(DatabaseError, match="clock of its writer"):
        await accept(scene)


async def test_a_clock_that_went_back_ends_all_promises_until_it_has_caught_up(
    scene: Scene,
) -> None:
    promiser = scene.promiser
    await promiser.look()
    promiser.verify_log_moves()
    scene.clock.advance(minutes=-5)  # at once, before it looks again
    with pytest.raises(Unavailable, match="clock_apart") as refused:
        promiser.verify_log_moves()
    assert refused.value.retry_after_s
    scene.clock.advance(minutes=5)
    promiser.verify_log_moves()


async def test_a_clock_ahead_of_the_database_ends_all_promises(scene: Scene) -> None:
    promiser = scene.promiser
    scene.clock.advance(hours=2)
    await promiser.look()
    with pytest.raises(Unavailable, match="clock_apart"):
        promiser.verify_log_moves()
