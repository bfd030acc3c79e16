from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.inference.bootstrap import make_clusters
from registry.reports.window.aggregate import (
    BY_RANK,
    CHOSEN,
    COMMISSION,
    DECLARED,
    ELIGIBLE,
    ELIGIBLE_THERE,
    LOGARITHMIC,
    MEASURES,
    POSITION_MODELS,
    RANK_BIASED,
    SELECTED,
    TOP_RESULT,
    WHOLE,
    aggregate,
    aggregate_by_site,
)
from registry.reports.window.classes import classify, classify_declared, fold_names
from registry.reports.window.columns import Observed, count_names
from registry.reports.window.cuts import cut_by_name, cut_by_site
from registry.reports.window.observation import SiteDisclosure
from tests.unit.reports.observed import ObservedRanking, ObservedSelection, gather

DISCLOSURES = (
    SiteDisclosure(site_id="a", size="small", commission_percent=0),
    SiteDisclosure(site_id="b", size="large", commission_percent=20),
)


ODDS = np.array([0.4, 0.3, 0.1, 0.1, 0.05, 0.05])
"""Of a choice, by rank."""


def ranking(number=0, returned=("a", "b"), sample=("a", "b", "c"), **changes):
    return ObservedRanking(
        id=f"r{number}",
        eligible=4,
        returned=returned,
        eligible_sample=sample,
        **changes,
    )


def aggregated(observed: Observed, **options):
    keys = np.concatenate([part.keys for part in observed.parts])
    return aggregate(
        observed.parts,
        observed.sites,
        classify_declared(observed.sites),
        make_clusters(keys),
        **options,
    )


def sums(rankings, disclosures=DISCLOSURES, **options):
    """Of all clusters: (measure, size) -> amount, and the aggregate."""
    (whole,) = aggregated(gather(rankings, disclosures), **options)
    return whole.amounts.sum(axis=0), whole


def test_every_measure_deals_out_one_whole():
    chosen = ranking(selection=ObservedSelection(site_id="b"))
    amounts, whole = sums([chosen], odds=ODDS)
    assert amounts[:, WHOLE] == pytest.approx(np.ones(len(MEASURES)))
    for cell in whole.classes:
        columns = whole.columns_of(cell.dimension, cell.names)
        assert amounts[:, columns].sum(axis=1) == pytest.approx(np.ones(len(MEASURES)))


def test_eligible_sites_share_evenly_and_returned_ones_by_rank():
    amounts, whole = sums([ranking()])
    small, large, unknown = whole.columns_of("size", ("small", "large", "unknown"))
    assert amounts[ELIGIBLE, [small, large, unknown]] == pytest.approx([1 / 3] * 3)
    assert amounts[TOP_RESULT, [small, large, unknown]].tolist() == [1, 0, 0]
    assert amounts[RANK_BIASED, small] == pytest.approx(1 / 1.8)
    assert amounts[LOGARITHMIC, large] == pytest.approx(0.386853, abs=1e-6)


def test_a_short_list_weighs_as_much_as_a_long_one():
    amounts, _ = sums([ranking(0), ranking(1, returned=("b",))])
    assert amounts[LOGARITHMIC, WHOLE] == pytest.approx(2)


def test_only_a_chosen_site_counts_as_selected():
    rankings = [
        ranking(0),
        ranking(1, selection=ObservedSelection(site_id=None)),
        ranking(2, selection=ObservedSelection(site_id="d")),
    ]
    amounts, whole = sums(rankings)
    (unknown,) = whole.columns_of("size", ("unknown",))
    assert amounts[SELECTED, [WHOLE, unknown]].tolist() == [1, 1]
    assert amounts[ELIGIBLE_THERE, WHOLE] == pytest.approx(1)
    assert amounts[ELIGIBLE, WHOLE] == pytest.approx(3)


