"""The day ends while sixteen ask: each ranking uses the secret of its own day."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from threading import get_ident
from types import SimpleNamespace
from typing import Any, cast

import pytest
from sqlalchemy.engine import URL

from registry.db.engine.engines import Engine, Role, open_engine
from registry.errors import Refused, Unavailable
from registry.index.building.builder import Builder
from registry.index.query.search import Ranked
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.packing import unpack
from registry.records.record import parse_record
from registry.records.seed import PAGES_FOR, REVEAL_AFTER, verify_reveal
from registry.usecases.log.commit_ahead import commit_ahead
from registry.usecases.log.sequence import Sequencer, load_edge
from registry.usecases.search import answer_search
from registry.usecases.search.answer_search import (
    Continuation,
    ResolvedQuery,
    Searcher,
)
from registry.usecases.search.record_rankings import RankingRecorder
from registry.usecases.search.search_query import SearchQuery
from registry.usecases.search.todays_seed import SeedReader
from tests.db.scene import NOON, Scene
from tests.db.test_sequencing import SIGNER
from tests.waiting import until

ASKERS = 16
CODE = f"sha256:{'c' * 64}"
STEPS, STEP = 12, timedelta(seconds=10)
DUSK = NOON.replace(hour=23, minute=59)
BREAD = SearchQuery(q="bread", limit=20)


@pytest.fixture
async def writer(database: URL) -> AsyncIterator[Engine]:
    engine = open_engine(database, Role.API, pool=1)
    yield engine
    await engine.dispose()


def searcher_of(
    scene: Scene, recorder: RankingRecorder, policy: str = DEFAULT_POLICY.digest
) -> Searcher:
    """Over no sites: an empty answer is ranked and on record like any other."""

    async def find(_: object) -> dict[int, bytes]:
        return {}

    follower = SimpleNamespace(
        index=Builder.build([], DEFAULT_POLICY).index,
        encoder=load_encoder(),
        policy=DEFAULT_POLICY,
        is_loaded=True,
    )
    return Searcher(
        follower=cast("Any", follower),
        recorder=recorder,
        counting=recorder,
        entries=cast("Any", SimpleNamespace(find=find)),
        mentions=cast("Any", SimpleNamespace(find=lambda *_: ())),
        seeds=SeedReader(scene.api, policy, CODE),
        promiser=scene.promiser,
        ids=scene.ids,
    )


async def logged(scene: Scene) -> list[dict[str, Any]]:
    rows = await scene.sql("SELECT body FROM audit.entry ORDER BY leaf_index")
    return [dict(parse_record(unpack(row.body))) for row in rows]


async def play(scene: Scene, searcher: Searcher, recorder: RankingRecorder) -> None:
    """Askers without a pause, while two minutes pass and then all is published."""
    publisher = scene.engines[Role.PUBLISHER]
    over = asyncio.Event()
    answered = 0

    async def ask() -> None:
        nonlocal answered
        while not over.is_set():
            with suppress(Unavailable):
                await searcher.search(ResolvedQuery(query=BREAD))
                answered += 1
            await asyncio.sleep(0)

    running = [
        asyncio.create_task(recorder.run()),
        asyncio.create_task(Sequencer(publisher, SIGNER, scene.clock).run()),
    ]
    askers = [asyncio.create_task(ask()) for _ in range(ASKERS)]
    for _ in range(STEPS):
        await commit_ahead(publisher, DEFAULT_POLICY, CODE, scene.ids)
        enough = answered + ASKERS
        await until("answers of this instant", lambda enough=enough: answered >= enough)
        scene.clock.now += STEP
    over.set()
    await asyncio.gather(*askers)
    scene.clock.now += REVEAL_AFTER
    await commit_ahead(publisher, DEFAULT_POLICY, CODE, scene.ids)
    while (await scene.sql("SELECT count(*) FROM audit.pending"))[0][0]:
        await asyncio.sleep(0.05)
    for task in running:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_rankings_on_both_sides_of_midnight_use_their_own_days_secret(
    scene: Scene, writer: Engine
) -> None:
    scene.clock.now = DUSK
    recorder = RankingRecorder(writer)
    await play(scene, searcher_of(scene, recorder), recorder)
    records = await logged(scene)
    days: Counter[str] = Counter()
    for index, record in enumerate(records):
        if record["kind"] == "ranking":
            seed = records[record["seed"]]
            assert record["seed"] < index, "committed before it was used"
            assert seed["day"] == record["t"][:10]
            days[seed["day"]] += 1
    today, tomorrow = DUSK.date(), DUSK.date() + timedelta(days=1)
    assert set(days) == {today.isoformat(), tomorrow.isoformat()}
    (reveal,) = (item for item in records if "secret" in item)
    (commitment,) = (
        element
        for element in records
        if element.get("day") == today.isoformat() and "commitment" in element
    )
    assert (reveal["day"], reveal["t"][:10]) == (commitment["day"], str(tomorrow))
    verify_reveal(bytes.fromhex(reveal["secret"]), commitment["commitment"])


async def test_no_page_is_asked_for_when_its_secret_is_due_to_be_revealed(
    scene: Scene, writer: Engine
) -> None:
    searcher = searcher_of(scene, RankingRecorder(writer))
    page = Continuation("id", "nonce", DUSK, (-1, 0, 0, 0), 20)
    midnight = DUSK + timedelta(minutes=1)
    for late in (PAGES_FOR, timedelta(days=9)):
        scene.clock.now = midnight + late
        with pytest.raises(Refused, match="pages_ended"):
            await searcher.search(ResolvedQuery(query=BREAD), page)


async def test_policy_that_is_not_in_the_log_ranks_nothing(
    scene: Scene, writer: Engine
) -> None:
    """Although a seed of the day is there."""
    scene.clock.now = DUSK + timedelta(minutes=30)
    publisher = scene.engines[Role.PUBLISHER]
    await commit_ahead(publisher, DEFAULT_POLICY, CODE, scene.ids)
    async with publisher.connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        await Sequencer(publisher, SIGNER, scene.clock).step(connection, edge)
    recorder = RankingRecorder(writer)
    running = asyncio.create_task(recorder.run())
    unlogged = searcher_of(scene, recorder, policy=f"sha256:{'0' * 64}")
    before = await scene.sql("SELECT count(*) FROM audit.pending")
    assert not await unlogged.is_ready()
    with pytest.raises(Unavailable, match="not_ready"):
        await unlogged.search(ResolvedQuery(query=BREAD))
    assert await scene.sql("SELECT count(*) FROM audit.pending") == before
    await searcher_of(scene, recorder).search(ResolvedQuery(query=BREAD))
    assert await scene.sql("SELECT count(*) FROM audit.pending") != before
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running


@pytest.mark.parametrize("small_index", [0, 1_000])
async def test_a_large_index_does_not_hold_up_the_event_loop(
    scene: Scene, writer: Engine, monkeypatch: pytest.MonkeyPatch, small_index: int
) -> None:
    """It is ranked on a thread, a small one at once."""
    monkeypatch.setattr(
        answer_search, "SMALL_INDEX", dict.fromkeys((True, False), small_index)
    )
    ranked_on, rank = set[int](), answer_search.search

    def watched(*arguments: Any, **options: Any) -> Ranked:
        ranked_on.add(get_ident())
        return rank(*arguments, **options)

    monkeypatch.setattr(answer_search, "search", watched)
    recorder = RankingRecorder(writer)
    await play(scene, searcher_of(scene, recorder), recorder)
    assert (ranked_on == {get_ident()}) == (small_index > 0)
