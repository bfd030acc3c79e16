"""The words of a report: sentences made from its figures, and what the figures mean.

A sentence never says more than the interval beside it: a difference that the interval
does not carry is called one that can be chance, whatever its size.
"""

from collections.abc import Mapping, Sequence

from registry.fairness.estimate import Estimate
from registry.fairness.figures import (
    Algorithm,
    Comparison,
    Counts,
    Definition,
    Dimension,
    FairnessReport,
    MeanCommission,
    Measure,
    Reading,
)
from registry.fairness.tally import PERSISTENCE

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
    {"smallBusiness", "medium", "large", "independent", "chain", "unknown"}
)

DEFINITIONS = tuple(
    Definition(figure=figure, meaning=meaning)
    for figure, meaning in {
        "eligibleShare": (
            "The part a kind of site has in the eligible sites of a ranking, averaged "
            "over rankings: how often it would be shown or chosen if sites were drawn "
            "by lot. Estimated from a uniform sample of each ranking's eligible sites. "
            "Beside selections it is taken over the rankings with a selection only."
        ),
        "share": (
            "The part a kind of site gets of what a measure deals out. Each ranking "
            "deals out one whole, so that each counts the same."
        ),
        "logarithmic": "Attention falling with the rank as 1 / log2(1 + rank).",
        "rankBiased": (
            f"Attention falling by a factor of {PERSISTENCE} from rank to rank."
        ),
        "topOne": "All attention on the first place, as agents often act.",
        "selected": (
            "The site that the agent reports to have chosen. Rankings without a report "
            "and reports of no choice are not in it; reports are voluntary."
        ),
        "gap": (
            "Share less eligible share, over the same rankings. It shows where to look, "
            "not who is at fault: kinds of site may differ in relevance, distance, "
            "capability, quality and freshness."
        ),
        "interval": (
            "95% interval of a bootstrap that draws whole queries, with replacement. "
            "Where no query spoke for a kind of site, or none against it, it is widened "
            "by three over the number of queries. About one fair figure in twenty falls "
            "outside by chance alone."
        ),
        "reading": (
            "more, less: the interval of the gap leaves out zero, with the undeclared "
            "sites counted out and with all of them counted in. unsettled: it leaves "
            "out zero in the first case only. noDifferenceShown: it holds zero; that "
            "does not show that there is no difference."
        ),
        "unknown": "Sites that did not declare; a kind of its own.",
        "shareBounds": (
            "The share if no undeclared site were of the kind, and if all were."
        ),
        "gapBounds": (
            "The outermost ends of the gap's interval in these two cases together."
        ),
        "smallBusiness": (
            "Micro and small businesses together, the small ones of WAB 9.7; sizes are "
            "as declared, in the bands of EU Recommendation 2003/361/EC."
        ),
        "total": "What a kind of site got, in wholes of one ranking each.",
        "perSite": "The total over the number of sites of the kind seen eligible.",
        "meanCommission": (
            "Mean declared commission in percent, weighted by the measure. Its bounds "
            "take every undeclared commission as 0% and as 100%."
        ),
        "undeclaredShare": (
            "The part of the measure that went to sites without a declared commission."
        ),
        "gini": (
            "Inequality between eligible sites, those that got nothing among them: "
            "0 where all got the same, near 1 where one got all. At least as many "
            "sites count as were eligible in the largest ranking."
        ),
        "hhi": "Sum of the squared shares of single sites; 1 where one got all.",
        "effectiveNumber": (
            "How many equal sites would be as concentrated: 1 over the former."
        ),
        "publishers": (
            "Sites of one registrable domain, counted as one; only domains that were "
            "seen eligible count."
        ),
        "withheld": (
            "A figure that rests on fewer independent queries than the terms declare "
            "is left out because it would mislead; not to keep it secret, and it may "
            "follow from the others."
        ),
    }.items()
)


def explain_withheld(queries: int, minimum_cell: int) -> str:
    return f"rests on {queries} independent queries, fewer than {minimum_cell}"


def describe_comparison(dimension: str, kind: str, cell: Comparison) -> str:
    who, what = KIND_NAMES[dimension, kind], _RECEIVED[cell.measure]
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
        if site_class.name in _SUMMARISED
        for cell in site_class.comparisons
        if cell.measure in {"logarithmic", "selected"}
    ]
    commissions = [
        cell.sentence
        for cell in report.commission
        if cell.measure in {"eligible", "selected"}
    ]
    return (
        _describe_basis(report.counts),
        *comparisons,
        *commissions,
        _describe_algorithm(report.algorithm),
        _warn_of_chance(report.dimensions),
    )


def _describe_basis(counts: Counts) -> str:
    return (
        f"The report rests on {counts.rankings} rankings with results, from "
        f"{counts.queries} independent queries; {counts.empty_rankings} without results "
        f"are left out. Agents reported on {counts.reported} of them, and chose a site "
        f"in {counts.selections}."
    )


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


def _warn_of_chance(dimensions: Sequence[Dimension]) -> str:
    published = sum(
        not cell.withheld
        for dimension in dimensions
        for site_class in dimension.classes
        for cell in site_class.comparisons
    )
    return (
        f"The report makes {published} comparisons; of fair ones, about one in twenty "
        "still seems to show a difference."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _points(gap: Estimate) -> str:
    return (
        f"{_signed(gap.value)} percentage points "
        f"(95% interval {_signed(gap.low)} to {_signed(gap.high)})"
    )


def _signed(share: float) -> str:
    return f"{round(100 * share, 2) + 0.0:+.2f}"  # no negative zero
