"""A database that was put back to an older state does not fork its log unseen."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from structlog.testing import capture_logs
from typing_extensions import override

from registry.db.engine.engines import Engine, Role
from registry.db.log.cosignatures import PUBLISHER, save_evidence
from registry.db.log.entries import StoredCheckpoint
from registry.errors import Unavailable
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint, verify_by_any
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.tiles import TILE_WIDTH
from registry.usecases.log.continuity import Continuity, LogDamaged
from registry.usecases.log.promiser import Promiser
from registry.usecases.log.sequence import Sequencer, load_edge
from registry.usecases.log.served_log import WitnessPolicy
from tests.db.scene import PROMISE_KEY, Clock, Scene
from tests.db.test_sequencing import (
    SIGNER,
    accept,
    checkpoints,
    empty_log,  # noqa: F401 — used by pytest
    entry,
    lift_guard,
    running,
    verify_log,
)
from tests.waiting import until

OLD, SIZE = 9, 16


@pytest.fixture
def continuity(tmp_path: Path) -> Continuity:
    path = tmp_path / "log" / "checkpoint"
    return Continuity(path, [SIGNER.verifier_key], None, WitnessPolicy())


@pytest.fixture
def publisher(scene: Scene) -> Engine:
    return scene.engines[Role.PUBLISHER]


def sequencer(engine: Engine, continuity: Continuity | None) -> Sequencer:
    return Sequencer(engine, SIGNER, Clock(), continuity=continuity)


def known_size(continuity: Continuity) -> int:
    return verify_by_any(continuity.file.read_bytes(), [SIGNER.verifier_key]).size


async def published_size(scene: Scene) -> int:
    rows = await scene.sql(
        "SELECT coalesce(max(size), 0) AS size FROM audit.checkpoint"
    )
    return int(rows[0].size)


async def publish(
    scene: Scene, engine: Engine, continuity: Continuity | None, size: int
) -> None:
    """Grow the log to this size, by a sequencer that starts and ends."""
    await accept(scene, range(await published_size(scene), size))
    await is_published(scene, engine, continuity, size)


async def is_published(
    scene: Scene, engine: Engine, continuity: Continuity | None, size: int
) -> None:
    async with running(sequencer(engine, continuity)) as (task,):

        async def is_there() -> bool:
            return await published_size(scene) == size

        def why_not() -> str:
            return str(task.exception()) if task.done() else ""

        await until(f"{size} entries are published", is_there, broken=why_not)


async def put_back(scene: Scene, size: int) -> None:
    """What a database holds that is restored from a backup of then."""
    await lift_guard(scene)
    await scene.sql(f"DELETE FROM audit.entry WHERE leaf_index >= {size}")
    await scene.sql(
        f"DELETE FROM audit.tile_hash WHERE position >= {size // TILE_WIDTH}"
    )
    await scene.sql(f"DELETE FROM audit.checkpoint WHERE size > {size}")


async def refusal(scene: Scene, engine: Engine, continuity: Continuity | None) -> str:
    """Return why the sequencer ends; it has signed nothing."""
    before = await checkpoints(scene)
    with pytest.raises(LogDamaged) as refused:
        async with asyncio.timeout(60):
            await sequencer(engine, continuity).run()
    assert await checkpoints(scene) == before
    assert "When the database is older than the log" in str(refused.value)
    return str(refused.value)


async def grown_with_a_stop_in_between(
    scene: Scene, engine: Engine, continuity: Continuity
) -> None:
    """Two checkpoints, of OLD and of SIZE entries."""
    for size in (OLD, SIZE):
        await publish(scene, engine, continuity, size)


async def test_database_put_back_is_refused_at_the_start(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await grown_with_a_stop_in_between(scene, publisher, continuity)
    await put_back(scene, OLD)
    await accept(scene, [90])
    assert "has 9 entries of the log and 16 were published" in await refusal(
        scene, publisher, continuity
    )


async def test_new_database_below_an_old_log_is_refused(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await publish(scene, publisher, continuity, SIZE)
    await put_back(scene, 0)
    assert "has 0 entries" in await refusal(scene, publisher, continuity)


async def test_database_put_back_below_a_running_sequencer_is_refused_at_the_next_signing(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await publish(scene, publisher, continuity, OLD)
    await accept(scene, range(OLD, SIZE))
    async with running(sequencer(publisher, continuity)) as (task,):

        async def has_grown() -> bool:
            return await published_size(scene) == SIZE

        await until("the log has grown", has_grown)
        await put_back(scene, OLD)
        before = await checkpoints(scene)
        await accept(scene, [90])
        with pytest.raises(LogDamaged, match="has 9 entries of the log and 16"):
            async with asyncio.timeout(60):
                await task
    assert await checkpoints(scene) == before


@pytest.mark.parametrize("grown", [SIZE, SIZE + 4, 300])
async def test_other_history_of_the_same_size_or_a_larger_one_is_refused(
    scene: Scene, publisher: Engine, continuity: Continuity, grown: int
) -> None:
    """It was signed where nothing was known outside of the database."""
    await grown_with_a_stop_in_between(scene, publisher, continuity)
    await put_back(scene, OLD)
    await accept(scene, range(1_000, 1_000 + grown - OLD))
    await is_published(scene, publisher, None, grown)
    assert "first 16 entries in the database are not those" in await refusal(
        scene, publisher, continuity
    )


class Dying(Continuity):
    """A file at whose saving its process dies."""

    class Death(Exception):
        """A kill, of which nothing is caught."""

    @override
    def save(self, newest: StoredCheckpoint) -> None:
        self.after(newest)
        raise self.Death

    def after(self, newest: StoredCheckpoint) -> None:
        """Nothing is saved."""


class DyingLate(Dying):
    @override
    def after(self, newest: StoredCheckpoint) -> None:
        Continuity.save(self, newest)


@pytest.mark.parametrize("kind", [Dying, DyingLate])
@pytest.mark.parametrize("before", [OLD, 250])
async def test_death_between_commit_file_and_publication_stops_nobody(
    scene: Scene,
    publisher: Engine,
    continuity: Continuity,
    kind: type[Dying],
    before: int,
) -> None:
    """A tile is completed in one of the cases."""
    await publish(scene, publisher, continuity, before)
    await accept(scene, range(before, before + 7))
    dying = kind(continuity.file, continuity.keys, None, continuity.policy)
    async with publisher.connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        with pytest.raises(Dying.Death):
            await sequencer(publisher, dying).step(connection, edge)
    assert await published_size(scene) == before, "nothing left before the file had it"
    assert await scene.sql("SELECT 1 FROM audit.pending") == []
    await accept(scene, range(before + 7, before + 10))
    await is_published(scene, publisher, continuity, before + 10)
    await verify_log(scene, before + 10)


async def test_nobody_has_a_checkpoint_that_the_file_has_not(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await grown_with_a_stop_in_between(scene, publisher, continuity)
    assert known_size(continuity) == (await checkpoints(scene))[-1].size


async def test_lost_file_is_reported_once_and_written_anew(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await publish(scene, publisher, continuity, OLD)
    continuity.file.unlink()
    for size, lines in ((SIZE, 1), (SIZE + 1, 0)):
        with capture_logs() as logs:
            await publish(scene, publisher, continuity, size)
        unknown = [
            line for line in logs if line["event"] == "published_checkpoint_unknown"
        ]
        assert len(unknown) == lines
    await put_back(scene, OLD)
    assert "17 were published" in await refusal(scene, publisher, continuity)


async def test_file_of_a_host_that_waited_may_lag_and_never_goes_back(
    scene: Scene, publisher: Engine, continuity: Continuity, tmp_path: Path
) -> None:
    other = replace(continuity, file=tmp_path / "other" / "checkpoint")
    await publish(scene, publisher, continuity, OLD)
    await publish(scene, publisher, other, 300)
    await publish(scene, publisher, continuity, 301)
    [old, *_, newest] = [
        StoredCheckpoint(**row._mapping)
        for row in await scene.sql("SELECT * FROM audit.checkpoint ORDER BY size")
    ]
    continuity.save(old)
    assert known_size(continuity) == newest.size == 301


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"registry.example\n16\n",
        sign_checkpoint(
            Checkpoint(origin="other.example", size=1, root=bytes(32)),
            replace(SIGNER, name="other.example"),
        ),
    ],
)
async def test_file_of_no_checkpoint_of_this_log_is_refused(
    scene: Scene, publisher: Engine, continuity: Continuity, content: bytes
) -> None:
    await publish(scene, publisher, continuity, OLD)
    continuity.file.write_bytes(content)
    assert "no checkpoint of this log" in await refusal(scene, publisher, continuity)
    assert continuity.file.read_bytes() == content


async def test_published_files_show_a_rollback_where_the_file_is_lost(
    scene: Scene, publisher: Engine, continuity: Continuity, tmp_path: Path
) -> None:
    await grown_with_a_stop_in_between(scene, publisher, continuity)
    folder = tmp_path / "published"
    folder.mkdir()
    continuity.file.rename(folder / "checkpoint")
    await put_back(scene, OLD)
    with_files = replace(continuity, log_files=folder)
    assert "16 were published (published/checkpoint)" in await refusal(
        scene, publisher, with_files
    )


async def test_history_rewritten_in_the_database_is_not_signed(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    """By somebody without the key, who changes entries and all that follows of them.

    With or without the file: what he can't write is the signature of a checkpoint.
    """
    await publish(scene, publisher, continuity, SIZE)
    bodies = [entry(number if number != 3 else 77).body for number in range(SIZE)]
    leaves = [leaf_hash(body) for body in bodies]
    await lift_guard(scene)
    await scene.sql(
        f"UPDATE audit.entry SET leaf_hash = '\\x{leaves[3].hex()}' WHERE leaf_index = 3"
    )
    await scene.sql(
        f"UPDATE audit.checkpoint SET root = '\\x{tree_root(leaves).hex()}'"
    )
    await accept(scene, [90])
    for _ in range(2):
        assert "first 16 entries in the database are not" in await refusal(
            scene, publisher, continuity
        )
        continuity.file.unlink(missing_ok=True)
    await is_published(scene, publisher, None, SIZE + 1)  # as it was, without a check


async def test_web_processes_promise_nothing_until_the_log_goes_on(
    scene: Scene, publisher: Engine, continuity: Continuity
) -> None:
    await grown_with_a_stop_in_between(scene, publisher, continuity)
    entries = await scene.sql("SELECT * FROM audit.entry WHERE leaf_index >= 9")
    newest = await scene.sql("SELECT * FROM audit.checkpoint WHERE size > 9")
    await put_back(scene, OLD)
    await refusal(scene, publisher, continuity)
    promiser = Promiser(scene.api, PROMISE_KEY, Clock())
    await promiser.look()
    with pytest.raises(Unavailable, match="16 were published") as refused:
        promiser.verify_log_moves()
    assert refused.value.code == "log_stands_still"

    for table, rows in (("entry", entries), ("checkpoint", newest)):
        for row in rows:
            names = ", ".join(row._mapping)
            values = ", ".join(f":{name}" for name in row._mapping)
            await scene.sql(
                f"INSERT INTO audit.{table} ({names}) VALUES ({values})",
                **row._mapping,
            )
    await publish(scene, publisher, continuity, SIZE + 1)
    await promiser.look()
    promiser.verify_log_moves()
    await verify_log(scene, SIZE + 1)


async def test_evidence_of_the_publisher_alone_stops_every_host(scene: Scene) -> None:
    async with scene.engines[Role.PUBLISHER].begin() as connection:
        await save_evidence(connection, PUBLISHER, "the reason")
    promiser = Promiser(scene.api, PROMISE_KEY, Clock())
    with pytest.raises(Unavailable):  # nor is anything promised before it is known
        promiser.verify_log_moves()
    await promiser.look()
    with pytest.raises(Unavailable, match="the reason"):
        promiser.verify_log_moves()
