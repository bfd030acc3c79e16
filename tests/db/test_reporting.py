"""The fairness report over recorded rankings, against a count by hand."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from operator import mul
from typing import Any

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Engine, Role
from registry.db.log.erased_pages import ERASED
from registry.db.log.rankings import RankingWriter
from registry.errors import Refused
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.canonical import JsonValue
from registry.reports.metrics.commission import COMMISSION
from registry.reports.metrics.comparison import DIMENSIONS, Comparison
from registry.reports.metrics.effective_weights import EFFECTIVE_WEIGHTS
from registry.reports.model import FairnessReport
from registry.sites.identifier import format_site_id
from registry.usecases.reports.make_report import make_report, month_over, window_of
from registry.usecases.search.receipts import make_receipt
from tests.db.rankings import make_ranking
from tests.db.scene import NOON, Scene
from tests.db.test_selecting import KEY, select

SHOWN, CHOSEN_SMALL, CHOSEN_LARGE, CHOSEN_NONE = 36, 20, 10, 4
SMALL_FIRST = 24
NAMED = 32  # asked for by enough to be told
WINDOW = window_of(NOON - timedelta(days=1), NOON + timedelta(days=1), NOON)


@pytest.fixture(scope="module")
async def reports() -> dict[str, Any]:
    return {}


async def play(scene: Scene) -> None:
    """36 answers of one small independent and one large chain site, and 2 empty ones.

    The small one is first in 24. Of the askers 20 chose it and 10 the large one, 4 chose
    none and 2 did not tell.
    """
    small = await scene.register()
    large = await scene.register()
    for site, members in (
        (small, {"size": "small", "is_independent": True, "commission_rate": 0}),
        (large, {"size": "large", "is_independent": False, "commission_rate": "9%"}),
    ):
        await scene.play(site, act="update", **members)
    ids = [(await scene.entry(site)).site_id for site in (small, large)]
    choices = (
        [format_site_id(ids[0])] * CHOSEN_SMALL
        + [format_site_id(ids[1])] * CHOSEN_LARGE
        + [None] * CHOSEN_NONE
    )
    query = [
        make_ranking(
            scene.ids,
            ids if number < SMALL_FIRST else ids[::-1],
            disclosed={
                "query": f"question {number}",
                "location": "u33d" if number % 2 else None,
                "filters": {
                    "category": "restaurant" if number < NAMED else "my doctor"
                },
                "scores": scores_of(ids if number < SMALL_FIRST else ids[::-1]),
            },
        )
        for number in range(SHOWN)
    ]
    empty = [make_ranking(scene.ids, [], eligible=[]) for _ in range(2)]
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write(
            [ranking.row for ranking in (*query, *empty)]
        )
    for ranking, choice in zip(query, choices, strict=False):
        receipt = make_receipt(KEY, ranking.record.id)
        await select(scene, receipt, choice)


def scores_of(ids: list[int]) -> JsonValue:
    """The first leads by relevance, the second is nearer."""
    factors = [[9000, 5000, 5000, 7000, 8000], [7000, 8000, 5000, 7000, 8000]]
    return [
        {
            "factors": [*row],
            "score": sum(map(mul, DEFAULT_POLICY.weights, row)),
            "site": format_site_id(site),
            "tie": "00000000000000aa",
        }
        for site, row in zip(ids, factors, strict=True)
    ]


@pytest.fixture
async def report(scene: Scene, reports: dict[str, Any]) -> FairnessReport:
    """Made once for the module: nothing here changes what it is made of."""
    if not reports:
        await play(scene)
        reports["report"] = await report_of(scene)
    result: FairnessReport = reports["report"]
    return result


async def report_of(scene: Scene, days: int = 1, **limits: str) -> FairnessReport:
    """limits: operator, category."""
    window = replace(WINDOW, end_at=NOON + timedelta(days=days))
    async with scene.engines[Role.AUDITOR].connect() as connection:
        return await make_report(connection, window, DEFAULT_POLICY, **limits)


def compared(report: FairnessReport, name: str, measure: str) -> Comparison:
    (result,) = (
        comparison
        for dimension in report[DIMENSIONS]
        for kind in dimension.classes
        for comparison in kind.comparisons
        if (kind.name, comparison.measure) == (name, measure)
    )
    assert not result.withheld
    return result


async def test_report_counts_what_was_answered_and_chosen(
    report: FairnessReport,
) -> None:
    counts = report.counts
    assert (counts.rankings, counts.empty_rankings) == (SHOWN, 2)
    assert (counts.queries, counts.sites) == (SHOWN, 2)
    chosen = CHOSEN_SMALL + CHOSEN_LARGE
    assert (counts.reported, counts.selections) == (chosen + CHOSEN_NONE, chosen)
    assert report.algorithm.policy_digest == DEFAULT_POLICY.digest


@pytest.mark.parametrize(
    ("name", "measure", "share"),
    [
        ("small", "topOne", 24 / 36),
        ("large", "topOne", 12 / 36),
        ("independent", "topOne", 24 / 36),
        ("small", "selected", 20 / 30),
        ("chain", "selected", 10 / 30),
        ("small", "rankBiased", (24 + 12 * 0.8) / 1.8 / 36),
    ],
)
async def test_shares_are_those_counted_by_hand(
    report: FairnessReport, name: str, measure: str, share: float
) -> None:
    comparison = compared(report, name, measure)
    assert comparison.share
    assert comparison.eligible_share
    assert comparison.share.value == pytest.approx(share, abs=1e-6)
    assert comparison.eligible_share.value == 0.5
    assert comparison.share.low <= comparison.share.value <= comparison.share.high


async def test_mean_commission_is_that_counted_by_hand(report: FairnessReport) -> None:
    means = {cell.measure: cell.mean for cell in report[COMMISSION]}
    for measure, mean in (("eligible", 4.5), ("topOne", 3.0), ("selected", 3.0)):
        result = means[measure]
        assert result
        assert result.value == pytest.approx(mean, abs=1e-6)


async def test_same_records_give_the_same_report(
    scene: Scene, report: FairnessReport
) -> None:
    assert await report_of(scene) == report


async def test_answers_outside_the_window_do_not_count(
    scene: Scene, report: FairnessReport
) -> None:
    scene.clock.advance(days=5)
    later = make_ranking(scene.ids, [], eligible=[])
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write([later.row])
    assert (await report_of(scene)).counts == report.counts
    assert (await report_of(scene, days=6)).counts.empty_rankings == 3


async def test_an_erased_answer_leaves_the_report_and_one_of_version_1_stays(
    owner: Engine, report: FairnessReport
) -> None:
    async with owner.connect() as connection:
        erased = ", ".join(f"{name} = NULL" for name in ERASED)
        await connection.execute(text(f"UPDATE audit.ranking SET {erased}"))
        left = await make_report(connection, WINDOW, DEFAULT_POLICY)
        emptied = f"UPDATE audit.ranking SET {erased}, returned = ''"
        await connection.execute(text(emptied))
        nothing = await make_report(connection, WINDOW, DEFAULT_POLICY)
        await connection.rollback()
    assert left.counts == replace(report.counts, scored=0, empty_rankings=0)
    assert (nothing.counts.rankings, nothing.counts.empty_rankings) == (0, 0)


async def test_scores_are_read_while_they_are_disclosed(report: FairnessReport) -> None:
    assert report.counts.scored == SHOWN
    weights = {factor.factor: factor for factor in report[EFFECTIVE_WEIGHTS]}
    assert weights["quality"].variance_share
    assert weights["quality"].variance_share.value == 0
    assert weights["relevance"].variance_share
    # 4000 · 1000 of deviation beside 2000 · 1500
    assert weights["relevance"].variance_share.value == pytest.approx(16 / 25)
    assert weights["relevance"].swap_rate
    assert weights["relevance"].swap_rate.value == 1


async def test_parts_of_the_window_are_told_by_what_was_asked(
    report: FairnessReport,
) -> None:
    members = {
        (breakdown.by, breakdown.value): breakdown for breakdown in report.breakdowns
    }
    assert members["operator", "anon"].rankings == SHOWN
    assert members["requestedCategory", "restaurant"].rankings == NAMED
    assert ("requestedCategory", "my doctor") not in members
    assert members["siteCategory", "restaurant"].rankings == SHOWN
    assert members["distanceBand", "request without a place"].queries == SHOWN // 2


async def test_report_of_an_operator_or_category_that_is_none_is_empty(
    scene: Scene, report: FairnessReport
) -> None:
    nobody = await report_of(scene, operator="nobody")
    assert (nobody.counts.rankings, nobody.counts.empty_rankings) == (0, 0)
    assert nobody.terms.operator == "nobody"
    nowhere = await report_of(scene, category="no such \0 category")
    assert nowhere.counts.rankings == SHOWN
    assert nowhere.counts.sites == 0
    query = await report_of(scene, operator="anon", category="Restaurant")
    assert query.counts.sites == report.counts.sites


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (NOON, NOON),
        (NOON, NOON - timedelta(days=1)),
        (NOON - timedelta(days=401), NOON),
        (NOON.replace(tzinfo=None), NOON),
        (None, datetime(1, 1, 1, tzinfo=UTC)),
    ],
    ids=["empty", "backwards", "too long", "without zone", "before the calendar"],
)
def test_window_that_is_none_is_refused(start: Any, end: Any) -> None:
    for read in (window_of, month_over):
        with pytest.raises(Refused, match="window_invalid"):
            read(start, end, NOON)


JUNE, MAY, APRIL = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 5, 4))
MID_JUNE = JUNE + timedelta(days=14)


@pytest.mark.parametrize(
    ("start", "end", "month"),
    [
        (None, None, MAY),
        (MAY, None, MAY),
        (None, MAY, APRIL),
        (APRIL, MAY.astimezone(timezone(timedelta(hours=3))), APRIL),
    ],
    ids=["the last", "until now", "one before", "in another zone"],
)
def test_a_month_that_is_over(start: Any, end: Any, month: datetime) -> None:
    assert month_over(start, end, MID_JUNE) == month.date()


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (MAY, MID_JUNE),
        (APRIL, JUNE),
        (JUNE, datetime(2026, 7, 1, tzinfo=UTC)),
        (MAY, JUNE + timedelta(microseconds=1)),
        (MAY + timedelta(days=1), JUNE),
        (None, datetime(9999, 12, 31, tzinfo=UTC)),
    ],
    ids=[
        "not over",
        "two",
        "begun",
        "an instant more",
        "a day less",
        "the last of all",
    ],
)
def test_what_is_no_month_that_is_over_is_refused(start: Any, end: Any) -> None:
    with pytest.raises(Refused, match="window_not_months"):
        month_over(start, end, MID_JUNE)
