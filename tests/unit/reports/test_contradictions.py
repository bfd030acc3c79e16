"""Contradictions between authors: which sites count, and what these sites got."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.build_report import build_report
from registry.reports.labels import FIELDS, Claims, LabelStatement, compare_claims
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.contradictions import ANY, CONTRADICTIONS, sort_contested
from registry.reports.report_terms import Terms
from registry.sites.label import Label
from tests.unit.reports.observed import gather
from tests.unit.reports.test_report import (
    ALGORITHM,
    DISCLOSURES,
    SITES,
    WINDOW,
    always_large,
    by_lot,
)

REGISTERED = tuple(
    replace(disclosure, registered_at=WINDOW.start_at, category=category)
    for disclosure, category in zip(
        DISCLOSURES, ("bakery", "bakery", "hotel", "hotel"), strict=True
    )
)
PLACES = {site: place for place, site in enumerate(sorted(SITES))}
LARGE = Claims(("size", "commission"), ("size",))
MICRO = Claims(("size", "independence", "commission"), ("size", "commission"))
AGREED = Claims(("size",), ())
CLAIMS = {PLACES["lrg"]: LARGE, PLACES["mic"]: MICRO, PLACES["med"]: AGREED}


def report_on(rankings, claims=CLAIMS, disclosures=REGISTERED, **terms):
    observed = gather(rankings, disclosures, terms.get("operator", ""))
    terms = Terms(window=WINDOW, **terms)
    return build_report(observed, ALGORITHM, terms, claims=claims)


def told_of(report):
    return {field.name: field for field in report[CONTRADICTIONS].fields}


@pytest.fixture(scope="module")
def fair():
    return report_on(by_lot(300))


def test_sites_are_counted_by_field(fair):
    assert fair[CONTRADICTIONS].registered == len(REGISTERED)
    counts = {
        field.name: (field.sites, field.stated_twice, field.site_share)
        for field in fair[CONTRADICTIONS].fields
    }
    assert counts == {
        "any": (2, 3, 0.5),
        "size": (2, 3, 0.5),
        "independence": (0, 1, 0),
        "chain": (0, 0, 0),
        "commission": (1, 2, 0.25),
    }


def cell_of(report, field, measure="logarithmic"):
    (comparison,) = (
        cell for cell in told_of(report)[field].comparisons if cell.measure == measure
    )
    return comparison


def test_a_field_that_nobody_contradicts_got_nothing_to_compare(fair):
    assert told_of(fair)["chain"].comparisons == ()


def test_their_share_is_that_of_their_sites(fair):
    """Micro and large sites are just those two."""
    size = fair[DIMENSIONS][0]
    assert size.name == "size"
    for measure in ("logarithmic", "rankBiased", "topOne", "selected"):
        parts = [
            cell
            for kind in size.classes
            if kind.name in {"micro", "large"}
            for cell in kind.comparisons
            if cell.measure == measure
        ]
        cell = cell_of(fair, "any", measure)
        share = sum(part.share.value for part in parts)
        assert cell.share.value == pytest.approx(share, abs=2e-6)
        assert cell.share.low <= cell.share.value <= cell.share.high
        assert cell.eligible_share.value == pytest.approx(0.4, abs=1e-6)
        [micro] = [
            comparison
            for kind in size.classes
            if kind.name == "micro"
            for comparison in kind.comparisons
            if comparison.measure == measure
        ]
        only = cell_of(fair, "commission", measure)
        assert (only.share, only.gap) == (micro.share, micro.gap)


def test_no_bounds_are_reported_for_sites_of_which_one_author_speaks(fair):
    cell = cell_of(fair, "any")
    assert (cell.share_bounds, cell.gap_bounds) == (None, None)


def test_the_sentences_tell_the_counts_and_what_they_do_not_show(fair):
    [sentence] = [item for item in fair.sentences if "contradict each other on" in item]
    assert "on 2 (size 2, commission 1), 50.0%" in sentence
    assert "On 3 at least two of them state the same field" in sentence
    assert "does not say who is right" in sentence
    [got] = [
        item
        for item in fair.sentences
        if item.startswith("Sites whose authors") and "attention" in item
    ]
    assert "(95% interval" in got


def test_contested_sites_that_always_win_are_told_to_get_more():
    report = report_on(always_large(60))
    assert cell_of(report, "any", "selected").reading == "more"
    assert cell_of(report, "any", "selected").share.value == 1


def test_few_queries_withhold_what_they_got_but_not_how_many_they_are():
    report = report_on(by_lot(5))
    assert told_of(report)["any"].sites == 2
    assert cell_of(report, "any").share is None
    assert "rests on 5 independent queries" in cell_of(report, "any").withheld


def test_a_report_of_a_category_counts_its_sites_alone():
    report = report_on(by_lot(300), category="hotel")
    assert report[CONTRADICTIONS].registered == 2
    assert told_of(report)["any"].sites == 1
    assert told_of(report)["commission"].sites == 0


def test_a_site_that_is_not_registered_by_the_end_is_none():
    unlisted = [replace(item, registered_at=None) for item in REGISTERED]
    report = report_on(by_lot(300), disclosures=unlisted)
    assert report[CONTRADICTIONS].registered == 0
    assert {field.sites for field in report[CONTRADICTIONS].fields} == {0}


def test_without_claims_all_is_nothing(fair):
    report = report_on(by_lot(300), {})
    assert {field.sites for field in report[CONTRADICTIONS].fields} == {0}
    unlike = [
        name
        for name in ("dimensions", "commission", "breakdowns", "reach", "parity")
        if report.members()[name] != fair.members()[name]
    ]
    assert unlike == [], "they move no other figure"


PATTERNS = st.lists(st.sampled_from(FIELDS), unique=True).map(tuple)


@given(st.lists(PATTERNS, max_size=9))
def test_each_site_is_in_the_classes_of_what_is_contested_of_it(contested):
    claims = {site: Claims(item, item) for site, item in enumerate(contested)}
    classes = sort_contested(claims, len(contested))
    for field in FIELDS:
        inside = [classes.names.index(name) for name in classes.kinds[field]]
        result = {site for site in claims if classes.code[site] in inside}
        assert result == {site for site, item in enumerate(contested) if field in item}
    none = classes.names.index("uncontested")
    assert [code == none for code in classes.code] == [not item for item in contested]
    assert set(classes.kinds[ANY]) == {*classes.names} - {"uncontested"}


NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def label_by(author, **label):
    return LabelStatement(
        label=Label(**label),
        stated_by=author,
        stated_at=NOON,
        valid_from=NOON,
        source="s",
    )


@pytest.mark.parametrize(
    ("expected", "claims"),
    [
        pytest.param([], ((), ()), id="nobody"),
        pytest.param([label_by("document", size="small")], ((), ()), id="one alone"),
        pytest.param(
            [
                label_by("registration", size="small"),
                label_by("document", size="small"),
            ],
            (("size",), ()),
            id="in agreement",
        ),
        pytest.param(
            [
                label_by("registration", size="small"),
                label_by("document", size="large"),
            ],
            (("size",), ("size",)),
            id="in contradiction",
        ),
        pytest.param(
            [
                label_by("registration", commission_percent=12.5),
                label_by("document", commission_percent=12.500001),
            ],
            (("commission",), ()),
            id="alike to a hundredth",
        ),
        pytest.param(
            [label_by("a+key", size="small"), label_by("b+key", size="large")],
            (("size",), ("size",)),
            id="two auditors",
        ),
        pytest.param(
            [
                label_by("registration", size="small"),
                label_by("document", independence="chain"),
            ],
            ((), ()),
            id="of different things",
        ),
    ],
)
def test_only_what_two_state_can_be_contradicted(expected, claims):
    assert compare_claims(expected) == claims
