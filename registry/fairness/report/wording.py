"""The words of a report: sentences made from its figures, and what the figures mean.

A sentence never says more than the interval beside it: a difference that the interval
does not carry is called one that can be chance, whatever its size.
"""

from collections.abc import Iterator, Mapping, Sequence

from registry.fairness.report.estimate import Estimate
from registry.fairness.report.figures import (
    Algorithm,
    Comparison,
    Contradictions,
    Counts,
    Dimension,
    EffectiveWeight,
    FairnessReport,
    Invariance,
    MeanCommission,
    Measure,
    Reading,
    Terms,
    TieAudit,
)
from registry.fairness.window.tally import PERSISTENCE

KIND_NAMES: Mapping[tuple[str, str], str] = {
    ("size", "micro"): "Micro businesses",
    ("size", "small"): "Small businesses",
    ("size", "smallBusiness"): "Micro and small businesses together",
    ("size", "medium"): "Medium businesses",
    ("size", "large"): "Large businesses",
    ("size", "unknown"): "Sites of undeclared size",
    ("independence", "independent"): "Independent sites",
    ("independence", "chain"): "Sites of chains",
    ("independence", "unknown"): "Sites of undeclared independence",
    ("age", "under30Days"): "Sites registered less than 30 days ago",
    ("age", "under90Days"): "Sites registered 30 to 90 days ago",
    ("age", "under1Year"): "Sites registered 90 days to a year ago",
    ("age", "older"): "Sites registered a year ago or earlier",
    ("age", "unknown"): "Sites whose day of registration is not known",
    ("contradiction", "any"): "Sites of which tellers contradict each other",
    ("contradiction", "size"): "Sites whose size is contested",
    ("contradiction", "independence"): "Sites whose independence is contested",
    ("contradiction", "chain"): "Sites whose chain is contested",
    ("contradiction", "commission"): "Sites whose commission is contested",
}

_RECEIVED: Mapping[Measure, str] = {
    "eligible": "of the eligible sites",
    "logarithmic": "of the attention, if that falls with the logarithm of the rank",
    "rankBiased": f"of the attention, if that falls by a factor of {PERSISTENCE} a rank",
    "topOne": "of the first places",
    "selected": "of the selections",
}

_WEIGHTED: Mapping[Measure, str] = {
    "eligible": "eligible sites",
    "logarithmic": "sites shown (weighted by logarithmic attention)",
    "rankBiased": "sites shown (weighted by rank-biased attention)",
    "topOne": "sites in first place",
    "selected": "selected sites",
}

_READINGS: Mapping[Reading, str] = {
    "more": "That is more than their eligible share: {gap}.",
    "less": "That is less than their eligible share: {gap}.",
    "noDifferenceShown": "The gap can be chance, no difference is shown: {gap}.",
    "unsettled": (
        "The declared sites differ from their eligible share, {gap}, "
        "but the undeclared ones could cancel that."
    ),
}

_SUMMARISED = frozenset(
    ("size", kind) for kind in ("smallBusiness", "medium", "large", "unknown")
) | frozenset(
    {
        ("independence", "independent"),
        ("independence", "chain"),
        ("independence", "unknown"),
        ("age", "under30Days"),
    }
)

_SUMMARISED_MEASURES = frozenset({"logarithmic", "selected"})

SIGNIFICANT = 0.05


def explain_withheld(queries: int, minimum_cell: int) -> str:
    return f"rests on {queries} independent queries, fewer than {minimum_cell}"


def describe_comparison(dimension: str, kind: str, cell: Comparison) -> str:
    who, what = name_kind(dimension, kind), _RECEIVED[cell.measure]
    if not (cell.share and cell.eligible_share and cell.gap and cell.reading):
        return f"{who}, share {what}: withheld, as it {cell.withheld}."
    return (
        f"{who} made up {_percent(cell.eligible_share.value)} of the eligible sites "
        f"and got {_percent(cell.share.value)} "
        f"(95% interval {_percent(cell.share.low)} to {_percent(cell.share.high)}) "
        f"{what}. " + _READINGS[cell.reading].format(gap=_points(cell.gap))
    )


def describe_commission(cell: MeanCommission) -> str:
    who = _WEIGHTED[cell.measure]
    undeclared = (
        ""
        if cell.undeclared_share is None
        else f" {_percent(cell.undeclared_share)} of them by weight declared none."
    )
    if not cell.mean:
        return f"Mean commission of {who}: withheld, as it {cell.withheld}.{undeclared}"
    return (
        f"The mean declared commission of {who} is {cell.mean.value:.1f}% "
        f"(95% interval {cell.mean.low:.1f}% to {cell.mean.high:.1f}%).{undeclared}"
    )


def summarise(report: FairnessReport) -> tuple[str, ...]:
    """The four items of §9.7 in sentences, with what they rest on and a caveat."""
    comparisons = [
        cell.sentence
        for dimension in report.dimensions
        for site_class in dimension.classes
        if (dimension.name, site_class.name) in _SUMMARISED
        for cell in site_class.comparisons
        if cell.measure in _SUMMARISED_MEASURES
    ]
    commissions = [
        cell.sentence
        for cell in report.commission
        if cell.measure in {"eligible", "selected"}
    ]
    return (
        _describe_basis(report.counts),
        *_describe_limits(report.terms),
        *comparisons,
        *commissions,
        *_summarise_contradictions(report.contradictions),
        *_describe_weights(report.effective_weights),
        *([report.ties.sentence] if report.ties else []),
        *([report.invariance.sentence] if report.invariance else []),
        _describe_algorithm(report.algorithm),
        _warn_of_chance(report),
    )


