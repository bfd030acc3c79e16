"""Continuity of the log across a database that was put back to an older state.

What was published is known outside the database too: by a file with the newest
checkpoint, by the published files, and by witnesses. Else a second history was signed.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from registry.db.engine.engines import Connection
from registry.db.log.cosignatures import list_evidence, save_evidence
from registry.db.log.entries import StoredCheckpoint, latest_checkpoint
from registry.durable_file import replace_durably
from registry.errors import RegistryError
from registry.tlog.checkpoint import Checkpoint, verify_by_any
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import verify_consistency
from registry.tlog.note import VerifierKey
from registry.tlog.proof import consistency_runs, prove_consistency
from registry.tlog.refusals import ProofInvalid
from registry.usecases.log.filed_log import FiledLog, read_runs
from registry.usecases.log.publish_files import CHECKPOINT
from registry.usecases.log.served_log import WitnessPolicy

UNHEARD = "it has not answered since the publisher's start"
HEARING_S, HEARING_PAUSE_S = 20.0, 0.2

logger = structlog.get_logger()


class LogDamaged(RuntimeError):
    """The stored log is not the one that was signed and published.

    To append would cover it up: only people can tell what to restore.
    """


def _damage(detail: str) -> LogDamaged:
    section = "When the database is older than the log"
    return LogDamaged(f"{detail}; docs/run.md, section {section}, says what to do")


@dataclass(frozen=True, slots=True)
class Continuity:
    """Knowledge of the log outside the database.

    file: of the newest checkpoint, saved before it leaves; it never goes back. keys: of
    the log, the present one and former ones. log_files: folder of the published files.
    hearing_s: for which witnesses that make no quorum are waited for.
    """

    file: Path
    keys: Sequence[VerifierKey]
    log_files: Path | None
    policy: WitnessPolicy
    hearing_s: float = HEARING_S

    def save(self, newest: StoredCheckpoint) -> None:
        """Save the checkpoint durably, unless a later one is there.

        Raises: LogDamaged, OSError.
        """
        if self.file.exists():
            known = self._parse(self.file, self.file.read_bytes())
            if known.size >= newest.size:
                return
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_durably(self.file, newest.note.encode())

    async def verify(self, connection: Connection, edge: TreeEdge) -> None:
        """Verify that the stored tree has all that was signed or published.

        In the database too only the note counts: without the key nobody can write one.
        Raises: LogDamaged, OSError.
        """
        paths = [self.file, *([self.log_files / CHECKPOINT] if self.log_files else [])]
        notes = {path: path.read_bytes() for path in paths if path.exists()}
        if newest := await latest_checkpoint(connection):
            notes[Path("database/checkpoint")] = newest.note.encode()
        for path, note in notes.items():
            await self._verify_extends(connection, path, self._parse(path, note), edge)
        await self.verify_undisputed(connection)
        if edge.size and self.file not in notes:
            logger.warning("published_checkpoint_unknown", size=edge.size)

    async def verify_undisputed(self, connection: Connection) -> bool:
        """Verify that the witnesses know of no other tree, and of no larger one.

        So many must that the others are no quorum, or without a quorum more than half:
        a single liar holds up nobody. Returns whether as many have answered since they
        were asked last. Raises: LogDamaged.
        """
        if not (ids := self.policy.ids):
            return True
        evidence = await list_evidence(connection)
        answers = [evidence.get(source, "") for source in ids]
        claims = [detail for detail in answers if detail not in {"", UNHEARD}]
        quorum = self.policy.quorum or (len(ids) + 1) // 2
        if claims and len(ids) - len(claims) < quorum:
            raise _damage(claims[0])
        return answers.count("") >= quorum

    async def await_witnesses(self, connection: Connection) -> None:
        """Wait for the witnesses: a database and the file may have been put back together.

        With a quorum for as long as it takes: nothing newer would be served before.
        Raises: LogDamaged.
        """
        async with connection.begin():
            known = await list_evidence(connection)
            for source in set(self.policy.ids) - known.keys():
                await save_evidence(connection, source, UNHEARD)
        ends_at = time.monotonic() + self.hearing_s
        while self.policy.quorum or time.monotonic() < ends_at:
            async with connection.begin():
                if await self.verify_undisputed(connection):
                    break
            await asyncio.sleep(HEARING_PAUSE_S)
        else:
            logger.warning("witnesses_unheard", waited_s=self.hearing_s)
        async with connection.begin():
            for source, detail in (await list_evidence(connection)).items():
                if detail == UNHEARD:
                    await save_evidence(connection, source, "")

    def _parse(self, path: Path, note: bytes) -> Checkpoint:
        try:
            return verify_by_any(note, self.keys)
        except RegistryError as refused:
            detail = f"{path.parent.name}/checkpoint holds no checkpoint of this log: {refused}"
            raise _damage(detail) from refused

    async def _verify_extends(
        self, connection: Connection, path: Path, known: Checkpoint, edge: TreeEdge
    ) -> None:
        if edge.size < known.size:
            raise _damage(
                f"the database has {edge.size} entries of the log and {known.size} were "
                f"published ({path.parent.name}/checkpoint), so it is older than the log"
            )
        filed = FiledLog(self.log_files) if self.log_files else None
        runs = consistency_runs(known.size, edge.size)
        read = await read_runs(connection, runs, filed)
        try:
            verify_consistency(
                prove_consistency(known.size, edge.size, read),
                old_size=known.size,
                new_size=edge.size,
                old_root=known.root,
                new_root=edge.root(),
            )
        except ProofInvalid as error:
            raise _damage(
                f"the first {known.size} entries in the database are not those that were "
                f"published ({path.parent.name}/checkpoint)"
            ) from error
