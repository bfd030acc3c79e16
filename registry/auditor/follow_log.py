"""Following a log: from where the last run ended to its newest checkpoint.

Joins what each alone can't do: the walk down the tree (`tlog.follow`), the meaning of
the records (`records.rules`), fetching ahead, and the state that is kept.
"""

import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from registry.auditor.past_rankings import is_logged_ranking
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.source import Ahead, LogSource
from registry.auditor.state import AuditState, save_state, state_of
from registry.auditor.trust import Trust
from registry.records.rules.calendar_days import is_ahead
from registry.records.rules.conduct_state import ConductState, RuleBroken
from registry.records.rules.log_rules import Conduct
from registry.terminal.output import errors
from registry.terminal.styled import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    RemainingColumn,
    TextColumn,
)
from registry.tlog.checkpoint import Checkpoint, VerifiedCheckpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.follow import (
    CHECKPOINT_PATH,
    LogWalk,
    Visit,
    paths_to_read,
    verify_head,
)
from registry.tlog.refusals import LogInvalid

SAVE_EVERY_S = 2.0
LOOKED_UP_AT_ONCE = 4_096
MAX_FINDINGS = 100

Finding = LogInvalid | RuleBroken


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedLog:
    """A log that was read to its end and found sound.

    first: the index from which this run read on. conduct: what all records showed.
    overdue: days whose secret should be known by now. ahead: its newest minute, where
    that is yet to come; else "".
    """

    head: VerifiedCheckpoint
    first: int
    conduct: ConductState
    overdue: list[str]
    ahead: str

    @property
    def records(self) -> dict[str, int]:
        """Entries by kind, of all runs."""
        return dict(sorted(self.conduct.records.items()))

    @property
    def checkpoint(self) -> Checkpoint:
        return self.head.checkpoint

    def summary(self) -> dict[str, Any]:
        return {
            "verified": True,
            "origin": self.checkpoint.origin,
            "size": self.checkpoint.size,
            "root": self.checkpoint.root.hex(),
            "readFrom": self.first,
            "records": self.records,
            "cosignatures": [
                {"witness": own.key.name, "unixTime": own.cosigned_unix_s}
                for own in self.head.cosignatures
            ],
            "overdueSecrets": self.overdue,
            "datedAhead": self.ahead or None,
        }

    @property
    def notices(self) -> list[str]:
        """Return what no entry shows, but the auditor's clock."""
        days = ", ".join(self.overdue)
        texts = {
            f"The secret of {days} is not revealed: this log stands still.": days,
            f"Its newest entry is of {self.ahead}, which is yet to come.": self.ahead,
        }
        return [text for text, is_so in texts.items() if is_so]


class Findings(Exception):
    """Faults of a log, at least one, in the order of finding."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = findings
        super().__init__(str(findings[0]))


@dataclass(eq=False)
class Follower:
    """A run over a log. state: of the run before, or None.

    keep: file for the state. watch: sees each new entry besides, for who is watched.
    collect: go on after a finding, up to MAX_FINDINGS.
    """

    source: LogSource
    trust: Trust
    _: KW_ONLY
    state: AuditState | None = None
    keep: Path | None = None
    watch: Visit | None = None
    watched: str = ""
    collect: bool = False

    def __post_init__(self) -> None:
        state = self.state
        self._start = state.edge if state else TreeEdge()
        self._seen = state.head if state else None
        self._findings: list[Finding] = []
        self._conduct = Conduct(
            state.conduct if state else None,
            origin=self.trust.log_key.name,
            report=self._report,
        )
        self._saved_at_s = time.monotonic()

    async def run(self) -> VerifiedLog:
        """Raises: Findings, LogUnreadable. What was verified until then is saved."""
        try:
            head = await self._read_head()
            await self._walk(head)
        except (LogInvalid, RuleBroken) as finding:
            self._note(finding)
            raise Findings(self._findings) from finding
        if self._findings:
            raise Findings(self._findings)
        now, minute = datetime.now(UTC), self._conduct.state.minute
        return VerifiedLog(
            head=head,
            first=self._start.size,
            conduct=self._conduct.state,
            overdue=self._conduct.overdue_days(now),
            ahead=minute if is_ahead(minute, now) else "",
        )

    async def _read_head(self) -> VerifiedCheckpoint:
        trust = self.trust
        data = await self.source.fetch(CHECKPOINT_PATH)
        return verify_head(data, trust.log_key, trust.witness_keys, trust.quorum)

    async def _walk(self, head: VerifiedCheckpoint) -> None:
        walk = LogWalk(
            head=head.checkpoint,
            start=self._start,
            previous=self._seen,
            visit=self._visit(),
            report=self._report,
        )
        size = head.checkpoint.size
        ahead = Ahead(self.source.fetch, paths_to_read(self._start.size, size))
        entries = ProvenEntries(self.source, head.checkpoint)
        with _progress() as progress:
            task = progress.add_task("entries verified", total=size)
            try:
                reading = walk.read()
                path = next(reading, None)
                while path is not None:
                    path = _sent(reading.send, await ahead.take(path))
                    progress.update(task, completed=walk.size)
                    await self._settle(walk, entries)
                await self._look_up(entries)
            except (LogInvalid, RuleBroken) as finding:
                self._note(finding)
                raise
            finally:
                await ahead.close()
                self._save(walk)

    def _visit(self) -> Visit:
        read, watch = self._conduct.read, self.watch
        if watch is None:
            return read

        def visit(index: int, entry: bytes) -> None:
            read(index, entry)
            watch(index, entry)

        return visit

    async def _settle(self, walk: LogWalk, entries: ProvenEntries) -> None:
        due = time.monotonic() - self._saved_at_s >= SAVE_EVERY_S
        waiting = len(self._conduct.erasures) + len(self._conduct.selections)
        if due or waiting >= LOOKED_UP_AT_ONCE:
            await self._look_up(entries)
        if due:
            self._save(walk)

    async def _look_up(self, entries: ProvenEntries) -> None:
        """Read older entries in their order, so that each bundle is read once."""
        selections = self._conduct.selections
        selections.sort(key=lambda selection: selection.ranking_id, reverse=True)
        while selections:
            selected = selections[-1].ranking_id
            is_ranking = await is_logged_ranking(entries, selected)
            self._conduct.check_selection(selections.pop(), is_ranking=is_ranking)
        erasures = self._conduct.erasures
        erasures.sort(key=lambda erasure: erasure.target_index, reverse=True)
        while erasures:
            target = await entries.at(erasures[-1].target_index)
            self._conduct.check_erasure(erasures.pop(), target)

    def _save(self, walk: LogWalk) -> None:
        """Save the state up to the first finding, which the next run has to find again.

        Nor is a checkpoint forgotten before the walk has reached it.
        """
        self._saved_at_s = time.monotonic()
        waiting = self._conduct.erasures or self._conduct.selections
        if self.keep and not self._findings and not waiting:
            seen = self._seen
            head = seen if seen and walk.size < seen.size else walk.head
            conduct, key = self._conduct.state, self.trust.log_key
            state = state_of(key, head, walk.edge, conduct)
            save_state(self.keep, replace(state, watched=self.watched))

    def _note(self, finding: Finding) -> None:
        if finding not in self._findings:
            self._findings.append(finding)

    def _report(self, finding: Finding) -> None:
        self._note(finding)
        if not self.collect or len(self._findings) >= MAX_FINDINGS:
            raise finding


def _sent(send: Callable[[bytes | None], str], data: bytes | None) -> str | None:
    try:
        return send(data)
    except StopIteration:
        return None


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
