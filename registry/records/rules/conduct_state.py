"""The state of the rules between records: plain data, which an auditor keeps.

What a rule can't decide from it alone (`LoggedErasure`, `LoggedSelection`) is decided by
the reader of the entries that it points to.
"""

from dataclasses import dataclass

import msgspec

from registry.errors import ProblemType, Refused
from registry.records.rules.seen_records import SeenRecords

Broken = tuple[ProblemType, str]
"""A broken rule: its kind, and in words what breaks it."""


class RuleBroken(Refused):
    """A record that breaks a rule, alone or by its position among the others."""

    def __init__(self, kind: ProblemType, detail: str, *, entry_index: int) -> None:
        super().__init__(kind, f"entry {entry_index}: {detail}")
        self.entry_index = entry_index


class CommittedDay(msgspec.Struct, kw_only=True):
    """secret: in hex once it is revealed, as committed or not; until then "".

    late_since: the first minute of the log after the time to reveal, or "".
    revealed: the minute of the reveal, or "".
    """

    day: str
    commitment: str
    secret: str = ""
    revealed: str = ""
    late_since: str = ""
    is_reported: bool = msgspec.field(default=False, name="is_told")

    @property
    def is_revealed(self) -> bool:
        return bool(self.secret)


class Counted(msgspec.Struct, kw_only=True):
    """reached: all numbers up to it were seen. ahead: those beyond, and when."""

    reached: int = 0
    ahead: dict[int, str] = {}


class ConductState(msgspec.Struct, kw_only=True):
    """State between records. minute: the newest; seeds: by the leaf of the commitment.

    records: how many of each kind. policies: by digest, the leaf of the record.
    reports: by window, the leaf of the record. ranked: the newest minute of a ranking.
    trials: by day, the commitment of those without results yet; "" once these are logged.
    """

    minute: str = ""
    ranked: str = ""
    records: dict[str, int] = {}
    policies: dict[str, int] = {}
    seeds: dict[int, CommittedDay] = {}
    operators: dict[str, Counted] = {}
    reports: dict[str, int] = {}
    trials: dict[str, str] = {}
    seen: SeenRecords = msgspec.field(default_factory=SeenRecords)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedErasure:
    """An erase record whose target has yet to be looked at: see check_erasure."""

    entry_index: int
    target_index: int
    digests: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSelection:
    """A selection whose ranking is too old to be remembered: see check_selection."""

    entry_index: int
    ranking_id: str
