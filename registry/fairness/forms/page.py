"""The report as one page of HTML that needs nothing else: to be read, printed, kept.

No script, no font, no image and no link of elsewhere; its policy allows its own style
and nothing more, also where the page is opened from a disk.
"""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import groupby

from jinja2 import Environment, PackageLoader, StrictUndefined

from registry.fairness.forms.chart import Told, draw
from registry.fairness.forms.rows import Row, rows_of, spell_instant
from registry.fairness.forms.tables import Table, in_words, tabulate
from registry.fairness.report.figures import FairnessReport, MeanCommission, Measure
from registry.fairness.report.wording import name_kind

MEDIA_TYPE = "text/html"
_PERCENT = 100.0

_environment = Environment(
    loader=PackageLoader("registry.fairness.forms"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_STYLE = (files("registry.fairness.forms") / "templates" / "report.css").read_text(
    encoding="utf-8"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
IN_PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; "
    "base-uri 'none'; form-action 'none'"
)
CONTENT_SECURITY_POLICY = f"{IN_PAGE_POLICY}; frame-ancestors 'none'"

_CHARTED: dict[Measure, str] = {
    "logarithmic": "Attention, falling with the logarithm of the rank",
    "selected": "Selections",
}
_OF_A_BREAKDOWN = frozenset({"eligibleShare", "share", "gap", "reading"})
_SECTIONS = (
    ("concentration", "Concentration over all eligible sites"),
    ("reach", "Sites that got anything at all"),
    ("parity", "Classes of sites beside what would be expected"),
    ("merit", "Exposure beside the ranker's own scores"),
    ("consistency", "Whether attention follows the scores"),
    ("effectiveWeights", "What each factor does, beside its nominal weight"),
    ("ties", "Sites of equal score"),
    ("invariance", "Trials of what must not move a ranking"),
    ("positionModels", "How attention is taken to fall with the rank"),
    ("algorithm", "The algorithm"),
    ("terms", "Terms"),
    ("counts", "What the report rests on"),
)


def format_page(report: FairnessReport) -> bytes:
    """UTF-8. The same report gives the same bytes."""
    by_section: dict[str, list[Row]] = {}
    for row in rows_of(report):
        by_section.setdefault(row.section, []).append(row)
    window = report.terms.window
    text = _environment.get_template("report.html").render(
        report=report,
        style=_STYLE,
        policy=IN_PAGE_POLICY,
        start=spell_instant(window.start_at),
        end=spell_instant(window.end_at),
        dimensions=[*_dimensions(report, by_section.get("dimensions", []))],
        commission=tabulate(by_section.get("commission", [])),
        commission_chart=draw(_commissions(report.commission), whole=_PERCENT),
        contradictions=_contradictions(by_section.get("contradictions", [])),
        sections=[
            (title, tabulate(by_section.get(name, []))) for name, title in _SECTIONS
        ],
        definitions=[
            (one.figure, in_words(one.figure), one.meaning)
            for one in report.definitions
        ],
        breakdowns=[*_breakdowns(by_section.get("breakdowns", []))],
    )
    return text.encode()


def _dimensions(
    report: FairnessReport, rows: Sequence[Row]
) -> Iterator[dict[str, object]]:
    for dimension in report.dimensions:
        charts = []
        for measure, title in _CHARTED.items():
            told = [
                Told(
                    label=name_kind(dimension.name, one.name),
                    estimate=cell.share,
                    expected=cell.eligible_share.value,
                )
                for one in dimension.classes
                for cell in one.comparisons
                if cell.measure == measure and cell.share and cell.eligible_share
            ]
            charts.append((title, draw(told)))
        yield {
            "name": dimension.name,
            "charts": charts,
            "sites": tabulate(_of(dimension.name, rows, measured=False)),
            "table": tabulate(_of(dimension.name, rows, measured=True)),
        }


def _of(dimension: str, rows: Sequence[Row], *, measured: bool) -> list[Row]:
    return [
        row
        for row in rows
        if row.dimension == dimension and (row.measure is not None) == measured
    ]


def _contradictions(rows: Sequence[Row]) -> list[tuple[str, Table]]:
    """Counted by field, and what the contested sites got."""
    told = [row for row in rows if row.kind is not None]
    return [
        (
            "Sites by what is contested",
            tabulate([r for r in told if r.measure is None]),
        ),
        ("What contested sites got", tabulate([r for r in told if r.measure])),
    ]


def _commissions(means: Sequence[MeanCommission]) -> list[Told]:
    return [
        Told(label=in_words(one.measure), estimate=one.mean)
        for one in means
        if one.mean
    ]


def _breakdowns(rows: Sequence[Row]) -> Iterator[tuple[str, str, Table]]:
    """Their shares of attention and selections; the rest is in the other forms."""
    told = (
        row
        for row in rows
        if row.measure in _CHARTED
        and row.figure in _OF_A_BREAKDOWN
        and not row.withheld
    )
    for (by, value), of_part in groupby(told, key=lambda row: row.part):
        yield in_words(by), value, tabulate(replace(row, part=()) for row in of_part)
