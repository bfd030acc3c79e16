import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.fairness.observation import (
    ObservedRanking,
    ObservedSelection,
    SiteDisclosure,
)
from registry.fairness.tally import (
    COMMISSION,
    DECLARED,
    ELIGIBLE,
    ELIGIBLE_THERE,
    INDEPENDENCE_COLUMNS,
    LOGARITHMIC,
    RANK_BIASED,
    SELECTED,
    SIZE_COLUMNS,
    SIZES,
    TOP_ONE,
    tally,
)

SMALL, LARGE, UNKNOWN = (SIZES.index(size) for size in ("small", "large", "unknown"))
DISCLOSURES = {
    "a": SiteDisclosure(site_id="a", size="small", commission_percent=0),
    "b": SiteDisclosure(site_id="b", size="large", commission_percent=20),
}


def ranking(number=0, returned=("a", "b"), sample=("a", "b", "c"), **changes):
    return ObservedRanking(
        id=f"r{number}",
        eligible=4,
        returned=returned,
        eligible_sample=sample,
        **changes,
    )


def test_every_measure_deals_out_one_whole():
    chosen = ranking(selection=ObservedSelection(site_id="b"))
    amounts = tally([chosen], DISCLOSURES).amounts[0]
    assert amounts[:, SIZE_COLUMNS].sum(axis=1) == pytest.approx(np.ones(6))
    assert amounts[:, INDEPENDENCE_COLUMNS].sum(axis=1) == pytest.approx(np.ones(6))


def test_eligible_sites_share_evenly_and_returned_ones_by_rank():
    amounts = tally([ranking()], DISCLOSURES).amounts[0]
    assert amounts[ELIGIBLE, [SMALL, LARGE, UNKNOWN]] == pytest.approx([1 / 3] * 3)
    assert amounts[TOP_ONE, [SMALL, LARGE, UNKNOWN]].tolist() == [1, 0, 0]
    assert amounts[RANK_BIASED, SMALL] == pytest.approx(1 / 1.8)
    assert amounts[LOGARITHMIC, LARGE] == pytest.approx(0.386853, abs=1e-6)


def test_a_short_list_weighs_as_much_as_a_long_one():
    both = [ranking(0), ranking(1, returned=("b",))]
    whole = tally(both, DISCLOSURES).amounts[:, LOGARITHMIC, SIZE_COLUMNS].sum(axis=1)
    assert whole == pytest.approx([1, 1])


def test_only_a_chosen_site_counts_as_selected():
    rankings = [
        ranking(0),
        ranking(1, selection=ObservedSelection(site_id=None)),
        ranking(2, selection=ObservedSelection(site_id="d")),
    ]
    amounts = tally(rankings, DISCLOSURES).amounts
    assert amounts[:, SELECTED, UNKNOWN].tolist() == [0, 0, 1]
    there = amounts[:, ELIGIBLE_THERE, SIZE_COLUMNS].sum(axis=1)
    assert there == pytest.approx([0, 0, 1])


def test_commission_is_summed_over_those_who_declared_it():
    amounts = tally([ranking()], DISCLOSURES).amounts[0]
    assert amounts[ELIGIBLE, DECLARED] == pytest.approx(2 / 3)
    assert amounts[ELIGIBLE, COMMISSION] == pytest.approx(20 / 3)
    assert amounts[TOP_ONE, [DECLARED, COMMISSION]].tolist() == [1, 0]


def test_every_site_seen_eligible_is_known():
    chosen = ranking(sample=("a", "d"), selection=ObservedSelection(site_id="e"))
    assert tally([chosen], {}).site_ids == ("a", "b", "d", "e")


def test_rankings_of_one_query_form_a_cluster_and_others_stand_alone():
    rankings = [ranking(0, query="r1"), ranking(1), ranking(2, query="r1")]
    first, alone, second = tally(rankings, {}).clusters
    assert first == second != alone


def test_a_window_without_rankings_deals_out_nothing():
    empty = tally([], DISCLOSURES)
    assert empty.amounts.shape == (0, 6, COMMISSION + 1)
    assert empty.per_site.shape == (6, 0)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"returned": ("a", "a")}, "twice"),
        ({"sample": ("a", "a")}, "twice"),
        ({"returned": tuple("abcde")}, "more sites than eligible"),
        ({"sample": tuple("abcde")}, "more sites than eligible"),
        ({"sample": ()}, "no sample"),
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
    relabelled = {
        rename[site]: SiteDisclosure(site_id=rename[site], size=told.size)
        for site, told in DISCLOSURES.items()
    }
    sizes = [..., list(SIZE_COLUMNS)]
    before = tally(plain, DISCLOSURES).amounts.sum(axis=0)[tuple(sizes)]
    after = tally(renamed[::-1], relabelled).amounts.sum(axis=0)[tuple(sizes)]
    assert after == pytest.approx(before)
