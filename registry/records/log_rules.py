"""Rules that the records of a log keep, checked one record after another.

What no hash can tell: that a secret was committed to before it decided ties and is
revealed as committed, that a policy was logged before its use, that what is erased was
there, that no ranking of an operator is missing, and that time goes forward. Memory grows
with days, policies and counted operators, never with records; the state is plain data,
so that a reader can stop and go on (`ConductState`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import cast

import msgspec

from registry.errors import ProblemType, Refused, RegistryError
from registry.records.canonical import JsonValue
from registry.records.ranking_record import (
    RankingLine,
    parse_ranking_line,
    ranking_line_of,
)
from registry.records.record import parse_record
from registry.records.refusals import (
    ERASURE_UNFOUNDED,
    OPERATOR_COUNT_BROKEN,
    POLICY_UNLOGGED,
    RECORD_FIELD_INVALID,
    RECORD_OUT_OF_TIME,
    REPORT_LOGGED_TWICE,
    SEED_COMMITTED_TWICE,
    SEED_NOT_OF_THE_DAY,
    SEED_OVERDUE,
    SEED_REVEALED_EARLY,
    SEED_UNCOMMITTED,
    SEED_UNLOGGED,
)
from registry.records.seed import verify_reveal

MERGE_DELAY = timedelta(seconds=1)
RESOLUTION = timedelta(minutes=1)  # of a record's time
REVEAL_WITHIN = timedelta(days=1)  # after the end of the seed's day
REVEAL_GRACE = timedelta(hours=1)  # where the registry stood still at that time
MAX_AHEAD = 4_096  # numbers of one operator that wait for an earlier one

Members = Mapping[str, JsonValue]


class RuleBroken(Refused):
    """A record that breaks a rule, alone or by its place among the others."""

    def __init__(self, kind: ProblemType, detail: str, *, entry_index: int) -> None:
        super().__init__(kind, f"entry {entry_index}: {detail}")
        self.entry_index = entry_index


class CommittedDay(msgspec.Struct, kw_only=True):
    """secret: in hex once it is revealed, as committed or not; until then "".

    late_since: the first minute of the log after the time to reveal, or "".
    """

    day: str
    commitment: str
    secret: str = ""
    late_since: str = ""
    is_told: bool = False

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
    reports: by window, the leaf of the record.
    """

    minute: str = ""
    records: dict[str, int] = {}
    policies: dict[str, int] = {}
    seeds: dict[int, CommittedDay] = {}
    operators: dict[str, Counted] = {}
    reports: dict[str, int] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedErasure:
    """An erase record whose target has yet to be looked at: see check_erasure."""

    entry_index: int
    target_index: int
    digests: tuple[str, ...]


def raise_it(broken: RuleBroken) -> None:
    raise broken


