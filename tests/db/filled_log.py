"""Logs of any size, written into the tables as a sequencer would, but by COPY."""

from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from registry.db.engine.engines import Engine
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer
from tests.db.scene import NOON

PLAIN = b"\0"  # `records.packing`: the bytes as they are
GUARDED = (
    *("entry", "tile_hash", "checkpoint", "cosignature", "ranking"),
    "rollback_evidence",
)

SIGNER = Signer(
    name="registry.example/audit",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"lab log key").digest()),
)


def entry_of(number: int) -> bytes:
    """The entries of the vectors in `reference/transparency-log.md`."""
    return b'{"i":%d,"kind":"selection","v":1}' % number


@dataclass
class FilledLog:
    """edge: of the whole tree. roots: by size, of the checkpoints that were signed."""

    engine: Engine
    edge: TreeEdge
    notes: dict[int, bytes]

    @property
    def size(self) -> int:
        return self.edge.size

    async def grow(self, to: int) -> None:
        """More entries, their tiles, and one checkpoint."""
        first = self.edge.size
        entries = [entry_of(number) for number in range(first, to)]
        leaves = [leaf_hash(entry) for entry in entries]
        self.edge, placed = self.edge.append(leaves)
        async with self.engine.connect() as connection:
            raw = await connection.get_raw_connection()
            driver: Any = raw.driver_connection
            await driver.copy_records_to_table(
                "entry",
                schema_name="audit",
                columns=(
                    *("leaf_index", "record_id", "kind"),
                    *("body", "leaf_hash", "accepted_at"),
                ),
                records=[
                    (
                        index,
                        UUID(int=index),
                        "selection",
                        PLAIN + body,
                        leaf,
                        _at(index),
                    )
                    for index, (body, leaf) in enumerate(
                        zip(entries, leaves, strict=True), first
                    )
                ],
            )
            await driver.copy_records_to_table(
                "tile_hash",
                schema_name="audit",
                columns=("level", "position", "hash"),
                records=[tuple(item) for item in placed],
            )
        await self.sign()

    async def sign(self) -> bytes:
        root = self.edge.root()
        checkpoint = Checkpoint(origin=SIGNER.name, size=self.size, root=root)
        note = sign_checkpoint(checkpoint, SIGNER)
        self.notes[self.size] = note
        statement = text(
            "INSERT INTO audit.checkpoint VALUES (:size, :root, :note, :at)"
        )
        async with self.engine.begin() as connection:
            await connection.execute(
                statement,
                {"size": self.size, "root": root, "note": note.decode(), "at": NOON},
            )
        return note


async def empty_log(owner: Engine) -> FilledLog:
    """Nothing is in the tables; the guard, which keeps them, is put aside for it."""
    async with owner.begin() as connection:
        await connection.execute(text("TRUNCATE audit.pending"))
        for table in GUARDED:
            await connection.execute(
                text(f"ALTER TABLE audit.{table} DISABLE TRIGGER USER")
            )
            await connection.execute(text(f"TRUNCATE audit.{table}"))
            await connection.execute(
                text(f"ALTER TABLE audit.{table} ENABLE TRIGGER USER")
            )
    return FilledLog(owner, TreeEdge(), {})


def _at(index: int) -> Any:
    return NOON + timedelta(milliseconds=index)
