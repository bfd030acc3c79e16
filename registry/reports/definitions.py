"""Definitions: what each figure of a report means; carried in the report itself."""

from collections.abc import Mapping

from registry.reports.inference.bootstrap import CLUSTERS_MAX
from registry.reports.inference.permutation import EXACT_MAX
from registry.reports.metrics import breakdowns
from registry.reports.metrics.table import FURTHER, ITEMS
from registry.reports.model import Definition
from registry.reports.window.aggregate import PERSISTENCE
from registry.reports.window.columns import SAMPLED_MAX

_SHARED: Mapping[str, str] = {
    "eligibleShare": (
        "The part a class of site has in the eligible sites of a ranking, averaged "
        "over rankings: how often it would be shown or chosen if sites were drawn "
        "by lot. Estimated from a uniform sample of each ranking's eligible sites; "
        f"beyond {SAMPLED_MAX} sampled sites in a window, from an even part of each "
        "sample, that begins where the last byte of the ranking's id says. "
        "Beside selections it is taken over the rankings with a selection only; beside "
        "selectedGivenRank it is what the ranks shown would bring."
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
        "The site that the agent reports to have chosen, before the window has ended. "
        "Rankings without a report and reports of no choice are not in it; reports "
        "are voluntary."
    ),
    "selectedGivenRank": (
        "Selections over the rankings that showed the chosen site. In place of the "
        "eligible share stands what agents would choose of the same lists by the rank "
        "alone, at the odds of each rank in this window: what the ranking gave is in the "
        "ranks, what is left is what agents made of it. Where kinds and ranks go "
        "together, the odds take up some of the difference, so that it is told too small."
    ),
    "gap": (
        "Share less eligible share, over the same rankings. It shows where to look, "
        "not who is at fault: kinds of site may differ in relevance, distance, "
        "capability, quality and freshness."
    ),
    "interval": (
        "95% interval of a bootstrap that draws whole queries, with replacement; "
        f"of more than {CLUSTERS_MAX}, whole groups of queries. It is of these very "
        "sites, over other queries. Few or unequal queries widen it, by their weights "
        "and Student's quantile. "
        "Where no query spoke for a kind of site, or none against it, it is widened "
        "by three over the number of queries."
    ),
    "reading": (
        "more, less: the interval of the gap leaves out zero, with the undeclared "
        "sites counted out and with all of them counted in. unsettled: it leaves "
        "out zero in the first case only. noDifferenceShown: it holds zero; that "
        "does not show that there is no difference."
    ),
    "kindReading": (
        "Whether the kind of site is treated otherwise, beyond the sites of this "
        "window: more or less where the reading says so of these sites, the adjusted "
        "p-value is a tenth or less and the gap of the kind is not negligible. "
        "negligible: that gap is, or the whole of its interval. Else notShown, which "
        "does not show that there is no difference: see detectable."
    ),
    "kindGap": (
        "The gap beyond what the categories of the class's sites explain. 95% of labels "
        "drawn by lot over publishers, within categories, part sites by less than half "
        "the width of its interval."
    ),
    "adjustedPValue": (
        "How often, at most, labels drawn by lot part any class in any measure of the "
        "report as far, by its own spread (Westfall & Young); four families of tests, by "
        "size, independence, age and of ties, share the rate."
    ),
    "detectable": (
        "The gap of a kind that would be shown in four windows like this of five; none "
        "where labels or selections are too few for any."
    ),
    "magnitude": (
        "Of the kind's gap, else of the gap: negligible up to 2% of the eligible share, "
        "small up to 10%, else large."
    ),
    "unknown": (
        "Sites of which nobody says it; a kind of its own. Labels are those that "
        "counted at the end of the window: an auditor's, else that of the signed "
        "registration, else of the site's documents (GET /v1/labels?at=)."
    ),
    "queries": (
        "Independent queries that a figure rests on. A window of more than "
        f"{CLUSTERS_MAX} is put into as many groups by a hash of the query, and the "
        "groups are counted."
    ),
    "rankings": (
        "Rankings of these queries that dealt out the measure; where a report or "
        "breakdown holds only part of a ranking's sites, so much of it."
    ),
    "ratio": "Share over eligible share, with the interval of the bootstrap.",
    "pValue": (
        "How often labels, shuffled among the sites of one category, part the class "
        "from the other declared ones as far as the real labels do, in what a site "
        "got beyond its eligible share. Of more than "
        f"{EXACT_MAX} sites by the normal curve with the same variance. It is not "
        "corrected for the number of comparisons, and no sentence rests on it; the "
        "adjusted one is."
    ),
    "age": (
        "Days from a site's registration to the end of the window; newcomers are "
        "those under 30."
    ),
    "category": "Of the site, as listed; beyond the twenty largest: (other).",
}

_LAST: Mapping[str, str] = {
    "withheld": (
        "A figure that rests on fewer independent queries than the terms declare "
        "is left out because it would mislead; not to keep it secret, and it may "
        "follow from the others."
    ),
}

DEFINITIONS = tuple(
    Definition(figure=figure, meaning=meaning)
    for meanings in (
        _SHARED,
        breakdowns.DEFINITIONS,
        *(metric.definitions for metric in (*FURTHER, *ITEMS)),
        _LAST,
    )
    for figure, meaning in meanings.items()
)