def test_commission_is_summed_over_those_who_declared_it():
    amounts, _ = sums([ranking()])
    assert amounts[ELIGIBLE, DECLARED] == pytest.approx(2 / 3)
    assert amounts[ELIGIBLE, COMMISSION] == pytest.approx(20 / 3)
    assert amounts[TOP_RESULT, [DECLARED, COMMISSION]].tolist() == [1, 0]


def test_sites_that_were_eligible_or_shown_or_chosen_are_seen():
    chosen = ranking(sample=("a", "d"), selection=ObservedSelection(site_id="e"))
    unseen = SiteDisclosure(site_id="z", size="small")
    _, whole = sums([chosen], [*DISCLOSURES, unseen])
    assert whole.seen.tolist() == [True, True, True, True, False]
    assert whole.count_sites("size", ("small",)) == 1
    assert whole.count_sites("size", ("unknown",)) == 2


def test_rankings_of_one_query_form_a_cluster_and_others_stand_alone():
    observed = gather(
        [ranking(0, query="r1"), ranking(1), ranking(2, query="r1")], DISCLOSURES
    )
    (whole,) = aggregated(observed)
    assert sorted(whole.amounts[:, ELIGIBLE, WHOLE].round().tolist()) == [1, 2]


def test_a_window_without_rankings_deals_out_nothing():
    (empty,) = aggregated(gather([], DISCLOSURES))
    assert empty.amounts.shape[:2] == (0, len(MEASURES))
    assert not empty.seen.any()


def test_parts_of_a_window_add_up_to_the_whole():
    rankings = [
        ranking(
            i, ("a", "b", "c")[: 1 + i % 3], query=f"q{i % 4}", operator=f"o{i // 3}"
        )
        for i in range(12)
    ]
    disclosures = [*DISCLOSURES, SiteDisclosure(site_id="c")]
    whole = gather(rankings, disclosures)
    parts = [gather(half, disclosures) for half in (rankings[:5], rankings[5:])]
    apart = Observed(
        parts=[part for item in parts for part in item.parts],
        scored=whole.scored,
        sites=whole.sites,
    )
    (together,), (added,) = aggregated(whole), aggregated(apart)
    assert added.amounts == pytest.approx(together.amounts)
    assert (added.seen == together.seen).all()
    assert count_names(apart.parts) == count_names(whole.parts)


def test_only_some_rankings_of_a_part_are_as_if_the_others_were_not_there():
    rankings = [
        ranking(i, ("a", "b", "c")[: 1 + i % 3], query=f"q{i}", operator=f"o{i % 2}")
        for i in range(5)
    ]
    (whole,) = gather(rankings, DISCLOSURES).parts
    (some,) = gather(rankings[1::2], [*DISCLOSURES, SiteDisclosure(site_id="c")]).parts
    saved = whole.only(np.arange(5) % 2 == 1)
    for name in ("keys", "returned", "returned_counts", "sampled", "sampled_counts"):
        assert (getattr(saved, name) == getattr(some, name)).all()
    assert [saved.operators[item] for item in saved.operator] == ["o1", "o1"]


def test_cells_of_a_cut_add_up_to_the_whole():
    rankings = [ranking(i, operator="ab"[i % 2]) for i in range(6)]
    observed = gather(rankings, DISCLOSURES)
    (whole,) = aggregated(observed)
    for cut in (
        cut_by_name(lambda part: (part.operators, part.operator), ("a", "b")),
        cut_by_site(np.array([0, 1, 1])),
    ):
        cells = aggregated(observed, cut=cut, cells=2)
        assert sum(cell.amounts for cell in cells) == pytest.approx(whole.amounts)


def test_what_is_in_no_cell_is_left_out():
    observed = gather([ranking(0, operator="a"), ranking(1, operator="b")], DISCLOSURES)
    (only,) = aggregated(
        observed, cut=cut_by_name(lambda part: (part.operators, part.operator), ("b",))
    )
    assert only.amounts[:, LOGARITHMIC, WHOLE].sum() == pytest.approx(1)


