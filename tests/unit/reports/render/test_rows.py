"""Every figure of a report is a row, under a name of its own."""

from collections import Counter
from dataclasses import fields, is_dataclass
from typing import Any
from urllib.parse import unquote

import pytest

from registry.reports.estimate import Estimate
from registry.reports.model import FairnessReport
from registry.reports.render.report_rows import rows_of
from tests.unit.reports.render import reports


def estimates(value: Any) -> Counter[Estimate]:
    if isinstance(value, Estimate):
        return Counter([value])
    if is_dataclass(value):
        value = [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, tuple | list):
        return sum(map(estimates, value), Counter())
    return Counter()


@pytest.mark.parametrize("make", reports.REPORTS)
def test_no_two_rows_have_one_path(make: Any) -> None:
    counted = Counter(row.path for row in rows_of(make()))
    assert [path for path, times in counted.items() if times > 1] == []


@pytest.mark.parametrize("make", reports.REPORTS)
def test_no_estimate_of_the_report_is_left_out(make: Any) -> None:
    report: FairnessReport = make()
    counts = Counter(
        Estimate(value=float(row.value), low=row.low, high=row.high)
        for row in rows_of(report)
        if row.low is not None and row.high is not None and row.value is not None
    )
    assert estimates([*report.members().values()]) == counts


@pytest.mark.parametrize("make", reports.REPORTS)
def test_each_row_names_a_definition_that_the_report_has(make: Any) -> None:
    report = make()
    known = {definition.figure for definition in report.definitions} | {""}
    assert {row.definition for row in rows_of(report)} <= known


def test_contradictions_are_told_by_field_and_by_measure() -> None:
    members = {row.path: row for row in rows_of(reports.fair())}
    assert members["contradictions/registered"].value == 4
    assert members["contradictions/any/sites"].value == 1
    assert members["contradictions/size/statedTwice"].value == 2
    assert members["contradictions/size/siteShare"].value == 0.25
    assert members["contradictions/size/topOne/share"].definition == "share"
    assert "contradictions/chain/topOne/share" not in members


def test_what_is_withheld_says_why_and_tells_nothing() -> None:
    withheld = [row for row in rows_of(reports.thin()) if row.withheld]
    assert {row.path for row in withheld} >= {
        "dimensions/size/micro/selected/gap",
        "commission/selected/mean",
        "concentration/sites/selected/gini",
    }
    assert all((row.value, row.low, row.high) == (None,) * 3 for row in withheld)


def test_a_path_holds_what_others_named_in_one_piece() -> None:
    paths = {row.path for row in rows_of(reports.harmful()) if row.dimension}
    named = [path for path in paths if "HYPERLINK" in path]
    assert named
    assert all(
        unquote(path.split("/")[2]) == reports.HARMFUL
        for path in named
        if path.startswith("dimensions/")
    )
