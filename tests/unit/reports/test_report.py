from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest

from registry.reports.build_report import build_report
from registry.reports.estimate import Estimate
from registry.reports.inference.rates import katz_rate_ratio
from registry.reports.metrics.commission import COMMISSION
from registry.reports.metrics.comparison import DIMENSIONS, read_gap
from registry.reports.metrics.comparison_cells import Dimension
from registry.reports.metrics.concentration import CONCENTRATION
from registry.reports.metrics.consistency import CONSISTENCY, Consistency
from registry.reports.metrics.contradictions import CONTRADICTIONS, Contradictions
from registry.reports.metrics.effective_weights import EFFECTIVE_WEIGHTS
from registry.reports.metrics.merit import MERIT_COMPARISON
from registry.reports.metrics.parity import PARITY
from registry.reports.metrics.reach import REACH, Reach
from registry.reports.metrics.tie_audit import TIES
from registry.reports.report_terms import Algorithm, Terms, Window
from registry.reports.window.observation import SiteDisclosure
from tests.unit.reports.intervals import excludes
from tests.unit.reports.observed import ObservedRanking, ObservedSelection, gather

WINDOW = Window(
    start_at=datetime(2026, 1, 1, tzinfo=UTC), end_at=datetime(2026, 2, 1, tzinfo=UTC)
)
TERMS = Terms(window=WINDOW)
ALGORITHM = Algorithm(
    policy_digest="sha-256:aa",
    code_digest="sha-256:bb",
    source_url="https://code.example/registry",
    attestations=("https://auditor.example/2026-01",),
)
SITES = ("mic", "sml", "med", "lrg", "unk")
DISCLOSURES = (
    SiteDisclosure(
        site_id="mic",
        size="micro",
        independence="independent",
        commission_percent=0,
        domain="one.example",
    ),
    SiteDisclosure(
        site_id="sml",
        size="small",
        independence="independent",
        commission_percent=10,
        domain="one.example",
    ),
    SiteDisclosure(site_id="med", size="medium", independence="chain"),
    SiteDisclosure(
        site_id="lrg", size="large", independence="chain", commission_percent=30
    ),
)


def ranking(number, order, *, chosen=None, reported=True, query=""):
    selection = ObservedSelection(site_id=chosen) if reported else None
    return ObservedRanking(
        id=f"r{number:04}",
        eligible=len(SITES),
        returned=tuple(order),
        eligible_sample=SITES,
        selection=selection,
        query=query,
    )


def by_lot(count, seed=3):
    """Fair rankings: the order and so the choice of the first are drawn by lot."""
    rng = np.random.default_rng(seed)
    orders = [[SITES[i] for i in rng.permutation(len(SITES))] for _ in range(count)]
    return [ranking(i, order[:3], chosen=order[0]) for i, order in enumerate(orders)]


def always_large(count):
    return [ranking(i, ("lrg", "med", "sml"), chosen="lrg") for i in range(count)]


def report_on(rankings, disclosures=DISCLOSURES, **terms):
    observed = gather(rankings, disclosures, terms.get("operator", ""))
    return build_report(observed, ALGORITHM, Terms(window=WINDOW, **terms))


def cell_of(report, kind, measure="selected", dimension="size"):
    (result,) = (
        cell
        for part in report[DIMENSIONS]
        if part.name == dimension
        for site_class in part.classes
        if site_class.name == kind
        for cell in site_class.comparisons
        if cell.measure == measure
    )
    return result


@pytest.fixture(scope="module")
def fair():
    return report_on(by_lot(300))


@pytest.fixture(scope="module")
def unfair():
    return report_on(always_large(60))


def test_shares_of_the_declared_classes_sum_to_one(fair):
    for dimension in fair[DIMENSIONS][:2]:
        plain = [c for c in dimension.classes if len(c.members) == 1]
        for cells in zip(*(c.comparisons for c in plain), strict=True):
            assert sum(c.share.value for c in cells) == pytest.approx(1, abs=1e-5)
            eligible = sum(c.eligible_share.value for c in cells)
            assert eligible == pytest.approx(1, abs=1e-5)


def test_every_published_value_lies_within_its_interval_and_its_bounds(fair, unfair):
    for report in (fair, unfair):
        for dimension in report[DIMENSIONS][:2]:
            for site_class in dimension.classes:
                for cell in site_class.comparisons:
                    assert cell.share.low <= cell.share.value <= cell.share.high
                    assert cell.gap.low <= cell.gap.value <= cell.gap.high
                    assert cell.share_bounds.low == cell.share.value
                    assert cell.share_bounds.low <= cell.share_bounds.high <= 1
                    assert cell.gap_bounds.low <= cell.gap.low
                    assert cell.gap_bounds.high >= cell.gap.high


