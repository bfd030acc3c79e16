"""Rules of the days' secrets: each committed to ahead, used on its day, revealed after it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from registry.errors import Refused
from registry.records import refusals
from registry.records.record_fields import Members
from registry.records.rules.calendar_days import (
    RESOLUTION,
    day_after,
    instant_of_minute,
    is_day,
    reveal_due_at,
    start_of,
)
from registry.records.rules.conduct_state import Broken, CommittedDay, ConductState
from registry.records.seed import verify_reveal

REVEAL_GRACE = timedelta(hours=1)  # where the registry stood still at that time
COMMIT_BY = timedelta(hours=1)  # into a day with rankings, tomorrow is committed to


class DaySecrets:
    def __init__(self, state: ConductState) -> None:
        self._state = state
        # What a new minute has to look at, so that it does not look at everything.
        self._unrevealed = [
            seed for seed in state.seeds.values() if not seed.is_revealed
        ]

    def read_commitment(self, index: int, members: Members) -> Iterator[Broken]:
        day = str(members["day"])
        if not is_day(day):
            yield refusals.RECORD_FIELD_INVALID, f"/day no such day: {day}"
        elif self._of(day) is not None:
            yield refusals.SEED_COMMITTED_TWICE, f"the second for {day}"
        else:
            if self._is_committed_late(day, str(members["t"])):
                yield refusals.SEED_COMMITTED_LATE, f"that of {day}"
            seed = CommittedDay(day=day, commitment=str(members["commitment"]))
            self._state.seeds[index] = seed
            self._unrevealed.append(seed)

    def read_use(self, seed_index: int, minute: str) -> Iterator[Broken]:
        """Check that it is the day's own, or that of the day before for a further page."""
        seed = self._state.seeds.get(seed_index)
        if seed is None:
            yield (
                refusals.SEED_UNLOGGED,
                f"entry {seed_index} is no commitment before it",
            )
        elif not seed.day <= minute[:10] <= day_after(seed.day):
            yield refusals.SEED_NOT_OF_THE_DAY, f"the seed of {seed.day} at {minute}"
        elif (
            seed.revealed
            and instant_of_minute(minute) - instant_of_minute(seed.revealed)
            > RESOLUTION
        ):
            yield refusals.SEED_USED_AFTER_REVEAL, f"the seed of {seed.day} at {minute}"

    def read_reveal(self, members: Members) -> Iterator[Broken]:
        day = str(members["day"])
        seed = self._of(day)
        if seed is None or seed.is_revealed:
            reason = "revealed before" if seed else "not committed to before"
            yield refusals.SEED_UNCOMMITTED, f"the secret of {day} was {reason}"
            return
        if str(members["t"])[:10] <= day:
            yield refusals.SEED_REVEALED_EARLY, f"that of {day}"
        try:
            verify_reveal(bytes.fromhex(str(members["secret"])), seed.commitment)
        except Refused as refused:
            yield refused.problem.kind, f"the secret of {day} is not the committed one"
        seed.secret, seed.revealed = str(members["secret"]), str(members["t"])
        self._unrevealed.remove(seed)

    def look_for_overdue(self, now: datetime) -> Iterator[Broken]:
        for seed in self._unrevealed:
            if seed.is_reported or now <= reveal_due_at(seed.day):
                continue
            minute = self._state.minute
            if not seed.late_since:
                seed.late_since = minute
            elif now > instant_of_minute(seed.late_since) + REVEAL_GRACE:
                seed.is_reported = True
                detail = f"that of {seed.day} is not revealed at {minute}"
                yield refusals.SEED_OVERDUE, detail

    def overdue(self, now: datetime) -> list[str]:
        """Return days whose secret should be revealed by now, even if the log stands still."""
        return sorted(
            seed.day for seed in self._unrevealed if reveal_due_at(seed.day) < now
        )

    def _of(self, day: str) -> CommittedDay | None:
        seeds = self._state.seeds.values()
        return next((seed for seed in seeds if seed.day == day), None)

    def _is_committed_late(self, day: str, minute: str) -> bool:
        """Return whether the day had begun, and there were rankings on the day before.

        A registry that begins, or stood still, commits to the day on which it does.
        """
        ranked = self._state.ranked
        if minute[:10] < day or not ranked:
            return False
        due = start_of(day) - timedelta(days=1) + COMMIT_BY
        return instant_of_minute(ranked) >= due
