"""The page: whole in itself, inert, and with the figures of the report."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import groupby
from typing import Any

import pytest
from typing_extensions import override

from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.contradictions import CONTRADICTIONS
from registry.reports.model import FairnessReport
from registry.reports.render.flat_tables import tabulate
from registry.reports.render.page import CONTENT_SECURITY_POLICY, format_page
from registry.reports.render.report_rows import rows_of
from tests.unit.reports.render import reports

VOID = frozenset({"meta", "line", "rect", "path"})
Make = Callable[[], FairnessReport]


class Page(HTMLParser):
    """tags: with their attributes, in order. open: those not closed yet."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    @override
    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    @override
    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("make", reports.REPORTS)
def test_the_page_is_whole_and_closes_what_it_opens(make: Make) -> None:
    text = format_page(make()).decode()
    page = Page(text)
    assert text.lstrip().startswith("<!doctype html>")
    assert page.open == []


@pytest.mark.parametrize("make", reports.REPORTS)
def test_the_page_asks_for_nothing_and_runs_nothing(make: Make) -> None:
    page = Page(format_page(make()).decode())
    names = {tag for tag, _ in page.tags}
    assert names.isdisjoint(
        {"script", "link", "img", "iframe", "object", "form", "base"}
    )
    for _, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes)
        assert attributes.keys().isdisjoint({"src", "href", "style", "xlink:href"})
    assert not re.search(r"url\(|@import", "".join(page.texts))


def test_its_policy_allows_its_own_style_alone() -> None:
    text = format_page(reports.fair()).decode()
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    style = next(
        attributes["content"]
        for tag, attributes in Page(text).tags
        if tag == "meta" and "http-equiv" in attributes
    )
    assert style is not None
    assert f"style-src 'sha256-{digest}'" in style
    assert "default-src 'none'" in style
    assert CONTENT_SECURITY_POLICY.startswith(style)


def test_names_of_others_are_text() -> None:
    text = format_page(reports.harmful()).decode()
    assert "<script" not in text
    assert any(reports.HARMFUL in style for style in Page(text).texts)


def test_every_sentence_and_definition_is_on_it() -> None:
    report = reports.fair()
    texts = set(Page(format_page(report).decode()).texts)
    assert set(report.sentences) <= texts
    assert {definition.meaning for definition in report.definitions} <= texts


def test_each_chart_has_its_table_with_the_intervals() -> None:
    report = reports.fair()
    page = Page(format_page(report).decode())
    charts = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert len(charts) == 2 * len(report[DIMENSIONS]) + 1
    cell = reports.chosen_of_micro(report)
    assert cell.share is not None
    share, low, high = (
        f"{100 * value:.1f}%"
        for value in (cell.share.value, cell.share.low, cell.share.high)
    )
    assert f"{share} ({low} to {high})" in page.texts


def test_contradictions_stand_on_it_with_what_they_do_not_show() -> None:
    report = reports.fair()
    texts = Page(format_page(report).decode()).texts
    assert texts.count(report[CONTRADICTIONS].sentence) == 2, (
        "in words and in its place"
    )
    at = texts.index("Sites by what is contested")
    assert texts.index("What contested sites got") > at
    assert {"any", "chain", "25.0%"} <= set(texts[at : at + 60])


def test_what_is_withheld_says_why() -> None:
    page = Page(format_page(reports.thin()).decode())
    assert not [tag for tag, _ in page.tags if tag == "svg"]
    assert any("withheld, as each rests on 3 indep" in text for text in page.texts)


def _most_alike(table: str) -> int:
    reasons = Counter(re.findall(r'colspan="\d+">withheld: [^<]*<', table))
    return max(reasons.values(), default=1)


def test_rows_withheld_for_one_reason_are_one_line() -> None:
    """The page of a young registry was 18,666 px of "withheld: rests on 0 …"."""
    text = format_page(reports.thin()).decode()
    assert max(map(_most_alike, text.split("</table>"))) == 1
    tables = [
        tabulate(list(group))
        for _, group in groupby(rows_of(reports.thin()), lambda row: row.section)
    ]
    for table in tables:
        folded = [line for _, lines in table.folded for line in lines]
        assert sorted([*table.shown, *folded], key=str) == sorted(table.lines, key=str)


def test_the_same_report_gives_the_same_bytes() -> None:
    assert format_page(reports.fair()) == format_page(reports.fair())


@pytest.mark.parametrize("make", reports.REPORTS)
def test_the_head_tells_the_findings_and_the_rest_is_folded(make: Make) -> None:
    report = make()
    body = format_page(report).decode().partition("<header>")[2]
    head = "<header>" + body.partition("<details>")[0]
    words = " ".join(Page(head).texts).split()
    assert len(words) < 300
    assert "<table" not in head
    texts = Page(head).texts
    assert set(report.findings) <= set(texts)


def test_charts_draw_the_gaps_that_sentences_judge() -> None:
    """Each dot is the gap with its interval, over the band of drawn labels."""
    report = reports.fair()
    cell = reports.chosen_of_micro(report, "selectedGivenRank")
    assert cell.gap is not None
    text = format_page(report).decode()
    assert "beyond what the ranks bring" in text
    assert f">{100 * cell.gap.value:+.2f}</text>" in text
    assert 'class="band"' in text