def test_small_business_joins_micro_and_small(fair):
    joined = cell_of(fair, "smallBusiness")
    parts = [cell_of(fair, kind).share.value for kind in ("micro", "small")]
    assert joined.share.value == pytest.approx(sum(parts), abs=2e-6)


def test_a_lot_shows_no_difference(fair):
    for kind in ("smallBusiness", "medium", "large"):
        assert cell_of(fair, kind).reading == "noDifferenceShown"
        assert cell_of(fair, kind).kind_reading in {"notShown", "negligible"}
        assert "No difference of their kind" in cell_of(fair, kind).sentence


def test_a_kind_that_is_always_chosen_is_told_to_get_more(unfair):
    cell = cell_of(unfair, "large")
    assert (cell.share.value, cell.share.high) == (1, 1)
    assert cell.eligible_share.value == 0.2
    assert cell.reading == "more"
    assert "are 20.0% of the eligible: +80.00 points" in cell.sentence


def test_a_kind_that_is_never_chosen_keeps_the_bound_of_the_rule_of_three(unfair):
    cell = cell_of(unfair, "micro")
    assert (cell.share.value, cell.share.low, cell.share.high) == (0, 0, 3 / 60)
    assert cell.gap.high == pytest.approx(-0.2 + 3 / 60)
    assert cell.reading == "less"


def test_sites_of_unknown_kind_are_a_kind_and_move_the_bounds_of_the_others():
    rankings = [
        ranking(i, ("unk", "lrg"), chosen="unk" if i % 2 else "lrg") for i in range(60)
    ]
    report = report_on(rankings)
    assert cell_of(report, "unknown").share.value == 0.5
    small = cell_of(report, "small")
    assert (small.share_bounds.low, small.share_bounds.high) == (0, 0.5)
    assert small.gap_bounds.low < 0 < small.gap_bounds.high


def test_a_difference_that_the_undeclared_could_cancel_is_left_unsettled():
    rankings = [
        ranking(i, ("unk", "lrg"), chosen="unk" if i % 2 else "lrg") for i in range(60)
    ]
    cell = cell_of(report_on(rankings), "small")
    assert cell.gap.high < 0
    assert cell.reading == "unsettled"
    assert "undeclared sites could cancel that" in cell.sentence


@pytest.mark.parametrize(
    ("gap", "widest", "reading"),
    [
        ((0.1, 0.3), (0.2, 0.4), "more"),
        ((0.1, 0.3), (-0.1, 0.4), "unsettled"),
        ((0.1, 0.3), (-0.4, -0.1), "unsettled"),
        ((-0.3, -0.1), (-0.2, -0.1), "less"),
        ((-0.3, -0.1), (-0.2, 0.0), "unsettled"),
        ((-0.3, 0.0), (-0.4, -0.1), "noDifferenceShown"),
        ((0.0, 0.3), (0.1, 0.4), "noDifferenceShown"),
    ],
)
def test_a_reading_needs_both_intervals_on_one_side_of_zero(gap, widest, reading):
    intervals = [Estimate(value=low, low=low, high=high) for low, high in (gap, widest)]
    assert read_gap(*intervals) == reading


def test_thin_cells_are_withheld_with_the_reason():
    report = report_on(always_large(29))
    cell = cell_of(report, "large")
    assert cell.share is cell.gap is cell.reading is None
    assert cell.withheld == "rests on 29 independent queries, fewer than 30"
    assert "withheld" in cell.sentence
    assert all(mean.mean is None and mean.withheld for mean in report[COMMISSION])
    assert all(cell.gini is None and cell.withheld for cell in report[CONCENTRATION])


def test_many_rankings_of_few_queries_are_still_thin():
    rankings = [
        ranking(i, ("lrg",), chosen="lrg", query=f"q{i % 5}") for i in range(100)
    ]
    cell = cell_of(report_on(rankings), "large")
    assert (cell.rankings, cell.queries) == (100, 5)
    assert cell.withheld


