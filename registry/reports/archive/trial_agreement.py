"""Agreement of an archive's invariance trials with those that the log has."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import to_builtins

from registry.records.canonical import canonical_json, digest_of
from registry.records.record import parse_record
from registry.records.record_fields import Members
from registry.reports.archive.agreement import Agreement
from registry.reports.invariance import TrialCount, digest_swaps

_OTHER = "are not those that the log has"
_UNLOGGED = "no record commits to them"


@dataclass(slots=True, kw_only=True)
class TrialAgreement(Agreement):
    """Agreement of invariance trials with their records.

    start, end: minutes of the window. runs: of the archive, the oldest first. salts: of
    their pairs.
    """

    start: str
    end: str
    runs: Sequence[Sequence[TrialCount]]
    salts: Sequence[str] = ()
    _logged: list[Members] = field(default_factory=list)
    _is_older: bool = False

    def visit(self, _: int, entry: bytes) -> None:
        if b'"kind":"trials"' not in entry:
            return
        members = parse_record(entry)
        minute = str(members["t"])
        self._is_older |= minute < self.start
        if "tallies" in members and self.start <= minute < self.end:
            self._logged.append(members)

    def finish(self) -> None:
        """Compare the newest first: runs from before the first that was logged stand alone."""
        surplus = len(self.runs) - len(self._logged)
        if surplus < 0 or (surplus and self._is_older):
            known = f"and the log has {len(self._logged)}"
            self.differ(f"the archive has {len(self.runs)} runs of trials, {known}")
            return
        if surplus:
            self.lack(f"{surplus} runs of trials: {_UNLOGGED}")
        salts = self.salts or [""] * len(self.runs)
        for run, salt, logged in zip(
            self.runs[surplus:], salts[surplus:], self._logged, strict=True
        ):
            self._compare(run, salt, logged)

    def _compare(self, run: Sequence[TrialCount], salt: str, logged: Members) -> None:
        day, trials = str(logged["day"]), [c for c in run if not c.is_swap]
        swaps = [count for count in run if count.is_swap]
        if digest_of(canonical_json(to_builtins(trials))) != logged["tallies"]:
            self.differ(f"the trials of {day} {_OTHER}")
        if "swaps" in logged and digest_swaps(swaps, salt) != logged["swaps"]:
            self.differ(f"the pairs of sites of {day} {_OTHER}")
        elif swaps and "swaps" not in logged:
            self.lack(f"the pairs of sites of {day}: {_UNLOGGED}")
