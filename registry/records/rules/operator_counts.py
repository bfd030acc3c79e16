"""Rule of operators' rankings: numbered from 1, and no number is missing or twice."""

from collections.abc import Iterator
from datetime import datetime

from registry.records import refusals
from registry.records.rules.calendar_days import OUT_OF_ORDER, instant_of_minute
from registry.records.rules.conduct_state import Broken, ConductState, Counted

MAX_AHEAD = 4_096  # numbers of one operator that wait for an earlier one


class OperatorCounts:
    def __init__(self, state: ConductState) -> None:
        self._state = state
        # What a new minute has to look at, so that it does not look at everything.
        self._waiting = {
            name for name, counted in state.operators.items() if counted.ahead
        }

    def read(self, operator: str, number: int) -> Iterator[Broken]:
        """Numbers may arrive in another order, as answers are recorded side by side."""
        counted = self._state.operators.setdefault(operator, Counted())
        if number <= counted.reached or number in counted.ahead:
            detail = f"ranking {number} of {operator} stands in the log already"
            yield refusals.OPERATOR_COUNT_BROKEN, detail
            return
        counted.ahead[number] = self._state.minute
        while counted.reached + 1 in counted.ahead:
            counted.reached += 1
            del counted.ahead[counted.reached]
        if counted.ahead:
            self._waiting.add(operator)
        else:
            self._waiting.discard(operator)
        if len(counted.ahead) > MAX_AHEAD:
            yield self._skip(operator, counted)

    def look_for_gaps(self, now: datetime) -> Iterator[Broken]:
        for operator in sorted(self._waiting):
            counted = self._state.operators[operator]
            if now - instant_of_minute(min(counted.ahead.values())) > OUT_OF_ORDER:
                yield self._skip(operator, counted)

    def _skip(self, operator: str, counted: Counted) -> Broken:
        missing, present = counted.reached + 1, min(counted.ahead)
        counted.reached = max(counted.ahead)
        counted.ahead.clear()
        self._waiting.discard(operator)
        detail = f"of {operator}, ranking {missing} is missing before ranking {present}"
        return refusals.OPERATOR_COUNT_BROKEN, detail