def test_of_an_operators_rankings_only_the_sites_that_count_are_reported():
    observed = gather([ranking(0, operator="a"), ranking(1, operator="b")], DISCLOSURES)
    cut = cut_by_name(
        lambda part: (part.operators, part.operator),
        ("a", "b"),
        counted=np.array([True, False, False]),
    )
    for cell in aggregated(observed, cut=cut, cells=2):
        assert cell.amounts[:, ELIGIBLE, WHOLE].sum() == pytest.approx(1 / 3)
        assert cell.amounts[:, TOP_RESULT, WHOLE].sum() == pytest.approx(1)
        assert cell.seen.tolist() == [True, False, False]


def test_no_cells_have_no_tallies():
    observed = gather([ranking()], DISCLOSURES)
    assert (
        aggregated(
            observed,
            cut=cut_by_name(lambda part: (part.operators, part.operator), ()),
            cells=0,
        )
        == []
    )


def test_a_cell_without_any_site_is_empty():
    observed = gather([ranking()], DISCLOSURES)
    cells = aggregated(observed, cut=cut_by_site(np.array([0, 0, -1])), cells=2)
    assert cells[0].seen.tolist() == [True, True, False]
    assert not cells[1].amounts.any()
    assert not cells[1].seen.any()


SITES = "abcdef"
LABELLED = tuple(
    SiteDisclosure(
        site_id=site,
        size=("micro", "small", "large")[number % 3],
        independence=("independent", "chain")[number % 2],
        commission_percent=None if number % 4 == 0 else 5.0 * number,
    )
    for number, site in enumerate(SITES)
)
ANSWERS = st.builds(
    lambda order, shown, sampled, chosen, query, operator: ObservedRanking(
        id=f"{order}{shown}{query}",
        eligible=len(SITES),
        returned=tuple(order[:shown]),
        eligible_sample=tuple(order[-sampled:]),
        selection=None
        if chosen < -1
        else ObservedSelection(site_id=(*SITES, None)[chosen]),
        query=f"q{query}",
        operator=operator,
    ),
    order=st.permutations(SITES),
    shown=st.integers(1, 6),
    sampled=st.integers(1, 6),
    chosen=st.integers(-2, 5),
    query=st.integers(0, 3),
    operator=st.sampled_from("xyz"),
)


def dealt_by_hand(item, measure):
    """(site, amount) of one ranking."""
    there = item.selection is not None and item.selection.site_id is not None
    if measure == SELECTED:
        return [(item.selection.site_id, 1.0)] if there else []
    if measure in {ELIGIBLE, ELIGIBLE_THERE}:
        even = 1 / len(item.eligible_sample)
        wanted = there or measure == ELIGIBLE
        return [(site, even) for site in item.eligible_sample] if wanted else []
    if measure in {CHOSEN, BY_RANK}:
        if not there or item.selection.site_id not in item.returned:
            return []
        if measure == CHOSEN:
            return [(item.selection.site_id, 1.0)]
        weights = ODDS[: len(item.returned)]
    else:
        weights = POSITION_MODELS[measure](len(item.returned))
    return list(zip(item.returned, weights / weights.sum(), strict=True))


@given(st.lists(ANSWERS, min_size=1, max_size=8), st.sampled_from(["operator", "site"]))
def test_sums_are_those_of_a_count_one_by_one(answers, by):
    observed = gather(answers, LABELLED)
    cut = cut_by_name(lambda part: (part.operators, part.operator), ("x", "y"))
    if by == "site":
        cut = cut_by_site(np.array([0, 1, -1, 0, 1, -1]))
    cells = aggregated(observed, cut=cut, cells=2, odds=ODDS)
    (first, *_) = cells
    counted = np.zeros((2, *first.amounts.shape[1:]))
    for answer in answers:
        for measure in MEASURES:
            for site, amount in dealt_by_hand(answer, measure):
                disclosed = LABELLED[SITES.index(site)]
                cell = {"x": 0, "y": 1}.get(answer.operator, -1)
                cell = (0, 1, -1)[SITES.index(site) % 3] if by == "site" else cell
                if cell < 0:
                    continue
                percent = disclosed.commission_percent
                counted[cell, measure, WHOLE] += amount
                counted[cell, measure, DECLARED] += amount * (percent is not None)
                counted[cell, measure, COMMISSION] += amount * (percent or 0)
                for name, value in (
                    ("size", disclosed.size),
                    ("independence", disclosed.independence),
                ):
                    counted[cell, measure, first.columns_of(name, [value])] += amount
    for cell, expected in zip(cells, counted, strict=True):
        assert cell.amounts.sum(axis=0) == pytest.approx(expected)


