from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.schedule import (
    decide_missing,
    decide_reproof,
    decide_unconditional,
    first_probe_at,
    next_crawl_at,
    next_probe_at,
    next_retry_at,
    parse_retry_after,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
draws = st.floats(0, 1, exclude_max=True)


@given(st.integers(1, 10_000), draws)
def test_a_retry_comes_within_a_minute_and_a_day(failures: int, draw: float) -> None:
    delay = next_retry_at(NOW, failures=failures, draw=lambda: draw) - NOW
    assert timedelta(minutes=1) <= delay <= timedelta(hours=24)


def test_the_ceiling_of_the_back_off_doubles() -> None:
    delays = [
        next_retry_at(NOW, failures=n, draw=lambda: 1.0) - NOW for n in (1, 2, 3, 99)
    ]
    minutes = [delay / timedelta(minutes=1) for delay in delays]
    assert minutes == [2, 4, 8, 24 * 60]


def test_a_retry_never_comes_before_it_is_wanted() -> None:
    at = next_retry_at(NOW, failures=1, draw=lambda: 0.0, retry_after=3 * HOUR)
    assert at == NOW + 3 * HOUR


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120),
        ("0", 60),
        ("999999999", 86_400),
        ("Fri, 20 Nov 2026 13:00:00 GMT", 3600),
        ("Fri, 20 Nov 2020 13:00:00 GMT", 60),
        ("Fri, 20 Nov 2099 13:00:00 GMT", 86_400),
    ],
)
def test_retry_after_is_clamped_in_both_forms(text: str, seconds: int) -> None:
    assert parse_retry_after(text, NOW) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "-5", "soon", "1.5", "٣", "9" * 40, "Fri, 99"])
def test_a_malformed_retry_after_is_none(text: str) -> None:
    assert parse_retry_after(text, NOW) is None


@given(st.timedeltas(HOUR, 1000 * HOUR), draws)
def test_recrawls_spread_by_a_tenth(interval: timedelta, draw: float) -> None:
    delay = next_crawl_at(NOW, interval=interval, draw=lambda: draw) - NOW
    microsecond = timedelta(microseconds=1)
    assert interval * 0.9 - microsecond <= delay <= interval * 1.1 + microsecond


def test_recrawl_in_the_middle_of_the_spread_comes_after_the_interval() -> None:
    assert next_crawl_at(NOW, interval=5 * HOUR, draw=lambda: 0.5) == NOW + 5 * HOUR


@given(st.integers(0, 10**6), draws)
def test_probes_keep_their_phase(late_s: int, draw: float) -> None:
    first = first_probe_at(NOW, interval=HOUR, draw=lambda: draw)
    now = first + timedelta(seconds=late_s)
    due = next_probe_at(first, now, interval=HOUR)
    assert now < due <= now + HOUR
    assert (due - first) % HOUR == timedelta(0)


def test_a_probe_that_ran_early_does_not_bring_the_next_one_forward() -> None:
    early = NOW - timedelta(seconds=5)
    assert next_probe_at(NOW, early, interval=HOUR) == NOW + HOUR


def test_the_third_strike_makes_a_site_unverified() -> None:
    strikes, trusts = 0, []
    for _ in range(4):
        reproof = decide_reproof(NOW, proved=False, strikes=strikes)
        strikes = reproof.strikes
        trusts.append(reproof.trust)
        assert reproof.next_at == NOW + timedelta(days=1)
    assert trusts == ["verified", "verified", "unverified", "unverified"]


def test_a_proof_clears_the_strikes_and_holds_for_a_week() -> None:
    reproof = decide_reproof(NOW, proved=True, strikes=5)
    assert (reproof.strikes, reproof.trust) == (0, "verified")
    assert reproof.next_at == NOW + timedelta(days=7)


def test_one_fetch_in_ten_is_unconditional() -> None:
    query = [decide_unconditional(lambda n=n: n / 100) for n in range(100)]
    assert sum(query) == 10


@pytest.mark.parametrize(
    ("hours", "visits", "is_over"),
    [(72, 3, True), (71, 30, False), (500, 2, False), (500, 3, True), (0, 1, False)],
)
def test_a_site_without_a_document_has_three_visits_and_three_days(
    hours: int, visits: int, *, is_over: bool
) -> None:
    assert decide_missing(NOW, since=NOW - hours * HOUR, visits=visits) is is_over