def test_selections_are_withheld_where_exposure_is_not():
    rankings = [ranking(i, SITES, reported=i < 10) for i in range(50)]
    report = report_on(rankings)
    assert cell_of(report, "large").withheld
    assert not cell_of(report, "large", "logarithmic").withheld
    assert report.counts.reported == 10
    assert report.counts.selections == 0


def test_the_mean_commission_is_weighted_by_what_was_selected():
    chosen = ["sml", "lrg", "med", "mic"] * 15
    rankings = [ranking(i, SITES, chosen=site) for i, site in enumerate(chosen)]
    means = {mean.measure: mean for mean in report_on(rankings)[COMMISSION]}
    selected = means["selected"]
    assert selected.mean.value == pytest.approx(40 / 3, abs=1e-6)
    assert selected.undeclared_share == 0.25
    assert (selected.bounds.low, selected.bounds.high) == (10, 35)
    assert selected.mean.low < selected.mean.value < selected.mean.high
    assert means["topOne"].mean.value == 0
    assert means["eligible"].undeclared_share == 0.4


def test_concentration_counts_sites_that_got_nothing(unfair):
    cells = {(c.measure, c.over): c for c in unfair[CONCENTRATION]}
    sites = cells["selected", "sites"]
    assert (sites.members, sites.without) == (5, 4)
    assert (sites.gini, sites.hhi, sites.effective_number) == (0.8, 1, 1)


def test_eligible_sites_that_were_never_seen_count_too():
    rankings = [
        ObservedRanking(
            id=f"r{i}", eligible=50, returned=("a", "b"), eligible_sample=("a",)
        )
        for i in range(40)
    ]
    cells = {(c.measure, c.over): c for c in report_on(rankings)[CONCENTRATION]}
    assert cells["topOne", "sites"].members == 50
    assert cells["topOne", "sites"].gini == 0.98


def test_sites_of_one_domain_are_one_publisher(fair):
    cells = {(c.measure, c.over): c for c in fair[CONCENTRATION]}
    assert cells["topOne", "publishers"].members == 4
    assert cells["topOne", "publishers"].hhi > cells["topOne", "sites"].hhi


def test_rankings_without_results_are_counted_and_left_out():
    nothing = ObservedRanking(id="x", eligible=0, returned=(), eligible_sample=())
    report = report_on([*always_large(30), nothing])
    assert (report.counts.rankings, report.counts.empty_rankings) == (30, 1)
    assert cell_of(report, "large").share.value == 1


def test_a_window_without_rankings_has_a_report_without_figures():
    report = report_on([])
    assert report.counts.rankings == 0
    assert all(
        cell.withheld
        for dimension in report[DIMENSIONS]
        for site_class in dimension.classes
        for cell in site_class.comparisons
    )


def test_the_order_of_the_input_changes_nothing():
    rankings = by_lot(40)
    again = report_on(rankings[::-1], disclosures=DISCLOSURES[::-1])
    assert again == report_on(rankings)


def test_another_seed_moves_intervals_but_no_figure(fair):
    other = report_on(by_lot(300), seed=1)
    ours, theirs = cell_of(fair, "micro").gap, cell_of(other, "micro").gap
    assert ours.value == theirs.value
    assert (ours.low, ours.high) != (theirs.low, theirs.high)
    assert ours.low == pytest.approx(theirs.low, abs=0.02)


@pytest.mark.parametrize(
    ("metric", "kind"),
    [
        (DIMENSIONS, tuple[Dimension, ...]),
        (REACH, tuple[Reach, ...]),
        (CONSISTENCY, Consistency),
        (CONTRADICTIONS, Contradictions),
    ],
)
def test_the_cells_of_a_report_survive_encoding(unfair, metric, kind):
    encoded = msgspec.json.encode(unfair[metric])
    assert msgspec.json.decode(encoded, type=kind) == unfair[metric]


def test_the_algorithm_and_its_attestations_are_reported(fair):
    assert fair.algorithm == ALGORITHM
    (sentence,) = (s for s in fair.sentences if "policy" in s)
    for fact in ("sha-256:aa", "sha-256:bb", "code.example", "auditor.example"):
        assert fact in sentence


def test_missing_openness_is_reported_as_missing():
    bare = Algorithm(policy_digest="sha-256:aa", code_digest="sha-256:bb")
    sentences = build_report(gather([], []), bare, TERMS).sentences
    assert any(
        "not said to be public" in s and "no audit is attested" in s for s in sentences
    )


