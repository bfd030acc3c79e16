"""Rules that the records of a log keep, checked one record after another.

What no hash can tell: that a secret was committed to before it decided ties and is
revealed as committed, that a policy was logged before its use, that what is erased or
selected was there, that no record stands twice, that no ranking of an operator is missing,
and that time goes forward. Memory grows with days, policies, counted operators and the
selections of a week, never with records; the state is plain data, so that a reader can
stop and go on (`ConductState`).
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from datetime import datetime
from typing import cast

from registry.errors import RegistryError
from registry.records import refusals
from registry.records.ranking_record import (
    RankingLine,
    parse_ranking_line,
    ranking_line_of,
)
from registry.records.record import parse_record
from registry.records.record_fields import VERSION, Members
from registry.records.rules.auditor_statements import STATEMENTS, verify_statement
from registry.records.rules.calendar_days import OUT_OF_ORDER, instant_of_minute
from registry.records.rules.conduct_state import (
    Broken,
    ConductState,
    LoggedErasure,
    LoggedSelection,
    RuleBroken,
)
from registry.records.rules.day_secrets import DaySecrets
from registry.records.rules.operator_counts import OperatorCounts
from registry.records.rules.seen_records import (
    DAY_MIN,
    ID_TOLERANCE_MIN,
    SELECTABLE_DAYS,
    minute_of_id,
)
from registry.records.rules.trial_rules import read_trials


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
        self._secrets = DaySecrets(self.state)
        self._counts = OperatorCounts(self.state)
        self._clock = ("", 0)
        self._report = report
        self._origin = origin

    def read(self, index: int, body: bytes) -> None:
        """index: of the entry. Raises: what `report` raises."""
        line = parse_ranking_line(body)
        if line is not None:
            self._count("ranking")
            self._note(index, self._read_ranking(line))
        else:
            self._note(index, self._read_other(index, body))

    def check_erasure(self, erasure: LoggedErasure, target: bytes) -> None:
        """target: the entry at its target_index."""
        self._note(erasure.entry_index, _erasure_faults(erasure, target))

    def check_selection(self, selection: LoggedSelection, *, is_ranking: bool) -> None:
        """is_ranking: whether a ranking of that id stands in the log."""
        if not is_ranking:
            detail = f"no ranking {selection.ranking_id} before it"
            fault = (refusals.SELECTION_UNFOUNDED, detail)
            self._note(selection.entry_index, [fault])

    def overdue_days(self, now: datetime) -> list[str]:
        """Days whose secret should be revealed by now, whether or not the log goes on."""
        return self._secrets.overdue(now)

    def _note(self, index: int, faults: Iterable[Broken]) -> None:
        for kind, detail in faults:
            self._report(RuleBroken(kind, detail, entry_index=index))

    def _read_other(self, index: int, body: bytes) -> Iterator[Broken]:
        """Read what is no ranking, or a ranking in an older form."""
        try:
            members = parse_record(body)
        except RegistryError as refused:
            problem = refused.problem
            at = f"{problem.pointer} " if problem.pointer else ""
            yield problem.kind, f"{at}{problem.detail}"
            return
        kind, minute = str(members["kind"]), str(members["t"])
        self._count(kind)
        if kind == "ranking":
            yield from self._read_ranking(ranking_line_of(members))
        elif (yield from self._advance(minute)):
            yield from self._read_id(str(members["id"]), minute, is_ranking=False)
            yield from self._read_kind(kind, index, members)

    def _read_kind(self, kind: str, index: int, members: Members) -> Iterator[Broken]:
        if kind == "policy":
            self.state.policies.setdefault(str(members["policy"]), index)
        elif kind == "erase":
            yield from self._read_erase(index, members)
        elif kind == "selection":
            yield from self._read_selection(index, members)
        elif kind in STATEMENTS:
            yield from self._read_statement(index, members)
        elif kind == "report":
            yield from self._read_report(index, members)
        elif kind == "trials" and (broken := read_trials(self.state, members)):
            yield refusals.TRIALS_UNSOUND, broken
        elif kind == "seed" and "commitment" in members:
            yield from self._secrets.read_commitment(index, members)
        elif kind == "seed":
            yield from self._secrets.read_reveal(members)

    def _read_ranking(self, line: RankingLine) -> Iterator[Broken]:
        if not (yield from self._advance(line.minute)):
            return
        yield from self._read_id(line.record_id, line.minute, is_ranking=True)
        self.state.ranked = max(self.state.ranked, line.minute)
        if line.policy not in self.state.policies:
            yield refusals.POLICY_UNLOGGED, f"no policy {line.policy} before it"
        yield from self._secrets.read_use(line.seed_index, line.minute)
        if line.operator_count is not None:
            yield from self._counts.read(line.operator, line.operator_count)

    def _read_id(
        self, record_id: str, minute: str, *, is_ranking: bool
    ) -> Iterator[Broken]:
        own, clock = minute_of_id(record_id), self._minutes(minute)
        if abs(own - clock) > ID_TOLERANCE_MIN:
            detail = f"the id {record_id} is not of {minute}"
            yield refusals.RECORD_ID_OUT_OF_TIME, detail
        elif not self.state.seen.add(record_id, own, is_ranking=is_ranking):
            yield refusals.RECORD_LOGGED_TWICE, f"{record_id} stands in the log already"

    def _read_selection(self, index: int, members: Members) -> Iterator[Broken]:
        ranking_id, seen = str(members["ranking"]), self.state.seen
        age_min = self._minutes(str(members["t"])) - minute_of_id(ranking_id)
        oldest = SELECTABLE_DAYS * DAY_MIN + 1 if members["v"] != VERSION else age_min
        if not -ID_TOLERANCE_MIN <= age_min <= oldest:
            detail = f"{ranking_id} is not of the {SELECTABLE_DAYS} days before it"
            yield refusals.SELECTION_UNFOUNDED, detail
            return
        is_ranking = seen.is_ranking(ranking_id)
        selection = LoggedSelection(entry_index=index, ranking_id=ranking_id)
        if is_ranking is None:
            self.selections.append(selection)
        else:
            self.check_selection(selection, is_ranking=is_ranking)
        if not seen.select(ranking_id):
            detail = f"{ranking_id} has a selection already"
            yield refusals.SELECTION_LOGGED_TWICE, detail

    def _read_erase(self, index: int, members: Members) -> Iterator[Broken]:
        """Read an erasure: one of a range begins and ends with rankings, and names no digests."""
        target = cast("int", members["index"])
        last = cast("int", members.get("last", target))
        if max(target, last) >= index:
            yield refusals.ERASURE_UNFOUNDED, f"entry {last} is not before it"
            return
        digests = tuple(cast("Sequence[str]", members["fields"]))
        for end in {target, last}:
            erasure = LoggedErasure(
                entry_index=index, target_index=end, digests=digests
            )
            self.erasures.append(erasure)

    def _read_statement(self, index: int, members: Members) -> Iterator[Broken]:
        last = cast("int", members.get("last", -1))
        if last >= index:
            yield refusals.ATTESTATION_UNFOUNDED, f"entry {last} is not before it"
        try:
            verify_statement(members, self._origin)
        except RegistryError as refused:
            yield refused.problem.kind, refused.problem.detail

    def _read_report(self, index: int, members: Members) -> Iterator[Broken]:
        window = " to ".join(str(members[name]) for name in ("from", "to"))
        first = self.state.reports.setdefault(window, index)
        if first != index:
            detail = f"that of {window} stands at entry {first} already"
            yield refusals.REPORT_LOGGED_TWICE, detail

    def _advance(self, minute: str) -> Generator[Broken, None, bool]:
        """Return whether there is such a time."""
        if minute == self.state.minute:
            return True
        try:
            now = instant_of_minute(minute)
        except ValueError:
            yield refusals.RECORD_FIELD_INVALID, f"/t no such time: {minute}"
            return False
        if minute > self.state.minute:
            self.state.minute = minute
            self.state.seen.forget(self._minutes(minute))
            yield from self._secrets.look_for_overdue(now)
            yield from self._counts.look_for_gaps(now)
        elif instant_of_minute(self.state.minute) - now > OUT_OF_ORDER:
            detail = f"{minute} stands after {self.state.minute}"
            yield refusals.RECORD_OUT_OF_TIME, detail
        return True

    def _minutes(self, minute: str) -> int:
        """Return the minutes since 1970; those of the newest minute are remembered."""
        if minute != self._clock[0]:
            self._clock = (minute, int(instant_of_minute(minute).timestamp()) // 60)
        return self._clock[1]

    def _count(self, kind: str) -> None:
        self.state.records[kind] = self.state.records.get(kind, 0) + 1


def _erasure_faults(erasure: LoggedErasure, target: bytes) -> Iterator[Broken]:
    try:
        members = parse_record(target)
    except RegistryError:
        members = {}
    if members.get("kind") != "ranking":
        detail = f"entry {erasure.target_index} has nothing that can be erased"
        yield refusals.ERASURE_UNFOUNDED, detail
        return
    missing = set(erasure.digests) - set(cast("Sequence[str]", members["_sd"]))
    if missing:
        detail = f"entry {erasure.target_index} has no digest {min(missing)}"
        yield refusals.ERASURE_UNFOUNDED, detail
