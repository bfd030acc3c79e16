"""Comparisons: what each kind of site got, next to what it made of the eligible.

A difference is read only from intervals, and only if it stands whether or not the sites
of undeclared kind belonged to the kind in question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from registry.fairness.estimate import (
    Estimate,
    Evidence,
    baseline_of,
    count_bearing,
    count_sites,
    estimate_gap,
    estimate_share,
    round_figure,
    total_of,
)
from registry.fairness.figures import Comparison, Dimension, Measure, Reading, SiteClass
from registry.fairness.inference import Interval
from registry.fairness.tally import (
    INDEPENDENCE_COLUMNS,
    INDEPENDENCES,
    LOGARITHMIC,
    RANK_BIASED,
    SELECTED,
    SIZE_COLUMNS,
    SIZES,
    TOP_ONE,
)
from registry.fairness.wording import describe_comparison, explain_withheld

COMPARED: Mapping[int, Measure] = {
    LOGARITHMIC: "logarithmic",
    RANK_BIASED: "rankBiased",
    TOP_ONE: "topOne",
    SELECTED: "selected",
}

SIZE_CLASSES: Mapping[str, tuple[str, ...]] = {
    "smallBusiness": ("micro", "small"),
    **{size: (size,) for size in SIZES},
}
"""As declared, and micro and small together: the "small" of §9.7."""

INDEPENDENCE_CLASSES: Mapping[str, tuple[str, ...]] = {
    independence: (independence,) for independence in INDEPENDENCES
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of site. columns: its attributes; unknown: those that might be of it."""

    dimension: str
    name: str
    members: tuple[str, ...]
    columns: tuple[int, ...]
    unknown: tuple[int, ...]


def compare_sizes(evidence: Evidence, minimum_cell: int) -> Dimension:
    columns = dict(zip(SIZES, SIZE_COLUMNS, strict=True))
    kinds = _list_kinds("size", SIZE_CLASSES, columns)
    return _compare("size", kinds, evidence, minimum_cell)


def compare_independence(evidence: Evidence, minimum_cell: int) -> Dimension:
    columns = dict(zip(INDEPENDENCES, INDEPENDENCE_COLUMNS, strict=True))
    kinds = _list_kinds("independence", INDEPENDENCE_CLASSES, columns)
    return _compare("independence", kinds, evidence, minimum_cell)


def read_gap(gap: Estimate, if_unknown_belonged: Estimate) -> Reading:
    """The gap with the undeclared sites left out, and with all of them counted in."""
    if gap.low <= 0 <= gap.high:
        return "noDifferenceShown"
    if gap.low > 0:
        return "more" if if_unknown_belonged.low > 0 else "unsettled"
    return "less" if if_unknown_belonged.high < 0 else "unsettled"


def _list_kinds(
    dimension: str, classes: Mapping[str, tuple[str, ...]], columns: Mapping[str, int]
) -> list[_Kind]:
    return [
        _Kind(
            dimension=dimension,
            name=name,
            members=members,
            columns=tuple(columns[member] for member in members),
            unknown=() if name == "unknown" else (columns["unknown"],),
        )
        for name, members in classes.items()
    ]


def _compare(
    dimension: str, kinds: Sequence[_Kind], evidence: Evidence, minimum_cell: int
) -> Dimension:
    return Dimension(
        name=dimension,
        classes=tuple(
            SiteClass(
                name=kind.name,
                members=kind.members,
                sites=count_sites(evidence, kind.columns),
                comparisons=tuple(
                    _compare_kind(evidence, kind, measure, minimum_cell)
                    for measure in COMPARED
                ),
            )
            for kind in kinds
        ),
    )


def _compare_kind(
    evidence: Evidence, kind: _Kind, measure: int, minimum_cell: int
) -> Comparison:
    rankings, queries = count_bearing(evidence.tally, measure, kind.columns)
    cell = Comparison(measure=COMPARED[measure], rankings=rankings, queries=queries)
    if queries < minimum_cell:
        cell = replace(cell, withheld=explain_withheld(queries, minimum_cell))
    else:
        cell = _fill(cell, evidence, kind, measure)
    sentence = describe_comparison(kind.dimension, kind.name, cell)
    return replace(cell, sentence=sentence)


def _fill(
    cell: Comparison, evidence: Evidence, kind: _Kind, measure: int
) -> Comparison:
    widest = kind.columns + kind.unknown
    share = estimate_share(evidence, measure, kind.columns)
    gap = estimate_gap(evidence, measure, kind.columns)
    widest_gap = estimate_gap(evidence, measure, widest)
    total = total_of(evidence, measure, kind.columns)
    return replace(
        cell,
        eligible_share=estimate_share(evidence, baseline_of(measure), kind.columns),
        share=share,
        share_bounds=Interval(
            low=share.value, high=estimate_share(evidence, measure, widest).value
        ),
        gap=gap,
        gap_bounds=Interval(
            low=min(gap.low, widest_gap.low), high=max(gap.high, widest_gap.high)
        ),
        total=total,
        per_site=round_figure(total / count_sites(evidence, kind.columns)),
        reading=read_gap(gap, widest_gap),
    )
