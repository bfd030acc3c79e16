"""The budget that is set is the one that is spent."""

from datetime import UTC, datetime, timedelta

import pytest

from crawler.__main__ import make_context
from crawler.frontier.allocation import MAX_RECRAWL, MIN_RECRAWL
from crawler.frontier.revisits import Revisits
from registry.settings import Settings
from registry.sites.change_history import NEVER_VISITED

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def wait(revisits: Revisits) -> timedelta:
    return revisits.next_at(NOON, NEVER_VISITED, lambda: 0.5) - NOON


@pytest.mark.parametrize(
    ("budget", "days"), [(0.5, 2.0), (1.0, 1.0), (3.0, 1 / 3)], ids=str
)
def test_while_nothing_is_known_each_site_gets_the_budget(
    budget: float, days: float
) -> None:
    assert wait(Revisits(budget)) / timedelta(days=1) == pytest.approx(days, rel=0.01)


@pytest.mark.parametrize(
    ("budget", "longest"), [(0.001, MAX_RECRAWL), (1000.0, MIN_RECRAWL)], ids=str
)
def test_no_budget_goes_beyond_the_bounds(budget: float, longest: timedelta) -> None:
    result = wait(Revisits(budget)) / timedelta(hours=1)
    assert result == pytest.approx(longest / timedelta(hours=1), rel=0.01)


async def test_the_crawler_works_with_the_budget_of_its_settings() -> None:
    frugal = make_context(Settings(crawl_visits_per_day=0.25), engine=None)  # type: ignore[arg-type]
    assert wait(frugal.revisits) > 3 * wait(Revisits())
