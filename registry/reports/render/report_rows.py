"""Rows of a whole report, always in the same order."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from registry.reports.metrics.table import METRICS
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Terms
from registry.reports.row_types import Row, cell_rows


def rows_of(report: FairnessReport) -> Iterator[Row]:
    yield Row(section="version", figure="version", value=report.version)
    yield from _term_rows(report.terms)
    yield from cell_rows(Row(section="counts"), report.counts)
    for metric in METRICS:
        yield from metric.rows(report[metric])
    for part in report.breakdowns:
        yield from part.rows()
    yield from _text_rows(report)


def format_instant(at: datetime) -> str:
    """Format an instant by RFC 3339 in UTC."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _term_rows(terms: Terms) -> Iterator[Row]:
    of = Row(section="terms")
    for name, at in (("from", terms.window.start_at), ("to", terms.window.end_at)):
        yield replace(of, figure=name, value=format_instant(at))
    yield from cell_rows(of, terms)


def _text_rows(report: FairnessReport) -> Iterator[Row]:
    for model in report.position_models:
        of = Row(section="positionModels", measure=model.measure)
        yield replace(of, figure="formula", value=model.formula)
        for rank, weight in enumerate(model.weights, 1):
            yield replace(of, figure=f"rank{rank}", unit="number", value=weight)
    algorithm = report.algorithm
    for name, text in (
        ("policyDigest", algorithm.policy_digest),
        ("codeDigest", algorithm.code_digest),
        ("sourceUrl", algorithm.source_url),
        ("attestations", " ".join(algorithm.attestations)),
    ):
        yield Row(section="algorithm", figure=name, value=text)
    for number, finding in enumerate(report.findings, 1):
        yield Row(section="findings", figure=str(number), value=finding)
    for number, sentence in enumerate(report.sentences, 1):
        yield Row(section="sentences", figure=str(number), value=sentence)
    for definition in report.definitions:
        yield Row(
            section="definitions", figure=definition.figure, value=definition.meaning
        )
