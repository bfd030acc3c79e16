"""Contradictions: sites of which documents, registration and auditors state otherwise.

Counts of these sites, and what they got: they are classes of the aggregate like any other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from registry.reports.estimate import round_figure
from registry.reports.labels import FIELDS, Claims
from registry.reports.metric import Metric, Panel
from registry.reports.metrics.comparison import SUMMARISED_MEASURES, Comparer
from registry.reports.metrics.comparison_cells import Comparison
from registry.reports.report_survey import Basis, Survey
from registry.reports.row_types import Cells, Column, Key, Row
from registry.reports.window.classes import Classes
from registry.reports.wording import format_percent

ANY = "any"
UNCONTESTED = "uncontested"
DIMENSION = "contradiction"

_SUBJECTS = {
    ANY: "Sites whose authors contradict each other",
    **{field: f"Sites whose {field} is contested" for field in FIELDS},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction:
    """Field that authors state differently; or "any": one field of them or more.

    sites: registered ones of which they differ, and site_share: their part of all
    registered ones. stated_twice: of which two authors state it at all. comparisons:
    what the sites that differ got.
    """

    name: Annotated[str, Key("kind")]
    sites: Annotated[int, Column("count")]
    stated_twice: Annotated[int, Column("count", "statedTwice")]
    site_share: Annotated[float, Column("share", "siteShare")]
    comparisons: Annotated[tuple[Comparison, ...], Cells()] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradictions:
    """Contradictions by field. registered: sites by the window's end."""

    registered: Annotated[int, Column("count", "contradictions")]
    fields: Annotated[tuple[Contradiction, ...], Cells()]
    sentence: str = ""


def sort_contested(claims: Mapping[int, Claims], count: int) -> Classes:
    """Return the classes of sites of which the same fields are contested.

    Joined are those of each field. claims: by the numbers of sites. count: of all sites.
    """
    patterns = sorted({c.contradicted for c in claims.values() if c.contradicted})
    names = (UNCONTESTED, *(f"{' and '.join(fields)} alone" for fields in patterns))
    code = np.zeros(count, np.int64)
    for site, claim in claims.items():
        if claim.contradicted:
            code[site] = patterns.index(claim.contradicted) + 1
    joined = {
        field: tuple(
            name
            for name, pattern in zip(names[1:], patterns, strict=True)
            if field in {ANY, *pattern}
        )
        for field in (ANY, *FIELDS)
    }
    return Classes(dimension=DIMENSION, names=names, code=code, joined=joined)


def _classes(survey: Survey) -> Sequence[Classes]:
    contested = sort_contested(survey.claims, len(survey.sites))
    return [contested] if len(contested.names) > 1 else []


def _measure(basis: Basis) -> Contradictions:
    cell = Contradictions(
        registered=int(basis.survey.registered.sum()),
        fields=tuple(_fill(name, basis) for name in (ANY, *FIELDS)),
    )
    return replace(cell, sentence=_describe(cell))


def _fill(name: str, basis: Basis) -> Contradiction:
    claims = basis.survey.claims.values()
    sites = _count(name, (claim.contradicted for claim in claims))
    registered = int(basis.survey.registered.sum())
    cell = Contradiction(
        name=name,
        sites=sites,
        stated_twice=_count(name, (claim.stated_twice for claim in claims)),
        site_share=round_figure(sites / registered) if registered else 0.0,
    )
    if not sites:
        return cell
    comparer = Comparer(
        evidence=basis.evidence,
        terms=basis.terms,
        named=lambda _, field: _SUBJECTS[field],
    )
    [classes] = _classes(basis.survey)
    cells = comparer.compare_class(classes, name)
    # Nobody can say of which other sites more authors would differ.
    without_bounds = (replace(row, share_bounds=None, gap_bounds=None) for row in cells)
    return replace(cell, comparisons=tuple(without_bounds))


def _count(name: str, sites: Iterable[tuple[str, ...]]) -> int:
    return sum(bool(fields) if name == ANY else name in fields for fields in sites)


def _describe(cell: Contradictions) -> str:
    whole, *fields = cell.fields
    counts = ", ".join(f"{field.name} {field.sites}" for field in fields if field.sites)
    listed = f" ({counts})" if counts else ""
    return (
        f"Of the {cell.registered} sites registered by the end of the window, "
        "documents, registration and auditors contradict each other on "
        f"{whole.sites}{listed}, {format_percent(whole.site_share)}. On "
        f"{whole.stated_twice} at least two of them state the same field; on the others "
        "no contradiction can show. A contradiction does not say who is right."
    )


def _summarise(cell: Contradictions) -> Iterator[str]:
    yield cell.sentence
    for comparison in cell.fields[0].comparisons:
        if comparison.measure in SUMMARISED_MEASURES:
            yield comparison.sentence


def _comparisons(cell: Contradictions) -> Iterator[Comparison]:
    for field in cell.fields:
        yield from field.comparisons


def _panels(cell: Contradictions, rows: Sequence[Row]) -> Iterator[Panel]:
    by_field = [row for row in rows if row.kind is not None]
    yield Panel(
        title="Contradictions",
        sentence=cell.sentence,
        tables={
            "Sites by what is contested": [r for r in by_field if r.measure is None],
            "What contested sites got": [r for r in by_field if r.measure],
        },
    )


CONTRADICTIONS = Metric(
    name="contradictions",
    measure=_measure,
    classes=_classes,
    sentences=_summarise,
    comparisons=_comparisons,
    panels=_panels,
    definitions={
        "contradictions": (
            "Sites registered by the window's end of which documents, registration or "
            "auditors state the same field differently, by the words that counted then "
            "(GET /v1/labels?at=). Where they differ the report follows one of them, as "
            "shown under unknown; that they differ does not say who is right. A site with "
            "fewer than two sources can show no contradiction, so no contradiction does "
            "not mean that the label is right."
        ),
        "statedTwice": (
            "Sites of which two authors or more state the field: only these can be "
            "contradicted."
        ),
        "siteShare": "Contradicted sites over all sites registered by the window's end.",
    },
)
