"""Report as one page of HTML that needs nothing else: to be read, printed, kept.

No script, no font, no image and no link of elsewhere; its policy allows its own style
and nothing more, also where the page is opened from a disk.
"""

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import time, timedelta
from importlib.resources import files
from itertools import groupby
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from registry.reports.metrics.breakdowns import charted_rows
from registry.reports.metrics.table import READ_FIRST
from registry.reports.model import FairnessReport
from registry.reports.render.chart import Chart, draw
from registry.reports.render.flat_tables import Table, tabulate
from registry.reports.render.report_rows import format_instant, rows_of
from registry.reports.report_terms import Window
from registry.reports.row_types import Row
from registry.reports.wording import in_words

MEDIA_TYPE = "text/html"

_environment = Environment(
    loader=PackageLoader("registry.reports.render"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_STYLE = (files("registry.reports.render") / "templates" / "report.css").read_text(
    encoding="utf-8"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
IN_PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'"
)
CONTENT_SECURITY_POLICY = f"{IN_PAGE_POLICY}; frame-ancestors 'none'"

_TEXT_SECTIONS = {
    "positionModels": "How attention is taken to fall with the rank",
    "algorithm": "The algorithm",
    "terms": "Terms",
    "counts": "What the report rests on",
}


class Section(NamedTuple):
    """Panel with its charts drawn and its rows in tables, by caption."""

    title: str
    sentence: str
    charts: Sequence[Chart]
    tables: Mapping[str, Table]
    leads: bool = False


def format_page(report: FairnessReport) -> bytes:
    """Return the same bytes, in UTF-8, for the same report."""
    rows = list(rows_of(report))
    sections = list(_metric_sections(report))
    window = report.terms.window
    text = _environment.get_template("report.html").render(
        report=report,
        style=_STYLE,
        policy=IN_PAGE_POLICY,
        start=format_instant(window.start_at),
        end=format_instant(window.end_at),
        days=_name_days(window),
        counts=[
            (name, f"{getattr(report.counts, name):,}")
            for name in ("rankings", "queries", "selections", "sites")
        ],
        sections=[*sections, *_text_sections(rows)],
        leading=sorted(filter(_leads, sections), key=_has_no_finding),
        definitions=[
            (entry.figure, in_words(entry.figure), entry.meaning)
            for entry in report.definitions
        ],
        breakdowns=list(_breakdowns(rows)),
    )
    return text.encode()


def _leads(section: Section) -> bool:
    return section.leads and any(chart.bars for chart in section.charts)


def _has_no_finding(section: Section) -> bool:
    return not any(bar.is_finding for chart in section.charts for bar in chart.bars)


def _name_days(window: Window) -> str:
    """Return the window in words, to the day where it is of whole days."""
    start, end = window.start_at, window.end_at
    last = end - timedelta(microseconds=1)
    if start.time() == end.time() == time():
        return f"{start:%-d %B %Y} to {last:%-d %B %Y} (UTC)"
    return f"{start:%-d %B %Y, %H:%M} to {end:%-d %B %Y, %H:%M} (UTC)"


def _metric_sections(report: FairnessReport) -> Iterator[Section]:
    for metric in READ_FIRST:
        for panel in metric.lay_out(report[metric]):
            yield Section(
                title=panel.title,
                sentence=panel.sentence,
                charts=[draw(chart) for chart in panel.charts],
                tables={name: tabulate(rows) for name, rows in panel.tables.items()},
                leads=panel.leads,
            )


def _text_sections(rows: Sequence[Row]) -> Iterator[Section]:
    for name, title in _TEXT_SECTIONS.items():
        own = [row for row in rows if row.section == name]
        yield Section(title, "", [], {"": tabulate(own)})


def _breakdowns(rows: Sequence[Row]) -> Iterator[tuple[str, str, Table]]:
    """Yield their shares of attention and selections; other forms have the rest."""
    breakdowns = (row for row in rows if row.section == "breakdowns")
    for (by, value), part in groupby(charted_rows(breakdowns), key=lambda r: r.part):
        yield in_words(by), value, tabulate([replace(row, part=()) for row in part])