def _describe_basis(counts: Counts) -> str:
    return (
        f"The report rests on {counts.rankings} rankings with results, from "
        f"{counts.queries} independent queries; {counts.empty_rankings} without results "
        f"are left out. Agents reported on {counts.reported} of them, and chose a site "
        f"in {counts.selections}."
    )


def describe_ties(cell: TieAudit) -> str:
    who = f"{cell.runs} ties of sites of equal score"
    if cell.p_value is None:
        return f"Places in {who}: withheld, as it {cell.withheld}."
    told = (
        "depart from a fair shuffle further than chance does in one case of twenty"
        if cell.p_value < SIGNIFICANT
        else "show no departure from a fair shuffle"
    )
    return f"The places in {who} {told} (p = {cell.p_value:.3f})."


def describe_trials(cell: Invariance) -> str:
    if cell.rate is None:
        return f"Trials of invariance: withheld, as the report {cell.withheld}."
    ends = f"{_rate(cell.rate.low)} to {_rate(cell.rate.high)}"
    failed = ", ".join(
        f"{one.name} ({one.violations} of {one.trials})"
        for one in cell.perturbations
        if one.violations
    )
    return (
        f"In {cell.trials} trials {_days(cell.days)}, {cell.violations} "
        f"rankings moved by what must not move them, a rate of {_rate(cell.rate.value)} "
        f"(95% interval {ends})" + (f": {failed}." if failed else ".")
    )


def describe_contradictions(cell: Contradictions) -> str:
    whole, *fields = cell.fields
    told = ", ".join(f"{one.name} {one.sites}" for one in fields if one.sites)
    listed = f" ({told})" if told else ""
    return (
        f"Of the {cell.registered} sites registered by the end of the window, "
        "documents, registration and auditors contradict each other on "
        f"{whole.sites}{listed}, {_percent(whole.site_share)}. On {whole.stated_twice} "
        "at least two of them state the same field; on the others no contradiction can "
        "show. A contradiction does not say who is right."
    )


def _summarise_contradictions(cell: Contradictions | None) -> list[str]:
    if cell is None:
        return []
    told = (one for one in cell.fields[0].comparisons)
    cells = [one.sentence for one in told if one.measure in _SUMMARISED_MEASURES]
    return [cell.sentence, *cells]


def _describe_limits(terms: Terms) -> list[str]:
    limits = []
    if terms.operator:
        limits.append(f"Only rankings for the operator {terms.operator!r} are in it.")
    if terms.category:
        limits.append(f"Only sites of the category {terms.category!r} are in it.")
    return limits


def _describe_weights(weights: Sequence[EffectiveWeight]) -> list[str]:
    told = [
        f"{one.factor.replace('_', ' ')} {_percent(one.variance_share.value)} "
        f"(nominally {_percent(one.nominal)})"
        for one in weights
        if one.variance_share
    ]
    if not told:
        return []
    parts = ", ".join(told)
    return [
        f"Of what tells the returned sites' scores apart, the factors make up: {parts}."
    ]


def name_kind(dimension: str, kind: str) -> str:
    return KIND_NAMES.get((dimension, kind)) or f"Sites of the {dimension} {kind!r}"


def _describe_algorithm(algorithm: Algorithm) -> str:
    code = (
        f"its code is public at {algorithm.source_url}"
        if algorithm.source_url
        else "its code is not said to be public"
    )
    audits = (
        f"attested at {', '.join(algorithm.attestations)}"
        if algorithm.attestations
        else "no audit is attested"
    )
    return (
        f"Sites were ordered by policy {algorithm.policy_digest} as run by code "
        f"{algorithm.code_digest}; {code}; {audits}."
    )


def _warn_of_chance(report: FairnessReport) -> str:
    cells = [
        *_comparisons(report.dimensions),
        *(report.contradictions.comparisons if report.contradictions else ()),
    ]
    published = sum(not cell.withheld for cell in cells)
    return (
        f"Its tables make {published} comparisons; of fair ones, about one in twenty "
        "still seems to show a difference."
    )


def _comparisons(dimensions: Sequence[Dimension]) -> Iterator[Comparison]:
    for dimension in dimensions:
        for site_class in dimension.classes:
            yield from site_class.comparisons


def _days(count: int) -> str:
    return "on one day" if count == 1 else f"on {count} days"


def _rate(share: float) -> str:
    """Of what is rare."""
    return f"{100 * share:.2g}%"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _points(gap: Estimate) -> str:
    return (
        f"{_signed(gap.value)} percentage points "
        f"(95% interval {_signed(gap.low)} to {_signed(gap.high)})"
    )


def _signed(share: float) -> str:
    return f"{round(100 * share, 2) + 0.0:+.2f}"  # no negative zero