class Conduct:
    """Reads records in the order of the log. report: told what is broken.

    erasures: to be checked by whoever can read the entries that they point to, and
    cleared.
    """

    def __init__(
        self,
        state: ConductState | None = None,
        *,
        report: Callable[[RuleBroken], None] = raise_it,
    ) -> None:
        self.state = state or ConductState()
        self.erasures: list[LoggedErasure] = []
        self._report = report
        # What a new minute has to look at, so that it does not look at everything.
        self._unrevealed = [
            seed for seed in self.state.seeds.values() if not seed.is_revealed
        ]
        self._waiting = {
            name for name, counted in self.state.operators.items() if counted.ahead
        }

    def read(self, index: int, body: bytes) -> None:
        """index: of the entry. Raises: what `report` raises."""
        line = parse_ranking_line(body)
        if line is not None:
            self._count("ranking")
            self._read_ranking(index, line)
            return
        try:
            members = parse_record(body)
        except RegistryError as refused:
            problem = refused.problem
            kind = ProblemType(problem.code, problem.title, problem.fix)
            at = f"{problem.pointer} " if problem.pointer else ""
            self._tell(kind, f"{at}{problem.detail}", index)
            return
        self._count(str(members["kind"]))
        self._read_members(index, members)

    def check_erasure(self, erasure: LoggedErasure, target: bytes) -> None:
        """target: the entry at its target_index."""
        try:
            present = parse_record(target).get("_sd", ())
        except RegistryError:
            present = ()
        missing = set(erasure.digests) - set(cast("Sequence[str]", present))
        if missing:
            detail = f"entry {erasure.target_index} has no digest {min(missing)}"
            self._tell(ERASURE_UNFOUNDED, detail, erasure.entry_index)

    def overdue_days(self, now: datetime) -> list[str]:
        """Days whose secret should be revealed by now, whether or not the log goes on."""
        return sorted(
            seed.day
            for seed in self.state.seeds.values()
            if not seed.is_revealed and _due_at(seed.day) < now
        )

    def _read_members(self, index: int, members: Members) -> None:
        kind = members["kind"]
        if kind == "ranking":
            self._read_ranking(index, ranking_line_of(members))
            return
        self._advance(index, str(members["t"]))
        if kind == "policy":
            self.state.policies.setdefault(str(members["policy"]), index)
        elif kind == "erase":
            self._read_erase(index, members)
        elif kind == "report":
            self._read_report(index, members)
        elif kind == "seed" and "commitment" in members:
            self._read_commitment(index, members)
        elif kind == "seed":
            self._read_reveal(index, members)

    def _read_ranking(self, index: int, line: RankingLine) -> None:
        self._advance(index, line.minute)
        if line.policy not in self.state.policies:
            self._tell(POLICY_UNLOGGED, f"no policy {line.policy} before it", index)
        seed = self.state.seeds.get(line.seed_index)
        if seed is None:
            detail = f"entry {line.seed_index} is no commitment before it"
            self._tell(SEED_UNLOGGED, detail, index)
        elif seed.day > line.minute[:10]:
            detail = f"the seed of {seed.day} at {line.minute}"
            self._tell(SEED_NOT_OF_THE_DAY, detail, index)
        if line.operator_count is not None:
            self._read_number(index, line.operator, line.operator_count)

    def _read_erase(self, index: int, members: Members) -> None:
        """Read an erasure: one of a range names no digests, since all of it is erased."""
        target = cast("int", members["index"])
        last = cast("int", members.get("last", target))
        if max(target, last) >= index:
            self._tell(ERASURE_UNFOUNDED, f"entry {last} is not before it", index)
            return
        if "last" in members:
            return
        digests = tuple(cast("Sequence[str]", members["fields"]))
        self.erasures.append(
            LoggedErasure(entry_index=index, target_index=target, digests=digests)
        )

    def _read_report(self, index: int, members: Members) -> None:
        window = " to ".join(str(members[name]) for name in ("from", "to"))
        first = self.state.reports.setdefault(window, index)
        if first != index:
            detail = f"that of {window} stands at entry {first} already"
            self._tell(REPORT_LOGGED_TWICE, detail, index)

    # --- seeds ---

    def _read_commitment(self, index: int, members: Members) -> None:
        day = str(members["day"])
        if not _is_day(day):
            self._tell(RECORD_FIELD_INVALID, f"/day no such day: {day}", index)
        elif self._seed_of(day) is not None:
            self._tell(SEED_COMMITTED_TWICE, f"the second for {day}", index)
        else:
            commitment = str(members["commitment"])
            seed = CommittedDay(day=day, commitment=commitment)
            self.state.seeds[index] = seed
            self._unrevealed.append(seed)

    def _read_reveal(self, index: int, members: Members) -> None:
        day = str(members["day"])
        seed = self._seed_of(day)
        if seed is None or seed.is_revealed:
            reason = "revealed before" if seed else "not committed to before"
            self._tell(SEED_UNCOMMITTED, f"the secret of {day} was {reason}", index)
            return
        if str(members["t"])[:10] <= day:
            self._tell(SEED_REVEALED_EARLY, f"that of {day}", index)
        try:
            verify_reveal(bytes.fromhex(str(members["secret"])), seed.commitment)
        except Refused as refused:
            problem = refused.problem
            kind = ProblemType(problem.code, problem.title, problem.fix)
            self._tell(kind, f"the secret of {day} is not the committed one", index)
        seed.secret = str(members["secret"])
        self._unrevealed.remove(seed)

    def _seed_of(self, day: str) -> CommittedDay | None:
        return next(
            (seed for seed in self.state.seeds.values() if seed.day == day), None
        )

    def _look_for_overdue(self, index: int, now: datetime) -> None:
        for seed in self._unrevealed:
            if seed.is_told or now <= _due_at(seed.day):
                continue
            if not seed.late_since:
                seed.late_since = self.state.minute
            elif now > _instant(seed.late_since) + REVEAL_GRACE:
                seed.is_told = True
                detail = f"that of {seed.day} is not revealed at {self.state.minute}"
                self._tell(SEED_OVERDUE, detail, index)

    # --- operators ---

    def _read_number(self, index: int, operator: str, number: int) -> None:
        """Numbers may arrive in another order, as answers are recorded side by side."""
        counted = self.state.operators.setdefault(operator, Counted())
        if number <= counted.reached or number in counted.ahead:
            detail = f"ranking {number} of {operator} stands in the log already"
            self._tell(OPERATOR_COUNT_BROKEN, detail, index)
            return
        counted.ahead[number] = self.state.minute
        while counted.reached + 1 in counted.ahead:
            counted.reached += 1
            del counted.ahead[counted.reached]
        if counted.ahead:
            self._waiting.add(operator)
        else:
            self._waiting.discard(operator)
        if len(counted.ahead) > MAX_AHEAD:
            self._tell_gap(index, operator, counted)

    def _look_for_gaps(self, index: int, now: datetime) -> None:
        for operator in sorted(self._waiting):
            counted = self.state.operators[operator]
            first = _instant(min(counted.ahead.values()))
            if now - first > MERGE_DELAY + RESOLUTION:
                self._tell_gap(index, operator, counted)

    def _tell_gap(self, index: int, operator: str, counted: Counted) -> None:
        missing, present = counted.reached + 1, min(counted.ahead)
        counted.reached = max(counted.ahead)
        counted.ahead.clear()
        self._waiting.discard(operator)
        detail = f"of {operator}, ranking {missing} is missing before ranking {present}"
        self._tell(OPERATOR_COUNT_BROKEN, detail, index)

    # --- time ---

    def _advance(self, index: int, minute: str) -> None:
        if minute == self.state.minute:
            return
        try:
            now = _instant(minute)
        except ValueError:
            self._tell(RECORD_FIELD_INVALID, f"/t no such time: {minute}", index)
            return
        if minute > self.state.minute:
            self.state.minute = minute
            self._look_for_overdue(index, now)
            self._look_for_gaps(index, now)
        elif _instant(self.state.minute) - now > MERGE_DELAY + RESOLUTION:
            detail = f"{minute} stands after {self.state.minute}"
            self._tell(RECORD_OUT_OF_TIME, detail, index)

    def _count(self, kind: str) -> None:
        self.state.records[kind] = self.state.records.get(kind, 0) + 1

    def _tell(self, kind: ProblemType, detail: str, index: int) -> None:
        self._report(RuleBroken(kind, detail, entry_index=index))


def _instant(minute: str) -> datetime:
    """Raises: ValueError where the calendar has no such minute."""
    return datetime.fromisoformat(minute)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _due_at(day: str) -> datetime:
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
    return start + timedelta(days=1) + REVEAL_WITHIN
