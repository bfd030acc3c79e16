"""The sequencer: one log, without a fork, whatever happens to those who write it."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.engine import URL

from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.log import entries as log
from registry.db.log import leaves
from registry.db.log.entries import StoredCheckpoint, TurnLost
from registry.records.packing import unpack
from registry.records.record import Record
from registry.sites.identifier import ULID_LENGTH, encode_base32
from registry.tlog.checkpoint import Checkpoint, verify_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash, tree_root, verify_consistency
from registry.tlog.note import NoteAlgorithm, Signer
from registry.tlog.tiles import Bundle, encode_bundle, parse_tile_path
from registry.usecases.log.sequence import MAX_BATCH, LogDamaged, Sequencer, load_edge
from tests.db.scene import Clock, Scene
from tests.unit.tlog.driven import follow_log, read_log
from tests.unit.tlog.proofs import consistency_proof

SIGNER = Signer(
    name="registry.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"l" * 32),
)
HOLDER = """
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
PATIENCE_S = 10.0


@pytest.fixture
async def publisher(database: URL) -> AsyncIterator[Engine]:
    """An engine like that of another process."""
    engine = open_engine(database, Role.PUBLISHER)
    yield engine
    await engine.dispose()


GUARDED = ("entry", "tile_hash", "checkpoint")


async def lift_guard(scene: Scene) -> None:
    """As whoever owns the database could: the log is not safe from its host."""
    for table in GUARDED:
        await scene.sql(f"ALTER TABLE audit.{table} DISABLE TRIGGER USER")


@pytest.fixture(autouse=True)
async def empty_log(scene: Scene) -> None:
    await lift_guard(scene)
    for table in (*GUARDED, "pending"):
        await scene.sql(f"TRUNCATE audit.{table}")
    await scene.sql("DELETE FROM audit.rollback_evidence")
    for table in GUARDED:
        await scene.sql(f"ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only")


def entry(number: int) -> Record:
    return Record(
        id=encode_base32(number, ULID_LENGTH),
        kind="ranking",
        body=b'{"i":%d}' % number,
    )


async def accept(scene: Scene, numbers: Sequence[int]) -> None:
    async with scene.api.begin() as connection:
        for number in numbers:
            await log.accept(connection, entry(number), Clock().now)


def sequencer(engine: Engine) -> Sequencer:
    return Sequencer(engine, SIGNER, Clock())


async def step(engine: Engine, edge: TreeEdge | None = None) -> TreeEdge:
    async with engine.connect() as connection:
        if edge is None:
            edge = await load_edge(connection)
            await connection.commit()
        return await sequencer(engine).step(connection, edge)


async def drain(scene: Scene, engine: Engine) -> None:
    edge = await step(engine)
    while (await scene.sql("SELECT count(*) FROM audit.pending"))[0][0]:
        edge = await step(engine, edge)


@asynccontextmanager
async def running(*sequencers: Sequencer) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(sequencer.run()) for sequencer in sequencers]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, LogDamaged):
                await task


async def logged(scene: Scene) -> list[bytes]:
    rows = await scene.sql("SELECT body FROM audit.entry ORDER BY leaf_index")
    return [unpack(row.body) for row in rows]


