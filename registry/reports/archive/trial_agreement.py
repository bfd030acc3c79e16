"""Agreement of an archive's invariance trials with those that the log tells of."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import to_builtins

from registry.records.canonical import canonical_json, digest_of
from registry.records.record import parse_record
from registry.reports.invariance import TrialCount


@dataclass(slots=True, kw_only=True)
class TrialAgreement:
    """Feed it every entry of a sound log by `visit`, then ask `finish`.

    start, end: minutes of the window. runs: of the archive, the oldest first.
    differences: sentences.
    """

    start: str
    end: str
    runs: Sequence[Sequence[TrialCount]]
    differences: list[str] = field(default_factory=list)
    _logged: list[tuple[str, str]] = field(default_factory=list)
    _is_older: bool = False

    def visit(self, entry: bytes) -> None:
        if b'"kind":"trials"' not in entry:
            return
        members = parse_record(entry)
        minute = str(members["t"])
        self._is_older |= minute < self.start
        if "tallies" in members and self.start <= minute < self.end:
            self._logged.append((str(members["day"]), str(members["tallies"])))

    def finish(self) -> None:
        """Compare the newest first: runs from before the first that was logged stand alone."""
        tried = [[count for count in run if not count.is_swap] for run in self.runs]
        own = [digest_of(canonical_json(to_builtins(run))) for run in tried]
        surplus = len(own) - len(self._logged)
        if surplus < 0 or (surplus and self._is_older):
            runs = (
                f"{len(own)} runs of trials, and the log tells of {len(self._logged)}"
            )
            self.differences.append(f"the archive has {runs}")
            return
        self.differences += [
            f"the trials of {day} are not those that the log tells of"
            for digest, (day, logged) in zip(own[surplus:], self._logged, strict=True)
            if digest != logged
        ]