def test_every_figure_of_a_comparison_is_defined_in_the_report(fair):
    defined = {definition.figure for definition in fair.definitions}
    assert {"eligibleShare", "share", "gap", "interval", "reading"} <= defined
    assert {cell.measure for cell in fair[DIMENSIONS][0].classes[0].comparisons} <= (
        defined
    )


def test_the_four_fifths_rule_is_no_part_of_the_words(fair, unfair):
    for report in (fair, unfair):
        words = " ".join(report.sentences).lower()
        assert "four fifths" not in words
        assert "bias" not in words
        assert "discriminat" not in words


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (datetime(2026, 1, 1), datetime(2026, 2, 1)),  # noqa: DTZ001 -- the fault itself
        (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)),
    ],
)
def test_a_window_needs_a_zone_and_a_length(start, end):
    with pytest.raises(ValueError, match="window"):
        Window(start_at=start, end_at=end)


def test_a_minimum_of_no_queries_is_refused():
    with pytest.raises(ValueError, match="at least one query"):
        Terms(window=WINDOW, minimum_cell=0)


def test_the_four_fifths_rule_cries_wolf_where_the_rate_ratio_does_not():
    rng = np.random.default_rng(2)
    pairs = rng.binomial(30, 0.1, (3000, 2))
    highest = pairs.max(axis=1)
    flagged = pairs.min(axis=1) < 0.8 * highest
    assert flagged.mean() == pytest.approx(0.78, abs=0.03)
    claimed = [excludes(katz_rate_ratio(a, 30, b, 30)[1], 1) for a, b in pairs.tolist()]
    assert np.mean(claimed) <= 0.05


def scored_window(count=60):
    """Three sites near, one far and one without a place; the first two always tied."""
    factors = (
        (9000, 9900, 5000, 7000, 9000),
        (9000, 9900, 5000, 7000, 9000),
        (8000, 7000, 5000, 7000, 9000),
        (8000, 10, 5000, 7000, 9000),
        (5000, 5000, 5000, 7000, 9000),
    )
    rng = np.random.default_rng(6)
    findings = []
    for number in range(count):
        first = ["sml", "lrg"][:: 1 if rng.random() < 0.5 else -1]
        findings.append(
            ObservedRanking(
                id=f"r{number:08}",
                eligible=5,
                returned=(*first, "mic", "med", "unk"),
                eligible_sample=SITES,
                query=f"q{number}",
                operator=f"agent-{number % 2}",
                category="bakery" if number % 3 == 0 else "",
                factors=factors,
                tiers=(1,) * len(factors),
                located=True,
            )
        )
    return findings


@pytest.fixture(scope="module")
def by_category():
    disclosures = [
        replace(
            disclosure,
            category="bakery"
            if disclosure.site_id in {"mic", "sml", "lrg"}
            else "bank",
        )
        for disclosure in DISCLOSURES
    ]
    return {
        "": report_on(scored_window(90), disclosures),
        "bakery": report_on(scored_window(90), disclosures, category="Bakery"),
    }


def test_every_part_of_the_window_has_its_breakdown(by_category):
    members = {
        (breakdown.by, breakdown.value): breakdown
        for breakdown in by_category[""].breakdowns
    }
    assert members["operator", "agent-0"].rankings == 45
    assert members["requestedCategory", "bakery"].queries == 30
    assert not members["siteCategory", "bakery"].withheld
    assert members["distanceBand", "under 10 km"].queries == 90
    assert members["distanceBand", "250 km or more"].baseline == "returned"
    assert members["distanceBand", "site without a place"].rankings > 0
    assert members["distanceBand", "50 to 250 km"].withheld


def test_a_category_that_few_asked_for_is_left_out_with_its_name():
    breakdowns = report_on(scored_window(87), DISCLOSURES).breakdowns
    assert "requestedCategory" not in {breakdown.by for breakdown in breakdowns}
    assert {"operator", "siteCategory", "distanceBand"} <= {
        breakdown.by for breakdown in breakdowns
    }


def test_a_breakdown_compares_within_its_part(by_category):
    members = {
        (breakdown.by, breakdown.value): breakdown
        for breakdown in by_category[""].breakdowns
    }
    size, _ = members["siteCategory", "bakery"].dimensions
    shares = {entry.name: entry.comparisons[0] for entry in size.classes}
    assert shares["micro"].eligible_share.value == pytest.approx(1 / 3, abs=1e-6)
    assert shares["medium"].withheld


