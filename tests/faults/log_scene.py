"""A log of its own, with the processes that write it, all of which may be killed.

What was acknowledged lies in a file that the writers append to, line by line: a kill -9
takes none of it back, as it takes back no answer that has left.
"""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

import psutil
from sqlalchemy import text
from sqlalchemy.engine import URL

from registry import keyring
from registry.db import operators
from registry.db.engine.engines import Connection, DatabaseError, Engine, open_engine
from registry.db.log import entries as log
from registry.db.schema.migrate import migrate
from registry.records.ranking_record import parse_ranking_line
from registry.settings import Settings, as_environment
from registry.tlog.checkpoint import parse_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.note import VerifierKey, parse_vkey, verify_note
from tests.db.rankings import add_operator
from tests.faults.nest import Nest
from tests.faults.service import lost_or_doubled
from tests.waiting import PAUSE_S

HOLDER = text("""
    SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
""")


class LogScene:
    """served: every checkpoint that anyone could have been given, note by note."""

    def __init__(self, folder: Path, url: URL, nest: Nest) -> None:
        self.url = url.render_as_string(hide_password=False)
        self.settings = Settings(data=folder, database_url=self.url)
        self.owner: Engine = open_engine(self.url, pool=3)
        self.served: set[str] = set()
        self.acknowledged_file = folder / "acknowledged"
        self._nest = nest
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        keyring.create_keyring(self.settings.keys, self.settings.log_origin)
        await migrate(self.owner)
        async with self.owner.begin() as connection:
            self.operator = await add_operator(connection, datetime.now(UTC))
        self._watch = asyncio.create_task(self._see_checkpoints())
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._watch
        self._watch.cancel()
        with suppress(asyncio.CancelledError):
            await self._watch
        await self.owner.dispose()

    async def start_publisher(self) -> psutil.Process:
        return await self._nest.hatch(as_environment(self.settings), what="publisher")

    async def start_writer(self, *, early: bool = False) -> psutil.Process:
        return await self._nest.hatch(
            as_environment(self.settings),
            what="writer",
            url=self.url,
            early=early,
            operator=None if early else self.operator,
            told=str(self.acknowledged_file),
        )

    def acknowledged(self) -> dict[str, list[bytes]]:
        """By caller, in the order of their acknowledgement. A torn line was never sent."""
        result: dict[str, list[bytes]] = defaultdict(list)
        lines = (
            self.acknowledged_file.read_bytes()
            if self.acknowledged_file.exists()
            else b""
        )
        for line in lines.split(b"\n")[:-1]:
            caller, leaf = line.decode().split(" ")
            result[caller].append(bytes.fromhex(leaf))
        return result

    def count_acknowledged(self) -> int:
        return (
            self.acknowledged_file.stat().st_size // 66
            if self.acknowledged_file.exists()
            else 0
        )

    async def goes_on(self, more: int = 20) -> None:
        """More records are acknowledged, and another checkpoint is signed."""
        # The last one of a publisher that was killed may only be seen by now.
        enough, signed = self.count_acknowledged() + more, len(self.served) + 2

        def went_on() -> bool:
            return self.count_acknowledged() >= enough and len(self.served) >= signed

        await self._nest.until(f"{more} more are acknowledged and published", went_on)

    async def _see_checkpoints(self) -> None:
        while True:
            with suppress(DatabaseError, OSError):
                async with self.owner.connect() as connection:
                    newest = await log.latest_checkpoint(connection)
                if newest:
                    self.served.add(newest.note)
            await asyncio.sleep(PAUSE_S)

    async def holder(self) -> int:
        """The backend of the sequencer that works; 0: of none."""
        async with self.owner.connect() as connection:
            return (await connection.execute(HOLDER)).scalar() or 0

    async def drained(self) -> list[bytes]:
        """The leaves of the whole log, once nothing waits for it."""

        async def nothing_waits() -> bool:
            async with self.owner.connect() as connection:
                return (await log.read_times(connection)).oldest_pending is None

        await self._nest.until("no record waits for the log", nothing_waits)
        async with self.owner.connect() as connection:
            return await _leaves(connection)

    def lost_or_doubled(self, leaves: Sequence[bytes]) -> list[bytes]:
        every = [leaf for item in self.acknowledged().values() for leaf in item]
        return lost_or_doubled(every, leaves)

    async def verify(self, keys: Sequence[VerifierKey] = ()) -> None:
        """Nothing is lost, doubled or out of order, and there is one history.

        keys: of which one has signed each checkpoint; by default the log's.
        """
        leaves = await self.drained()
        assert self.lost_or_doubled(leaves) == []
        index = {leaf: number for number, leaf in enumerate(leaves)}
        for caller, query in self.acknowledged().items():
            places = [index[leaf] for leaf in query]
            assert places == sorted(places), caller
        await self._verify_numbers()
        await self._verify_tiles(leaves)
        self._verify_checkpoints(leaves, keys or [self.log_key])

    async def _verify_numbers(self) -> None:
        """The operator's rankings are counted without gap or double, in their order."""
        async with self.owner.connect() as connection:
            bodies = await log.read_bodies(connection, 0, 2**40)
            known = await operators.find_operator(connection, self.operator)
        lines = (parse_ranking_line(body) for body in bodies)
        numbers = [
            line.operator_count
            for line in lines
            if line and line.operator == self.operator
        ]
        assert known
        assert numbers == list(range(1, known.rankings + 1))
        assert numbers, "some were asked for as the operator"

    @property
    def log_key(self) -> VerifierKey:
        return parse_vkey(keyring.load_vkey(self.settings.keys, keyring.LOG))

    async def _verify_tiles(self, leaves: Sequence[bytes]) -> None:
        """What is stored is what the leaves give, and no more."""
        edge, placed = TreeEdge().append(leaves)
        async with self.owner.connect() as connection:
            rows = await connection.execute(
                text("SELECT level, position, hash FROM audit.tile_hash ORDER BY 1, 2")
            )
            assert [tuple(row) for row in rows] == sorted(map(tuple, placed))
            newest = await log.latest_checkpoint(connection)
        assert newest
        assert (newest.size, newest.root) == (len(leaves), edge.root())

    def _verify_checkpoints(
        self, leaves: Sequence[bytes], keys: Sequence[VerifierKey]
    ) -> None:
        assert self.served
        for note in self.served:
            seen = parse_checkpoint(verify_note(note.encode(), keys).text)
            assert seen.root == tree_root(leaves[: seen.size]), seen.size


async def leaf_hashes_of(connection: Connection) -> list[bytes]:
    query = text("SELECT leaf_hash FROM audit.entry ORDER BY leaf_index")
    return list((await connection.execute(query)).scalars())


async def _leaves(connection: Connection) -> list[bytes]:
    """Computed from the bodies; what is stored as their hash has to be the same."""
    newest = await log.latest_checkpoint(connection)
    size = newest.size if newest else 0
    leaves = [leaf_hash(body) for body in await log.read_bodies(connection, 0, 2**40)]
    assert leaves == await leaf_hashes_of(connection)
    assert len(leaves) == size
    return leaves