async def wait_for_size(scene: Scene, size: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await scene.sql(
            "SELECT 1 FROM audit.checkpoint WHERE size >= :size", size=size
        ):
            await asyncio.sleep(0.02)


async def checkpoints(scene: Scene) -> list[Checkpoint]:
    """Every checkpoint that was ever served, verified."""
    rows = await scene.sql("SELECT * FROM audit.checkpoint ORDER BY size")
    stored = [StoredCheckpoint(**row._mapping) for row in rows]
    return [
        verify_checkpoint(stored_row.note.encode(), SIGNER.verifier_key).checkpoint
        for stored_row in stored
    ]


def some_of(served: list[Checkpoint]) -> list[Checkpoint]:
    """At most about twelve, the first and the last among them."""
    return [*served[: -1 : len(served) // 12 + 1], served[-1]]


async def verify_log(scene: Scene, size: int) -> None:
    """One line of history: every checkpoint is a prefix of the entries; all is served."""
    bodies = await logged(scene)
    assert len(bodies) == size
    leaves = [leaf_hash(body) for body in bodies]
    served = await checkpoints(scene)
    for item in served:
        assert item.root == tree_root(leaves[: item.size]), item.size
    assert served[-1].size == size
    for old, new in itertools.combinations(some_of(served), 2):
        verify_consistency(
            consistency_proof(leaves[: new.size], old.size),
            old_size=old.size,
            new_size=new.size,
            old_root=old.root,
            new_root=new.root,
        )
    parts = await served_parts(scene)
    visited: list[bytes] = []
    for previous in (None, served[0], served[len(served) // 2]):
        visited.clear()
        reading = follow_log(
            SIGNER.verifier_key,
            previous=previous,
            visit=lambda _, body: visited.append(body),
        )
        assert read_log(reading, parts.get).checkpoint == served[-1]
        assert visited == bodies


async def served_parts(scene: Scene) -> "Parts":
    async with scene.api.connect() as connection:
        newest = await log.latest_checkpoint(connection)
        assert newest
        parts = Parts(checkpoint=newest.note.encode())
        for path in parts.paths(newest.size):
            part = parse_tile_path(path)
            if isinstance(part, Bundle):
                bodies = await log.read_bodies(connection, part.first, part.width)
                parts[path] = encode_bundle(bodies)
            else:
                [parts[path]] = await leaves.read_runs(connection, [part.run])
        return parts


class Parts(dict[str, bytes]):
    """What an HTTP client would be given, by path."""

    @staticmethod
    def paths(size: int) -> list[str]:
        findings = []
        for kind, count in (("0", size), ("entries", size), ("1", size // 256)):
            full, rest = divmod(count, 256)
            findings += [f"tile/{kind}/{n:03}" for n in range(full)]
            if rest:
                findings.append(f"tile/{kind}/{full:03}.p/{rest}")
        return findings


async def test_records_are_logged_in_the_order_of_their_acceptance(
    scene: Scene, publisher: Engine
) -> None:
    for numbers in (range(3), range(3, 5), range(5, 9)):
        await accept(scene, numbers)
    await step(publisher)
    assert await logged(scene) == [entry(n).body for n in range(9)]
    assert await scene.sql("SELECT 1 FROM audit.pending") == []
    await verify_log(scene, 9)


async def test_batches_are_bounded_and_each_has_its_checkpoint(
    scene: Scene, publisher: Engine
) -> None:
    size = 2 * MAX_BATCH + 88
    await accept(scene, range(size))
    await drain(scene, publisher)
    sizes = [checkpoint.size for checkpoint in await checkpoints(scene)]
    assert sizes == [MAX_BATCH, 2 * MAX_BATCH, size]
    await verify_log(scene, size)


async def test_nothing_pending_makes_no_checkpoint(
    scene: Scene, publisher: Engine
) -> None:
    await accept(scene, range(2))
    edge = await step(publisher)
    assert await step(publisher, edge) == edge
    assert len(await checkpoints(scene)) == 1


@pytest.mark.parametrize("size", [1, 255, 256, 257])
async def test_log_goes_on_where_an_earlier_process_ended(
    scene: Scene, publisher: Engine, size: int
) -> None:
    await accept(scene, range(size))
    await drain(scene, publisher)
    await accept(scene, range(size, size + 3))
    await drain(scene, scene.engines[Role.PUBLISHER])
    await verify_log(scene, size + 3)


async def test_record_of_a_transaction_that_commits_late_is_not_lost(
    scene: Scene, publisher: Engine
) -> None:
    async with scene.api.connect() as slow:
        await log.accept(slow, entry(0), Clock().now)
        await accept(scene, [1, 2])
        edge = await step(publisher)
        await slow.commit()
    await step(publisher, edge)
    assert await logged(scene) == [entry(n).body for n in (1, 2, 0)]
    await verify_log(scene, 3)


async def test_two_sequencers_at_once_write_one_log(
    scene: Scene, publisher: Engine
) -> None:
    other = scene.engines[Role.PUBLISHER]
    async with running(sequencer(publisher), sequencer(other)):
        for start in range(0, 200, 10):
            await accept(scene, range(start, start + 10))
            await asyncio.sleep(0.01)
        await wait_for_size(scene, 200)
        assert len(await scene.sql(HOLDER)) == 1
    await verify_log(scene, 200)


async def test_second_sequencer_takes_over_when_the_first_is_cut_off(
    scene: Scene, publisher: Engine
) -> None:
    other = scene.engines[Role.PUBLISHER]
    async with running(sequencer(publisher), sequencer(other)):
        size = 0
        for _ in range(3):
            await accept(scene, range(size, size + 5))
            size += 5
            await wait_for_size(scene, size)
            await scene.sql(HOLDER.replace("pid", "pg_terminate_backend(pid)", 1))
        await accept(scene, range(size, size + 5))
        await wait_for_size(scene, size + 5)
    await verify_log(scene, size + 5)


async def test_sequencer_that_failed_does_not_lock_itself_out(
    scene: Scene, publisher: Engine
) -> None:
    """Its lock belongs to a connection, which somebody else would get from the pool."""
    await accept(scene, range(3))
    await scene.sql("REVOKE INSERT ON audit.entry FROM registry_publisher")
    try:
        async with running(sequencer(publisher)), AsyncExitStack() as others:
            await asyncio.sleep(0.2)
            assert await logged(scene) == []
            for _ in range(3):
                await others.enter_async_context(publisher.connect())
            await scene.sql("GRANT INSERT ON audit.entry TO registry_publisher")
            await wait_for_size(scene, 3)
    finally:
        await scene.sql("GRANT INSERT ON audit.entry TO registry_publisher")
    await verify_log(scene, 3)


async def test_stale_sequencer_can_not_fork_the_log(
    scene: Scene, publisher: Engine
) -> None:
    """One that still believes in its turn, after another has taken over."""
    await accept(scene, range(3))
    stale = await step(publisher)
    await accept(scene, range(3, 6))
    await step(scene.engines[Role.PUBLISHER])
    await accept(scene, range(6, 9))
    with pytest.raises(TurnLost):
        await step(publisher, stale)
    await step(publisher)
    await verify_log(scene, 9)


@pytest.mark.parametrize(
    "tampering",
    [
        "UPDATE audit.entry SET leaf_hash = sha256('other') WHERE leaf_index = 258",
        "UPDATE audit.tile_hash SET hash = sha256('other')",
        "DELETE FROM audit.tile_hash",
        "DELETE FROM audit.entry WHERE leaf_index = 257",
        "UPDATE audit.checkpoint SET root = sha256('other') WHERE size = 260",
    ],
)
async def test_tampered_log_is_not_gone_on_with(
    scene: Scene, publisher: Engine, tampering: str
) -> None:
    await accept(scene, range(260))
    await drain(scene, publisher)
    await lift_guard(scene)
    await scene.sql(tampering)
    await accept(scene, [260])
    async with running(sequencer(publisher)) as (task,):
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(LogDamaged, match="checkpoint 260"):
                await task
    assert len(await scene.sql("SELECT 1 FROM audit.pending")) == 1
