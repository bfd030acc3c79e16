from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.usecases.reports.calendar_months import (
    format_month,
    month_after,
    parse_month,
)
from registry.usecases.reports.keep_report import (
    SETTLING,
    is_over,
    months_due,
    window_of_month,
)

BEGAN = datetime(2026, 11, 20, 12, tzinfo=UTC)
NOVEMBER, DECEMBER, JANUARY = date(2026, 11, 1), date(2026, 12, 1), date(2027, 1, 1)
months = st.dates(date(1, 1, 1), date(9998, 12, 31)).map(
    lambda item: item.replace(day=1)
)


@given(months)
def test_a_month_is_spelled_and_parsed_alike(month: date) -> None:
    assert parse_month(format_month(month)) == month


@given(months)
def test_months_follow_each_other_without_a_gap(month: date) -> None:
    after = month_after(month)
    assert after.day == 1
    assert (after - timedelta(days=1)).replace(day=1) == month
    assert window_of_month(month).end_at == window_of_month(after).start_at


@given(st.text(max_size=12))
def test_any_other_text_is_refused(text: str) -> None:
    with suppress(Refused):
        assert format_month(parse_month(text)) == text


@pytest.mark.parametrize(
    "text",
    ["", "2026", "2026-13", "2026-00", "2026-1", "26-10", "2026-10-01", "9999-12"],
)
def test_what_is_no_month_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="month_invalid"):
        parse_month(text)


def test_a_month_is_over_once_its_last_answers_are_durable() -> None:
    end = datetime(2026, 12, 1, tzinfo=UTC)
    assert not is_over(NOVEMBER, end + SETTLING - timedelta(seconds=1))
    assert is_over(NOVEMBER, end + SETTLING)


def test_months_are_due_from_that_in_which_the_log_began() -> None:
    now = datetime(2027, 2, 3, tzinfo=UTC)
    assert months_due(BEGAN, now, ()) == [NOVEMBER, DECEMBER, JANUARY]
    assert months_due(BEGAN, now, {DECEMBER}) == [NOVEMBER, JANUARY]
    assert months_due(BEGAN, BEGAN, ()) == []


def test_the_month_in_which_the_log_began_is_that_of_utc() -> None:
    """In the morning of the first of December in the east it is November still."""
    east = datetime(2026, 12, 1, 5, tzinfo=timezone(timedelta(hours=9)))
    assert months_due(east, datetime(2027, 1, 2, tzinfo=UTC), ())[0] == NOVEMBER
