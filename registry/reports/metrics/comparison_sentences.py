"""Sentences of the comparisons: of these sites by their interval, of a kind by its test.

Words of a verdict stand where a kind is judged, and nowhere else.
"""

from collections.abc import Iterator, Sequence

from registry.reports.metrics.comparison_cells import Comparison, Dimension
from registry.reports.wording import (
    describe_gap,
    format_percent,
    format_points,
    format_rate,
)
from registry.toml_table import read_table

_WORDS = read_table(__package__, "comparison_words.toml", dict[str, dict[str, str]])


def name_class(dimension: str, name: str) -> str:
    """Return the words for the sites of a class."""
    words = _WORDS["classes"].get(f"{dimension}/{name}")
    return words or f"Sites of the {dimension} {name!r}"


def describe(subject: str, cell: Comparison) -> str:
    """Return the sentence of a comparison. subject: the words for its sites."""
    what = _WORDS["subjects"][cell.measure]
    if not (cell.share and cell.eligible_share and cell.gap and cell.reading):
        withheld = f"{subject}, share of the {what}: withheld, as it {cell.withheld}."
        return withheld + _describe_power(cell)
    expected = format_percent(cell.eligible_share.value)
    baseline = (
        f"where their ranks alone would bring {expected}"
        if cell.measure == "selectedGivenRank"
        else f"and are {expected} of the eligible"
    )
    unsettled = " The undeclared sites could cancel that."
    return (
        f"{subject} got {format_percent(cell.share.value)} of the {what}, {baseline}: "
        f"{describe_gap(cell.gap)}."
        + (unsettled if cell.reading == "unsettled" else "")
        + _describe_kind(cell)
    )


def describe_findings(dimensions: Sequence[Dimension]) -> Iterator[str]:
    """Yield a sentence for each class and cause.

    Of two classes that mirror each other it is of the one that gains.
    """
    for dimension in dimensions:
        cells = [
            (name_class(dimension.name, site_class.name), cell)
            for site_class in dimension.classes
            for cell in _findings(site_class.comparisons)
        ]
        gains = {(c.measure, _points(c)) for _, c in cells if _points(c) > 0}
        for subject, cell in cells:
            if (cell.measure, -_points(cell)) not in gains:
                yield _describe_finding(subject, cell)


def is_finding(cell: Comparison) -> bool:
    """Return whether a kind is said to fare otherwise than others."""
    return cell.kind_reading in {"more", "less"}


def _findings(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the largest gap that the ranking made, and that of agents; else of both."""
    cells = sorted(filter(is_finding, comparisons), key=lambda c: -abs(_points(c)))
    by_cause = {_WORDS["causes"][cell.measure]: cell for cell in reversed(cells)}
    together = by_cause.pop(_WORDS["causes"]["selected"], None)
    return list(by_cause.values()) or ([together] if together else [])


def _points(cell: Comparison) -> float:
    return cell.kind_gap.value if cell.kind_gap else 0.0


def _describe_finding(subject: str, cell: Comparison) -> str:
    cause = _WORDS["causes"][cell.measure].format(
        subject=subject[0].lower() + subject[1:], more=cell.kind_reading
    )
    return (
        f"{cause}: {format_points(_points(cell))} points, a {cell.magnitude} difference. "
        f"{format_rate(cell.adjusted_p_value or 0.0)} of fair reports have such a finding."
    )


def _describe_kind(cell: Comparison) -> str:
    """Distinguish the kind from its sites, where it is judged at all."""
    if is_finding(cell):
        chance = format_rate(cell.adjusted_p_value or 0.0)
        return (
            f" Their kind is treated otherwise, by a {cell.magnitude} difference: drawn "
            f"labels part any kind so far in {chance} of reports."
        )
    if cell.kind_reading == "negligible":
        return " For their kind the difference is negligible."
    return _describe_power(cell) if cell.kind_reading else ""


def _describe_power(cell: Comparison) -> str:
    if cell.detectable is not None:
        least = format_points(cell.detectable).lstrip("+")
        return f" No difference of their kind is shown; one of {least} points would be."
    if cell.kind_reading is None:
        return ""
    return " No difference of their kind could be shown, with so few to compare."
