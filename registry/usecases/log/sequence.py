"""The sequencer: gives accepted records their position in the log.

In one transaction records leave `pending`, become entries and fill tiles. Their signed
checkpoint is then saved in a file, and only then inserted, which publishes it; a batch
that was left in between is published by the next sequencer.

One sequencer works at a time (an advisory lock held by its connection, which therefore
goes to the server itself and through no pooler); any other takes over when that connection
ends. The server ends it when its sequencer stands still. Should two ever believe that they
hold the lock, the primary keys of `entry` and `checkpoint` let only one commit.
"""

import asyncio
from dataclasses import dataclass

import structlog

from registry.db.engine.advisory_lock import SEQUENCER_TURN, try_lock
from registry.db.engine.engines import Connection, Engine
from registry.db.log import entries as log
from registry.db.log.cosignatures import PUBLISHER, save_evidence
from registry.tlog.checkpoint import Checkpoint, format_checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge, edge_runs, rebuild_edge
from registry.tlog.note import Signer, sign_text
from registry.tlog.refusals import ProofInvalid
from registry.tlog.tiles import HashRun
from registry.usecases.background import Cadence, follow
from registry.usecases.ids import Clock
from registry.usecases.log.continuity import Continuity, LogDamaged
from registry.usecases.log.filed_log import read_runs

MAX_BATCH = 1_024
PAUSE_S = 0.1
TAKE_OVER_PAUSE_S = 0.5
STANDSTILL_S = 3

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Sequencer:
    """signer: the log's key, whose name is the log's origin.

    retiring: the key before it, which signs beside it while it is being replaced.
    continuity: what is known of the log outside the database, if anything is.
    """

    engine: Engine
    signer: Signer
    clock: Clock
    retiring: Signer | None = None
    continuity: Continuity | None = None

    async def run(self) -> None:
        """Sequence until cancelled; wait while another sequencer holds the lock.

        Raises: LogDamaged.
        """
        await follow(
            self._take_turn, pause_s=TAKE_OVER_PAUSE_S, lost="sequencer_interrupted"
        )

    async def _take_turn(self) -> None:
        async with self.engine.connect() as connection:
            if not await try_lock(connection, SEQUENCER_TURN):
                return
            try:
                await log.end_when_idle(connection, STANDSTILL_S)
                await connection.commit()
                await self._sequence(connection)
            except LogDamaged as damaged:
                async with self.engine.begin() as other:
                    await save_evidence(other, PUBLISHER, str(damaged))
                raise
            finally:
                # The lock belongs to the connection and must not go back to the pool.
                await connection.invalidate()

    async def _sequence(self, connection: Connection) -> None:
        edge = await self._resume(connection)
        logger.info("sequencer_started", size=edge.size)
        cadence = Cadence(PAUSE_S)
        while True:
            appended = await self.step(connection, edge)
            logged, edge = appended.size - edge.size, appended
            pause_s = cadence.after(logged)
            if logged < MAX_BATCH:
                # What arrives meanwhile shares one checkpoint; who is behind goes on.
                await asyncio.sleep(pause_s)

    async def _resume(self, connection: Connection) -> TreeEdge:
        """Return the edge of the stored tree, all of which is published."""
        async with connection.begin():
            newest = await log.latest_checkpoint(connection)
            verify_name(newest, self.signer.name)
            edge = await load_edge(connection, self.continuity)
            await save_evidence(connection, PUBLISHER, "")
        if newest and self.continuity:
            await self.continuity.await_witnesses(connection)
        if edge.size > (newest.size if newest else 0):
            await self._publish(connection, edge)
        elif newest and self.continuity:
            self.continuity.save(newest)
        return edge

    async def step(self, connection: Connection, edge: TreeEdge) -> TreeEdge:
        """Log one batch of what is pending, if anything is; the edge after it."""
        async with connection.begin():
            if self.continuity:
                await self.continuity.verify_undisputed(connection)
            leaves = await log.peek_pending(connection, MAX_BATCH)
            if not leaves:
                return edge
            appended, nodes = edge.append([leaf.leaf_hash for leaf in leaves])
            await log.append(connection, edge, leaves, nodes)
        await self._publish(connection, appended)
        return appended

    async def _publish(self, connection: Connection, edge: TreeEdge) -> None:
        """Publish the checkpoint of committed entries; the file has it before anybody."""
        covering = self._checkpoint(edge)
        if self.continuity:
            self.continuity.save(covering)
        async with connection.begin():
            await log.publish(connection, covering)

    def _checkpoint(self, edge: TreeEdge) -> log.StoredCheckpoint:
        root = edge.root()
        checkpoint = Checkpoint(origin=self.signer.name, size=edge.size, root=root)
        text = format_checkpoint(checkpoint)
        beside = [sign_text(text, self.retiring)] if self.retiring else []
        return log.StoredCheckpoint(
            size=edge.size,
            root=root,
            note=sign_checkpoint(checkpoint, self.signer, beside).decode(),
            published_at=self.clock(),
        )


def verify_name(newest: log.StoredCheckpoint | None, name: str) -> None:
    """Verify that the stored log has this name. Raises: LogDamaged."""
    stored = name if newest is None else newest.note.partition("\n")[0]
    if stored != name:
        raise LogDamaged(
            f"the stored log is named {stored} for life, the key's is {name}: set "
            f"FAIR_REGISTRY_LOG_NAME={stored}, with the keys of that log"
        )


async def load_edge(
    connection: Connection, continuity: Continuity | None = None
) -> TreeEdge:
    """The edge of the stored tree: of what the newest checkpoint signs, and a batch behind.

    Such a batch is left by a sequencer that died before it published. Raises: LogDamaged;
    with `continuity`, also where the tree is not that which was published; OSError.
    """
    newest = await log.latest_checkpoint(connection)
    signed = 0 if newest is None else newest.size
    behind = HashRun(level=0, first=signed, count=MAX_BATCH)
    try:
        read = await read_runs(connection, (*edge_runs(signed), behind), None)
        edge = rebuild_edge(signed, read)
        if newest and edge.root() != newest.root:
            raise LogDamaged(f"the stored hashes are not those of checkpoint {signed}")
        edge, nodes = edge.append(read(behind))
    except ProofInvalid as error:
        raise LogDamaged(f"hashes at checkpoint {signed} are missing") from error
    runs = [HashRun(level=node.level, first=node.position, count=1) for node in nodes]
    read = await read_runs(connection, runs, None)
    if [(node.hash,) for node in nodes] != [tuple(read(run)) for run in runs]:
        raise LogDamaged(f"hashes behind checkpoint {signed} are not its own")
    if continuity:
        await continuity.verify(connection, edge)
    return edge
