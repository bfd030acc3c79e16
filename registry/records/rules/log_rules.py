"""Rules that the records of a log keep, checked one record after another.

What no hash can tell: that a secret was committed to before it decided ties and is
revealed as committed, that a policy was logged before its use, that what is erased or
selected was there, that no record stands twice, that no ranking of an operator is missing,
and that time goes forward. Memory grows with days, policies, counted operators and the
selections of a week, never with records; the state is plain data, so that a reader can
stop and go on (`ConductState`).
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import cast

from registry.errors import ProblemType, Refused, RegistryError
from registry.records import refusals
from registry.records.canonical import JsonValue
from registry.records.ranking_record import (
    RankingLine,
    parse_ranking_line,
    ranking_line_of,
)
from registry.records.record import parse_record
from registry.records.record_fields import VERSION
from registry.records.rules.auditor_statements import STATEMENTS, verify_statement
from registry.records.rules.calendar_days import (
    day_after,
    instant_of_minute,
    is_day,
    reveal_due_at,
)
from registry.records.rules.conduct_state import (
    CommittedDay,
    ConductState,
    Counted,
    LoggedErasure,
    LoggedSelection,
    RuleBroken,
)
from registry.records.rules.seen_records import (
    DAY_MIN,
    ID_TOLERANCE_MIN,
    SELECTABLE_DAYS,
    minute_of_id,
)
from registry.records.rules.trial_rules import read_trials
from registry.records.seed import verify_reveal

MERGE_DELAY = timedelta(seconds=1)
RESOLUTION = timedelta(minutes=1)  # of a record's time
REVEAL_GRACE = timedelta(hours=1)  # where the registry stood still at that time
COMMIT_BY = timedelta(hours=1)  # into a day with rankings, tomorrow is committed to
MAX_AHEAD = 4_096  # numbers of one operator that wait for an earlier one

Members = Mapping[str, JsonValue]


def raise_it(broken: RuleBroken) -> None:
    raise broken


class Conduct:
    """Reads records in the order of the log. report: called with each broken rule.

    origin: of the log, which auditors' statements name.
    erasures, selections: to be checked by a reader of the entries that they point
    to, and cleared.
    """

    def __init__(
        self,
        state: ConductState | None = None,
        *,
        origin: str,
        report: Callable[[RuleBroken], None] = raise_it,
    ) -> None:
        self.state = state or ConductState()
        self.erasures: list[LoggedErasure] = []
        self.selections: list[LoggedSelection] = []
        self._clock = ("", 0)
        self._report = report
        self._origin = origin
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
            at = f"{problem.pointer} " if problem.pointer else ""
            self._note(problem.kind, f"{at}{problem.detail}", index)
            return
        self._count(str(members["kind"]))
        self._read_members(index, members)

    def check_erasure(self, erasure: LoggedErasure, target: bytes) -> None:
        """target: the entry at its target_index."""
        try:
            members = parse_record(target)
        except RegistryError:
            members = {}
        if members.get("kind") != "ranking":
            detail = f"entry {erasure.target_index} has nothing that can be erased"
            self._note(refusals.ERASURE_UNFOUNDED, detail, erasure.entry_index)
            return
        missing = set(erasure.digests) - set(cast("Sequence[str]", members["_sd"]))
        if missing:
            detail = f"entry {erasure.target_index} has no digest {min(missing)}"
            self._note(refusals.ERASURE_UNFOUNDED, detail, erasure.entry_index)

    def check_selection(self, selection: LoggedSelection, *, is_ranking: bool) -> None:
        """is_ranking: whether a ranking of that id stands in the log."""
        if not is_ranking:
            detail = f"no ranking {selection.ranking_id} before it"
            self._note(refusals.SELECTION_UNFOUNDED, detail, selection.entry_index)

    def overdue_days(self, now: datetime) -> list[str]:
        """Days whose secret should be revealed by now, whether or not the log goes on."""
        return sorted(
            seed.day
            for seed in self.state.seeds.values()
            if not seed.is_revealed and reveal_due_at(seed.day) < now
        )

    def _read_members(self, index: int, members: Members) -> None:
        kind = members["kind"]
        if kind == "ranking":
            self._read_ranking(index, ranking_line_of(members))
            return
        if not self._advance(index, str(members["t"])):
            return
        self._read_id(index, str(members["id"]), str(members["t"]), is_ranking=False)
        if kind == "policy":
            self.state.policies.setdefault(str(members["policy"]), index)
        elif kind == "erase":
            self._read_erase(index, members)
        elif kind == "selection":
            self._read_selection(index, members)
        elif kind in STATEMENTS:
            self._read_statement(index, members)
        elif kind == "report":
            self._read_report(index, members)
        elif kind == "trials" and (broken := read_trials(self.state, members)):
            self._note(refusals.TRIALS_UNSOUND, broken, index)
        elif kind == "seed":
            is_ahead = "commitment" in members
            (self._read_commitment if is_ahead else self._read_reveal)(index, members)

    def _read_ranking(self, index: int, line: RankingLine) -> None:
        if not self._advance(index, line.minute):
            return
        self._read_id(index, line.record_id, line.minute, is_ranking=True)
        self.state.ranked = max(self.state.ranked, line.minute)
        if line.policy not in self.state.policies:
            self._note(
                refusals.POLICY_UNLOGGED, f"no policy {line.policy} before it", index
            )
        seed = self.state.seeds.get(line.seed_index)
        if seed is None:
            detail = f"entry {line.seed_index} is no commitment before it"
            self._note(refusals.SEED_UNLOGGED, detail, index)
        else:
            self._check_seed(index, seed, line.minute)
        if line.operator_count is not None:
            self._read_number(index, line.operator, line.operator_count)

    def _check_seed(self, index: int, seed: CommittedDay, minute: str) -> None:
        """Check that it is the day's own, or that of the day before for a further page."""
        detail = f"the seed of {seed.day} at {minute}"
        if not seed.day <= minute[:10] <= day_after(seed.day):
            self._note(refusals.SEED_NOT_OF_THE_DAY, detail, index)
        elif (
            seed.revealed
            and instant_of_minute(minute) - instant_of_minute(seed.revealed)
            > RESOLUTION
        ):
            self._note(refusals.SEED_USED_AFTER_REVEAL, detail, index)

    def _read_id(
        self, index: int, record_id: str, minute: str, *, is_ranking: bool
    ) -> None:
        own, clock = minute_of_id(record_id), self._minutes(minute)
        if abs(own - clock) > ID_TOLERANCE_MIN:
            detail = f"the id {record_id} is not of {minute}"
            self._note(refusals.RECORD_ID_OUT_OF_TIME, detail, index)
        elif not self.state.seen.add(record_id, own, is_ranking=is_ranking):
            detail = f"{record_id} stands in the log already"
            self._note(refusals.RECORD_LOGGED_TWICE, detail, index)

    def _read_selection(self, index: int, members: Members) -> None:
        ranking_id, seen = str(members["ranking"]), self.state.seen
        age_min = self._minutes(str(members["t"])) - minute_of_id(ranking_id)
        oldest = SELECTABLE_DAYS * DAY_MIN + 1 if members["v"] != VERSION else age_min
        if not -ID_TOLERANCE_MIN <= age_min <= oldest:
            detail = f"{ranking_id} is not of the {SELECTABLE_DAYS} days before it"
            self._note(refusals.SELECTION_UNFOUNDED, detail, index)
            return
        is_ranking = seen.is_ranking(ranking_id)
        selection = LoggedSelection(entry_index=index, ranking_id=ranking_id)
        if is_ranking is None:
            self.selections.append(selection)
        else:
            self.check_selection(selection, is_ranking=is_ranking)
        if not seen.select(ranking_id):
            detail = f"{ranking_id} has a selection already"
            self._note(refusals.SELECTION_LOGGED_TWICE, detail, index)

    def _read_erase(self, index: int, members: Members) -> None:
        """Read an erasure: one of a range begins and ends with rankings, and names no digests."""
        target = cast("int", members["index"])
        last = cast("int", members.get("last", target))
        if max(target, last) >= index:
            self._note(
                refusals.ERASURE_UNFOUNDED, f"entry {last} is not before it", index
            )
            return
        digests = tuple(cast("Sequence[str]", members["fields"]))
        for end in {target, last}:
            erasure = LoggedErasure(
                entry_index=index, target_index=end, digests=digests
            )
            self.erasures.append(erasure)

    def _read_statement(self, index: int, members: Members) -> None:
        last = cast("int", members.get("last", -1))
        if last >= index:
            detail = f"entry {last} is not before it"
            self._note(refusals.ATTESTATION_UNFOUNDED, detail, index)
        try:
            verify_statement(members, self._origin)
        except RegistryError as refused:
            self._note(refused.problem.kind, refused.problem.detail, index)

    def _read_report(self, index: int, members: Members) -> None:
        window = " to ".join(str(members[name]) for name in ("from", "to"))
        first = self.state.reports.setdefault(window, index)
        if first != index:
            detail = f"that of {window} stands at entry {first} already"
            self._note(refusals.REPORT_LOGGED_TWICE, detail, index)

    # --- seeds ---

    def _read_commitment(self, index: int, members: Members) -> None:
        day = str(members["day"])
        if not is_day(day):
            self._note(refusals.RECORD_FIELD_INVALID, f"/day no such day: {day}", index)
        elif self._seed_of(day) is not None:
            self._note(refusals.SEED_COMMITTED_TWICE, f"the second for {day}", index)
        else:
            if self._is_committed_late(day, str(members["t"])):
                self._note(refusals.SEED_COMMITTED_LATE, f"that of {day}", index)
            commitment = str(members["commitment"])
            seed = CommittedDay(day=day, commitment=commitment)
            self.state.seeds[index] = seed
            self._unrevealed.append(seed)

    def _is_committed_late(self, day: str, minute: str) -> bool:
        """Return whether the day had begun, and there were rankings on the day before.

        A registry that begins, or stood still, commits to the day on which it does.
        """
        if minute[:10] < day or not self.state.ranked:
            return False
        start = datetime.combine(date.fromisoformat(day), datetime.min.time(), UTC)
        return (
            instant_of_minute(self.state.ranked)
            >= start - timedelta(days=1) + COMMIT_BY
        )

    def _read_reveal(self, index: int, members: Members) -> None:
        day = str(members["day"])
        seed = self._seed_of(day)
        if seed is None or seed.is_revealed:
            reason = "revealed before" if seed else "not committed to before"
            self._note(
                refusals.SEED_UNCOMMITTED, f"the secret of {day} was {reason}", index
            )
            return
        if str(members["t"])[:10] <= day:
            self._note(refusals.SEED_REVEALED_EARLY, f"that of {day}", index)
        try:
            verify_reveal(bytes.fromhex(str(members["secret"])), seed.commitment)
        except Refused as refused:
            detail = f"the secret of {day} is not the committed one"
            self._note(refused.problem.kind, detail, index)
        seed.secret, seed.revealed = str(members["secret"]), str(members["t"])
        self._unrevealed.remove(seed)

    def _seed_of(self, day: str) -> CommittedDay | None:
        return next(
            (seed for seed in self.state.seeds.values() if seed.day == day), None
        )

    def _look_for_overdue(self, index: int, now: datetime) -> None:
        for seed in self._unrevealed:
            if seed.is_reported or now <= reveal_due_at(seed.day):
                continue
            if not seed.late_since:
                seed.late_since = self.state.minute
            elif now > instant_of_minute(seed.late_since) + REVEAL_GRACE:
                seed.is_reported = True
                detail = f"that of {seed.day} is not revealed at {self.state.minute}"
                self._note(refusals.SEED_OVERDUE, detail, index)

    # --- operators ---

    def _read_number(self, index: int, operator: str, number: int) -> None:
        """Numbers may arrive in another order, as answers are recorded side by side."""
        counted = self.state.operators.setdefault(operator, Counted())
        if number <= counted.reached or number in counted.ahead:
            detail = f"ranking {number} of {operator} stands in the log already"
            self._note(refusals.OPERATOR_COUNT_BROKEN, detail, index)
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
            self._note_gap(index, operator, counted)

    def _look_for_gaps(self, index: int, now: datetime) -> None:
        for operator in sorted(self._waiting):
            counted = self.state.operators[operator]
            first = instant_of_minute(min(counted.ahead.values()))
            if now - first > MERGE_DELAY + RESOLUTION:
                self._note_gap(index, operator, counted)

    def _note_gap(self, index: int, operator: str, counted: Counted) -> None:
        missing, present = counted.reached + 1, min(counted.ahead)
        counted.reached = max(counted.ahead)
        counted.ahead.clear()
        self._waiting.discard(operator)
        detail = f"of {operator}, ranking {missing} is missing before ranking {present}"
        self._note(refusals.OPERATOR_COUNT_BROKEN, detail, index)

    # --- time ---

    def _advance(self, index: int, minute: str) -> bool:
        """Return whether there is such a time."""
        if minute == self.state.minute:
            return True
        try:
            now = instant_of_minute(minute)
        except ValueError:
            self._note(
                refusals.RECORD_FIELD_INVALID, f"/t no such time: {minute}", index
            )
            return False
        if minute > self.state.minute:
            self.state.minute = minute
            self.state.seen.forget(self._minutes(minute))
            self._look_for_overdue(index, now)
            self._look_for_gaps(index, now)
        elif instant_of_minute(self.state.minute) - now > MERGE_DELAY + RESOLUTION:
            detail = f"{minute} stands after {self.state.minute}"
            self._note(refusals.RECORD_OUT_OF_TIME, detail, index)
        return True

    def _minutes(self, minute: str) -> int:
        """Return the minutes since 1970; those of the newest minute are remembered."""
        if minute != self._clock[0]:
            self._clock = (minute, int(instant_of_minute(minute).timestamp()) // 60)
        return self._clock[1]

    def _count(self, kind: str) -> None:
        self.state.records[kind] = self.state.records.get(kind, 0) + 1

    def _note(self, kind: ProblemType, detail: str, index: int) -> None:
        self._report(RuleBroken(kind, detail, entry_index=index))
