"""Nothing is promised, and nothing put on record, while the log stands still."""

from typing import Any

import pytest

from registry.db.engine.engines import Engine, Role
from registry.errors import Unavailable
from registry.identity.keys.private_keys import public_key_of
from registry.records.promise import verify_promise
from registry.usecases.log.erase import erase_ranking
from registry.usecases.log.promiser import STANDSTILL, Promiser
from registry.usecases.search.answer_search import ResolvedQuery, Searcher
from registry.usecases.search.receipts import record_id_of
from tests.db.rankings import make_ranking
from tests.db.scene import PROMISE_KEY, Scene
from tests.db.test_selecting import FIRST, ask, select
from tests.db.test_sequencing import drain, empty_log  # noqa: F401 — used by pytest

LATE_S = STANDSTILL.total_seconds() + 1


@pytest.fixture
async def promiser(scene: Scene) -> Promiser:
    """One ranking waits for its place in the log."""
    await ask(scene)
    return scene.promiser


async def test_what_just_came_is_no_standstill(
    scene: Scene, promiser: Promiser
) -> None:
    scene.clock.advance(seconds=STANDSTILL.total_seconds())
    await promiser.look()
    promiser.verify_log_moves()


async def test_a_record_that_waits_too_long_ends_all_promises(
    scene: Scene, promiser: Promiser
) -> None:
    scene.clock.advance(seconds=LATE_S)
    await promiser.look()
    with pytest.raises(Unavailable, match="log_stands_still") as refused:
        promiser.verify_log_moves()
    assert refused.value.retry_after_s


async def test_once_it_has_its_place_promises_are_given_again(
    scene: Scene, promiser: Promiser, engines: dict[Role, Engine]
) -> None:
    scene.clock.advance(seconds=LATE_S)
    await promiser.look()
    await drain(scene, engines[Role.PUBLISHER])
    await promiser.look()
    promiser.verify_log_moves()


async def test_a_log_that_has_nothing_to_do_does_not_stand_still(scene: Scene) -> None:
    promiser = scene.promiser
    scene.clock.advance(days=3)
    await promiser.look()
    promiser.verify_log_moves()


async def test_a_selection_is_refused_and_not_recorded(
    scene: Scene, promiser: Promiser
) -> None:
    ranking_id = await ask(scene)
    scene.clock.advance(seconds=LATE_S)
    await promiser.look()
    with pytest.raises(Unavailable, match="log_stands_still"):
        await select(scene, ranking_id, FIRST, promiser=promiser)
    assert await pending(scene) == ["ranking", "ranking"]


async def test_an_erasure_is_refused_and_not_recorded(
    scene: Scene, promiser: Promiser, engines: dict[Role, Engine]
) -> None:
    ranking_id = record_id_of(await ask(scene))
    scene.clock.advance(seconds=LATE_S)
    await promiser.look()
    async with engines[Role.ERASER].begin() as connection:
        with pytest.raises(Unavailable, match="log_stands_still"):
            await erase_ranking(
                connection, ranking_id, promiser=promiser, ids=scene.ids
            )
    assert await pending(scene) == ["ranking", "ranking"]


async def test_neither_answers_nor_readiness_are_given(
    scene: Scene, promiser: Promiser
) -> None:
    scene.clock.advance(seconds=LATE_S)
    await promiser.look()
    nothing: Any = None
    searcher = Searcher(
        follower=nothing,
        recorder=nothing,
        counting=nothing,
        entries=nothing,
        mentions=nothing,
        seeds=nothing,
        promiser=promiser,
        ids=scene.ids,
    )
    with pytest.raises(Unavailable, match="log_stands_still"):
        await searcher.search(ResolvedQuery(query=nothing))
    with pytest.raises(Unavailable, match="log_stands_still"):
        await searcher.is_ready()


async def test_a_promise_is_of_the_key_that_was_given(scene: Scene) -> None:
    leaf = make_ranking(scene.ids).record.leaf_hash
    promise = scene.promiser.promise(leaf, scene.clock.now)
    verify_promise(promise, leaf, public_key_of(PROMISE_KEY).raw)


async def pending(scene: Scene) -> list[str]:
    rows = await scene.sql("SELECT kind FROM audit.pending ORDER BY position")
    return [row.kind for row in rows]