def test_amounts_by_site_are_those_of_the_classes():
    observed = gather([ranking()], DISCLOSURES)
    by_site = aggregate_by_site(observed.parts, 3)
    assert by_site[TOP_RESULT].tolist() == [1, 0, 0]
    assert by_site[ELIGIBLE] == pytest.approx([1 / 3] * 3)


def test_newcomers_are_told_by_their_age_at_the_end_of_the_window():
    end = datetime(2026, 6, 1, tzinfo=UTC)
    days = [
        datetime(2026, 5, 31, tzinfo=UTC),
        datetime(2026, 5, 2, tzinfo=UTC),
        datetime(2026, 4, 1, tzinfo=UTC),
        datetime(2025, 7, 1, tzinfo=UTC),
        datetime(2020, 1, 1, tzinfo=UTC),
        None,
        datetime(2026, 6, 20, tzinfo=UTC),
    ]
    sites = gather(
        [],
        [SiteDisclosure(site_id=str(i), registered_at=d) for i, d in enumerate(days)],
    ).sites
    age = {cell.dimension: cell for cell in classify(sites, end.timestamp() / 86_400)}[
        "age"
    ]
    assert [age.names[code] for code in age.code] == [
        "under30Days",
        "under90Days",
        "under90Days",
        "under1Year",
        "older",
        "unknown",
        "under30Days",
    ]


def test_names_that_count_least_are_folded_into_one_class():
    names, code = fold_names(["c", "a", "b"], [1, 5, 5], 2)
    assert names == ("a", "b", "(other)")
    assert [names[index] for index in code] == ["(other)", "a", "b"]


def test_few_names_stay_as_they_are():
    assert fold_names(["x"], [3], 2)[0] == ("x",)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"returned": ("a", "a")}, "twice"),
        ({"sample": ("a", "a")}, "twice"),
        ({"returned": tuple("abcde")}, "more sites than eligible"),
        ({"sample": tuple("abcde")}, "more sites than eligible"),
        ({"sample": ()}, "no sample"),
        ({"factors": ((1, 2, 3, 4, 5),)}, "factors of other sites"),
    ],
)
def test_a_ranking_that_contradicts_itself_is_refused(changes, fault):
    with pytest.raises(ValueError, match=f"r0 .*{fault}"):
        ranking(**changes)


lists = st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True).map(
    tuple
)
windows = st.lists(st.tuples(lists, lists), min_size=1, max_size=6)


@given(windows, st.randoms(use_true_random=False))
def test_neither_the_order_of_rankings_nor_the_names_of_sites_matter(window, random):
    rename = dict(zip("abcd", random.sample("wxyz", 4), strict=True))
    plain = [ranking(i, *lists) for i, lists in enumerate(window)]
    renamed = [
        ranking(i, *(tuple(map(rename.get, sites)) for sites in lists))
        for i, lists in enumerate(window)
    ]
    relabelled = [
        SiteDisclosure(
            site_id=rename[disclosure.site_id],
            size=disclosure.size,
            commission_percent=disclosure.commission_percent,
        )
        for disclosure in DISCLOSURES
    ]
    before, _ = sums(plain)
    after, _ = sums(renamed[::-1], relabelled)
    assert after == pytest.approx(before)
