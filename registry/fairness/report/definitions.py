"""What each figure of a report means; carried in the report itself."""

from registry.fairness.inference.bootstrap import CLUSTERS_MAX
from registry.fairness.inference.permutation import EXACT_MAX
from registry.fairness.report.figures import Definition
from registry.fairness.window.columns import SAMPLED_MAX, SCORED_MAX
from registry.fairness.window.tally import PERSISTENCE

DEFINITIONS = tuple(
    Definition(figure=figure, meaning=meaning)
    for figure, meaning in {
        "eligibleShare": (
            "The part a kind of site has in the eligible sites of a ranking, averaged "
            "over rankings: how often it would be shown or chosen if sites were drawn "
            "by lot. Estimated from a uniform sample of each ranking's eligible sites; "
            f"beyond {SAMPLED_MAX} sampled sites in a window, from an even part of each "
            "sample, that begins where the last byte of the ranking's id says. "
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
            "The site that the agent reports to have chosen, before the window has ended. "
            "Rankings without a report and reports of no choice are not in it; reports "
            "are voluntary."
        ),
        "gap": (
            "Share less eligible share, over the same rankings. It shows where to look, "
            "not who is at fault: kinds of site may differ in relevance, distance, "
            "capability, quality and freshness."
        ),
        "interval": (
            "95% interval of a bootstrap that draws whole queries, with replacement; "
            f"of more than {CLUSTERS_MAX}, whole groups of queries. "
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
            "corrected for the number of comparisons, and no sentence rests on it."
        ),
        "age": (
            "Days from a site's registration to the end of the window; newcomers are "
            "those under 30."
        ),
        "category": "Of the site, as listed; beyond the twenty largest: (other).",
        "breakdowns": (
            "The same comparisons over the rankings of one operator, over those whose "
            "request named one category, over the sites of one category, and over the "
            "sites in one band of distance. The twenty largest of each are told; a "
            "requested category that too few queries name is left out altogether."
        ),
        "distanceBand": (
            "From the proximity factor of the disclosed scores. Its baseline is the "
            "share among the returned sites in the band, because the distances of all "
            "eligible sites are not recorded."
        ),
        "scored": (
            f"At most {SCORED_MAX} rankings whose scores are not erased, those whose "
            "ids have the first ends, of eight characters. Merit, consistency, effective weights, ties and "
            "distance bands rest on them, under the policy in force at the report."
        ),
        "reach": (
            "Eligible sites of a class that got any of the measure, over those of the "
            "other declared classes: ratio of the rates with the interval of Katz. It "
            "counts sites, each once."
        ),
        "awrf": (
            "1 less the Jensen-Shannon divergence, base 2, of the classes' shares from "
            "their eligible shares; 1 where they are the same."
        ),
        "ndkl": (
            "Divergence, in nats, of every top of a list from the eligible shares, "
            "discounted by the logarithm of its length; mean over the scored rankings. "
            "0 where they are the same; short lists can not reach it."
        ),
        "merit": (
            "The ranker's own score. Figures with it tell whether exposure is consistent "
            "with the scores, not whether the scores are right: that would be circular."
        ),
        "exposureToMerit": (
            "Share of logarithmic attention over share of merit, among returned sites."
        ),
        "treatment": (
            "Exposure per merit of a class over that of the other declared classes."
        ),
        "inequity": (
            "Sum over sites of the distance between attention and merit, each "
            "accumulated over all rankings, a ranking; from 0 to 2. Lists of sites with "
            "like scores can not reach 0, as attention falls with rank."
        ),
        "disparity": "Expected exposure: sum of squares (EE-D), mean over queries.",
        "relevance": "Expected exposure times its target (EE-R), mean over queries.",
        "loss": (
            "Squared distance of expected exposure from its target, a uniform shuffle "
            "of sites of equal score (EE-L), mean over queries. A query asked once is "
            "shuffled once, so that ties alone keep it above 0."
        ),
        "varianceShare": (
            "Part of the factor's weighted values in the variance within rankings, "
            "summed over factors; among returned sites, which differ less in what got "
            "them there."
        ),
        "swapRate": (
            "Pairs of returned sites, not tied, that would stand the other way round "
            "without the factor."
        ),
        "swapShare": "The same as a part of the swaps of all factors.",
        "ties": (
            "Neighbours of equal score and commission tier. The distance sums over sites "
            "(S - E)² / V of the places in their ties; the p-value is that of shuffled "
            "ties."
        ),
        "invariance": (
            "Each day the registry asks recent queries of shadow indexes in which one "
            "thing of some sites is otherwise: what must not matter, or what may only "
            "raise, or only lower, a score. A trial is one query under one such change; "
            "a violation is a trial whose answer changed as it must not. The trials are "
            "those of the days in the window, with queries of every operator."
        ),
        "violationRate": (
            "Violations over trials. Where none was seen the interval ends at three over "
            "the number of trials, else it is Wilson's. Trials of a day share queries "
            "and sites, so that it is somewhat too narrow."
        ),
        "contradictions": (
            "Sites registered by the window's end of which documents, registration or "
            "auditors state the same field differently, by the words that counted then "
            "(GET /v1/labels?at=). Where they differ the report follows one of them, as "
            "told under unknown; that they differ does not say who is right. Of sites "
            "without two tellers no contradiction can show, so that none shown does not "
            "mean that the label is right."
        ),
        "statedTwice": (
            "Sites of which two tellers or more state the field: only these can be "
            "contradicted."
        ),
        "siteShare": "Contradicted sites over all sites registered by the window's end.",
        "shareBounds": (
            "The share if no undeclared site were of the kind, and if all were."
        ),
        "gapBounds": (
            "The outermost ends of the gap's interval in these two cases together."
        ),
        "smallBusiness": (
            "Micro and small businesses together, the small ones of WAB 9.7; sizes are "
            "as labelled, in the bands of EU Recommendation 2003/361/EC."
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