def test_a_report_of_one_category_holds_its_sites_only(by_category):
    report = by_category["bakery"]
    assert report.terms.category == "Bakery"
    assert report.counts.sites == 3
    assert any("Only sites of the category 'Bakery'" in s for s in report.sentences)
    cell = cell_of(report, "micro", "topOne")
    assert cell.eligible_share.value == pytest.approx(1 / 3, abs=1e-6)


def test_a_report_of_one_operator_holds_its_rankings_only():
    report = report_on(scored_window(90), operator="agent-1")
    assert report.counts.rankings == 45
    assert [
        breakdown.value for breakdown in report.breakdowns if breakdown.by == "operator"
    ] == ["agent-1"]


def test_effective_weights_stand_beside_the_nominal_ones(by_category):
    weights = {factor.factor: factor for factor in by_category[""][EFFECTIVE_WEIGHTS]}
    assert [weight.nominal for weight in weights.values()] == [
        0.4,
        0.2,
        0.15,
        0.15,
        0.1,
    ]
    total = sum(weight.variance_share.value for weight in weights.values())
    assert total == pytest.approx(1, abs=1e-5)
    assert weights["quality"].variance_share.value == 0
    assert weights["relevance"].swap_rate.value > 0
    assert any("nominally 40.0%" in sentence for sentence in by_category[""].sentences)


def test_ties_are_audited(by_category):
    ties = by_category[""][TIES]
    assert (ties.runs, ties.sites) == (90, 2)
    assert ties.p_value > 0.001
    assert "no departure from a fair shuffle" in ties.sentence


def test_merit_is_that_of_the_scores_and_sums_to_one(by_category):
    sizes = [
        cell for cell in by_category[""][MERIT_COMPARISON] if cell.dimension == "size"
    ]
    plain = [size for size in sizes if size.name != "smallBusiness"]
    assert sum(item.merit_share.value for item in plain) == pytest.approx(1, abs=1e-5)
    for element in plain:
        assert element.exposure_to_merit.value == pytest.approx(
            element.exposure_share.value / element.merit_share.value, abs=1e-4
        )
    consistency = by_category[""][CONSISTENCY]
    assert 0 < consistency.inequity < 2
    assert consistency.loss.value > 0
    assert consistency.largest_gaps["size"] > 0


def test_exposure_that_is_shared_out_as_eligible_has_parity(by_category):
    parity = {(cell.dimension, cell.measure): cell for cell in by_category[""][PARITY]}
    assert 0.9 < parity["size", "logarithmic"].awrf.value < 1
    assert parity["size", "logarithmic"].ndkl.value > 0
    assert parity["size", "selected"].withheld


def test_without_disclosed_scores_what_needs_them_is_withheld(fair):
    assert all(cell.withheld for cell in fair[EFFECTIVE_WEIGHTS])
    assert all(cell.withheld for cell in fair[MERIT_COMPARISON])
    assert fair[CONSISTENCY].withheld
    assert fair[TIES].withheld
    assert fair.counts.scored == 0


def test_position_models_are_reported_with_their_formula(fair):
    models = {model.measure: model for model in fair.position_models}
    assert set(models) == {"logarithmic", "rankBiased", "topOne"}
    assert models["topOne"].weights[:2] == (1, 0)
    assert models["logarithmic"].weights[0] == 1


def test_reach_counts_sites_once_and_withholds_few(fair):
    cells = {(entry.name, entry.measure): entry for entry in fair[REACH]}
    cell = cells["micro", "selected"]
    assert (cell.reached, cell.sites, cell.other_sites) == (1, 1, 3)
    assert cell.withheld == "rests on 1 sites, fewer than 30"


def test_every_new_figure_is_defined_in_the_report(by_category):
    defined = {definition.figure for definition in by_category[""].definitions}
    assert {
        "awrf",
        "disparity",
        "exposureToMerit",
        "inequity",
        "loss",
        "ndkl",
        "pValue",
        "ratio",
        "reach",
        "relevance",
        "scored",
        "swapRate",
        "swapShare",
        "ties",
        "treatment",
        "varianceShare",
    } <= defined


def test_categories_of_hostile_sites_stay_few():
    disclosures = [
        SiteDisclosure(site_id=f"s{number:03}", category=f"[bold]{number}")
        for number in range(100)
    ]
    rankings = [ranking(i, ("lrg",)) for i in range(30)]
    report = report_on(rankings, disclosures)
    (category,) = (entry for entry in report[DIMENSIONS] if entry.name == "category")
    assert len(category.classes) == 21
