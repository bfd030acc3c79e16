"""The sequencer: gives accepted records their position in the log.

In one transaction: records leave `pending`, become entries, fill tiles, and a signed
checkpoint covers them. One sequencer works at a time (an advisory lock held by its
connection, which therefore goes to the server itself and through no pooler); any other
takes over when that connection ends. The server ends it when its sequencer stands still.
Should two ever believe that they hold the lock, the primary keys of `entry` and
`checkpoint` let only one commit.
"""

import asyncio
from dataclasses import dataclass

import structlog

from registry.db.engine.advisory_lock import SEQUENCER_TURN, try_lock
from registry.db.engine.engines import Connection, Engine
from registry.db.log import entries as log
from registry.tlog.checkpoint import Checkpoint, format_checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge, edge_runs, rebuild_edge
from registry.tlog.note import Signer, sign_text
from registry.tlog.refusals import ProofInvalid
from registry.usecases.background import outlasting
from registry.usecases.ids import Clock

MAX_BATCH = 1_024
PAUSE_S = 0.1
TAKE_OVER_PAUSE_S = 0.5
STANDSTILL_S = 3

logger = structlog.get_logger()


class LogDamaged(RuntimeError):
    """The stored hashes do not give the root that was signed.

    Somebody changed what nobody may change. To append would cover it up: only people
    can tell what to restore, so nothing is published until they have.
    """


@dataclass(frozen=True, slots=True)
class Sequencer:
    """signer: the log's key, whose name is the log's origin.

    retiring: the key before it, which signs beside it while it is being replaced.
    """

    engine: Engine
    signer: Signer
    clock: Clock
    retiring: Signer | None = None

    async def run(self) -> None:
        """Sequence until cancelled; wait while another sequencer holds the lock.

        Raises: LogDamaged.
        """
        while True:
            with outlasting("sequencer_interrupted"):
                await self._take_turn()
            await asyncio.sleep(TAKE_OVER_PAUSE_S)

    async def _take_turn(self) -> None:
        async with self.engine.connect() as connection:
            if not await try_lock(connection, SEQUENCER_TURN):
                return
            try:
                await log.end_when_idle(connection, STANDSTILL_S)
                await connection.commit()
                await self._sequence(connection)
            finally:
                # The lock belongs to the connection and must not go back to the pool.
                await connection.invalidate()

    async def _sequence(self, connection: Connection) -> None:
        await verify_name(connection, self.signer.name)
        edge = await load_edge(connection)
        await connection.commit()
        logger.info("sequencer_started", size=edge.size)
        while True:
            appended = await self.step(connection, edge)
            if appended.size - edge.size < MAX_BATCH:
                # What arrives meanwhile shares one checkpoint; who is behind goes on.
                await asyncio.sleep(PAUSE_S)
            edge = appended

    async def step(self, connection: Connection, edge: TreeEdge) -> TreeEdge:
        """Log one batch of what is pending, if anything is; the edge after it."""
        async with connection.begin():
            leaves = await log.peek_pending(connection, MAX_BATCH)
            if not leaves:
                return edge
            appended, placed = edge.append([leaf.leaf_hash for leaf in leaves])
            covering = self._checkpoint(appended)
            await log.append(connection, edge.size, leaves, placed, covering)
        return appended

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


async def verify_name(connection: Connection, name: str) -> None:
    """Verify that the stored log has this name. Raises: LogDamaged."""
    newest = await log.latest_checkpoint(connection)
    stored = name if newest is None else newest.note.partition("\n")[0]
    if stored != name:
        raise LogDamaged(
            f"the stored log is named {stored} for life, the key's is {name}: set "
            f"FAIR_REGISTRY_LOG_NAME={stored}, with the keys of that log"
        )


async def load_edge(connection: Connection) -> TreeEdge:
    """The edge of the tree that the newest checkpoint signs. Raises: LogDamaged."""
    newest = await log.latest_checkpoint(connection)
    if newest is None:
        return TreeEdge()
    runs = {}
    for run in edge_runs(newest.size):
        runs[run] = await log.read_hashes(connection, run.level, run.first, run.count)
    try:
        edge = rebuild_edge(newest.size, runs.__getitem__)
    except ProofInvalid as error:
        raise LogDamaged(
            f"hashes below checkpoint {newest.size} are missing"
        ) from error
    if edge.root() != newest.root:
        raise LogDamaged(f"the stored hashes are not those of checkpoint {newest.size}")
    return edge
