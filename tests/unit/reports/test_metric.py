"""A metric that is only declared reaches every form of the report."""

import json
from dataclasses import dataclass
from typing import Annotated

import pytest

from registry.reports import build_report as build
from registry.reports import model
from registry.reports.estimate import Estimate
from registry.reports.metric import BarInput, ChartInput, Metric, Panel
from registry.reports.metrics import table
from registry.reports.render import page, report_rows
from registry.reports.render.comma_separated import format_csv
from registry.reports.render.json_object import format_json
from registry.reports.render.page import format_page
from registry.reports.row_types import Column, Key, QueryCount
from tests.unit.reports.test_report import by_lot, report_on


@dataclass(frozen=True, slots=True, kw_only=True)
class Shyness:
    name: Annotated[str, Key("kind")]
    queries: QueryCount
    shy_share: Annotated[Estimate, Column("share", "shyShare")]


HALF = Estimate(value=0.5, low=0.4, high=0.6)
SHYNESS = Metric(
    name="shy_sites",
    measure=lambda basis: (
        Shyness(name="small", queries=basis.survey.queries, shy_share=HALF),
    ),
    definitions={"shyShare": "Sites that keep to themselves."},
    sentences=lambda cells: [f"{cells[0].queries} queries met shy sites."],
    panels=lambda cells, rows: [
        Panel(
            title="Shy sites",
            charts=[
                ChartInput(
                    title="Shyness",
                    bars=[BarInput(label="Small", estimate=cells[0].shy_share)],
                )
            ],
            tables={"": rows},
        )
    ],
)


@pytest.fixture
def report(monkeypatch):
    metrics = (*table.METRICS, SHYNESS)
    for module, name in (
        (build, "METRICS"),
        (build, "READ_FIRST"),
        (page, "READ_FIRST"),
        (report_rows, "METRICS"),
    ):
        monkeypatch.setattr(module, name, metrics)
    monkeypatch.setattr(model, "FURTHER", (*table.FURTHER, SHYNESS))
    return report_on(by_lot(40))


def test_it_is_a_member_of_the_json_form(report):
    members = json.loads(format_json(report))
    assert list(members)[-1] == "shySites"
    assert members["shySites"] == [
        {
            "name": "small",
            "queries": 40,
            "shy_share": {"value": 0.5, "low": 0.4, "high": 0.6},
        }
    ]
    assert "40 queries met shy sites." in members["sentences"]


def test_it_is_a_line_of_the_csv_form(report):
    [line] = [
        line for line in format_csv(report).decode().splitlines() if "shy" in line[:9]
    ]
    assert line == (
        "shySites/small/shyShare,shySites,,,small,,shyShare,0.5,0.4,0.6,share,,40,,"
        "shyShare"
    )


def test_it_has_its_chart_and_table_on_the_page(report):
    text = format_page(report).decode()
    section = text[text.index("<summary>Shy sites</summary>") :].partition(
        "</details>"
    )[0]
    assert "<figcaption>Shyness</figcaption>" in section
    assert "<td>50.0% (40.0% to 60.0%)</td>" in section


def test_the_table_holds_each_metric_once():
    names = [metric.name for metric in table.METRICS]
    assert len(set(names)) == len(names)
    assert set(table.READ_FIRST) == set(table.METRICS)
