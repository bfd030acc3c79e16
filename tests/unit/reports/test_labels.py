"""Which label counts, and what contradicts what."""

from dataclasses import fields, replace
from datetime import UTC, date, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.reports.labels import (
    DOCUMENT,
    NO_LABEL,
    REGISTRATION,
    VALID_FOR,
    LabelStatement,
    find_contradictions,
    rank_statements,
    settle,
)
from registry.sites.label import Label

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TODAY = NOW.date()
SMALL, LARGE = Label(size="small"), Label(size="large")


def label_by(
    label: Label,
    by: str = REGISTRATION,
    *,
    days_ago: int = 0,
    observed: int | None = None,
) -> LabelStatement:
    at = NOW - timedelta(days=days_ago)
    return LabelStatement(
        label=label,
        stated_by=by,
        stated_at=at,
        valid_from=at,
        source="where it is from",
        observed_on=None if observed is None else TODAY - timedelta(days=observed),
    )


def audited(label: Label, by: str = "auditor", observed: int = 0) -> LabelStatement:
    return label_by(label, f"{by}.example+key", observed=observed)


def test_nobody_told_anything() -> None:
    assert settle([], NOW) == NO_LABEL


def test_auditor_comes_before_the_registration_and_that_before_the_documents() -> None:
    several = [
        label_by(Label(independence="independent", commission_percent=1.0), DOCUMENT),
        label_by(Label(commission_percent=2.0, size="small")),
        audited(Label(size="large")),
    ]
    for order in permutations(several):
        result = settle(order, NOW)
        assert (result.size, result.commission_percent) == ("large", 2.0)
        assert result.independence == "independent"
        assert result.source == "auditor document registration"
        assert result.valid_from == NOW


def test_site_that_signs_anew_does_not_get_rid_of_a_finding() -> None:
    result = settle([audited(LARGE, observed=30), label_by(SMALL, days_ago=0)], NOW)
    assert result.size == "large"


def test_retraction_is_a_label_that_says_nothing() -> None:
    assert settle([audited(Label()), label_by(SMALL)], NOW).size == "small"


def test_later_observation_counts_among_auditors() -> None:
    older, newer = audited(SMALL, "a", observed=9), audited(LARGE, "b", observed=3)
    assert settle([older, newer], NOW).size == settle([newer, older], NOW).size
    assert settle([older, newer], NOW).size == "large"


def test_old_observation_counts_no_more() -> None:
    label = audited(LARGE, observed=VALID_FOR.days - 1)
    assert settle([label, label_by(SMALL)], NOW).size == "large"
    assert settle([label, label_by(SMALL)], NOW + timedelta(days=1)).size == "small"


def test_chain_goes_with_the_word_that_it_is_one() -> None:
    declared = label_by(Label(independence="chain", chain="alder.example"))
    result = audited(Label(independence="chain"))
    assert settle([declared, result], NOW).chain == "alder.example"
    chain_label = audited(Label(independence="independent"))
    assert settle([declared, chain_label], NOW).chain is None


def test_contradictions_are_reported_with_the_claim_that_counts_first() -> None:
    ranked = rank_statements(
        [
            label_by(
                Label(independence="independent", commission_percent=5.0), DOCUMENT
            ),
            label_by(Label(size="small", commission_percent=5.001)),
            audited(Label(size="large", independence="chain", chain="alder.example")),
        ],
        NOW,
    )
    members = {
        contradiction.field: contradiction.values
        for contradiction in find_contradictions(ranked)
    }
    assert members == {
        "size": (("auditor", "large"), ("registration", "small")),
        "independence": (("auditor", "chain"), ("document", "independent")),
    }


@pytest.mark.parametrize(
    "several",
    [
        pytest.param([], id="nothing"),
        pytest.param([label_by(SMALL)], id="one author"),
        pytest.param([label_by(SMALL), audited(SMALL)], id="agreement"),
        pytest.param([label_by(SMALL), audited(Label())], id="a retraction"),
        pytest.param(
            [label_by(SMALL), audited(LARGE, observed=VALID_FOR.days)], id="long ago"
        ),
    ],
)
def test_no_contradiction(several: list[LabelStatement]) -> None:
    assert find_contradictions(rank_statements(several, NOW)) == ()


CLAIMS = {
    "size": st.sampled_from([None, "micro", "small", "medium", "large"]),
    "commission_percent": st.sampled_from([None, 0.0, 5.0, 100.0]),
}
KINSHIPS = st.sampled_from(
    [
        {},
        {"independence": "independent"},
        {"independence": "chain"},
        {"independence": "chain", "chain": "a.example"},
        {"independence": "chain", "chain": "b.example"},
    ]
)


@st.composite
def statements_of_authors(draw: st.DrawFn) -> list[LabelStatement]:
    findings = []
    for by in draw(
        st.lists(st.sampled_from([DOCUMENT, REGISTRATION, "a+", "b+"]), unique=True)
    ):
        label = Label(
            **{name: draw(claim) for name, claim in CLAIMS.items()}, **draw(KINSHIPS)
        )
        days = draw(st.integers(0, 3))
        item = label_by(label, by, days_ago=days, observed=days if "+" in by else None)
        findings.append(item)
    return findings


@given(statements_of_authors(), st.randoms(use_true_random=False))
def test_order_of_authors_does_not_matter(several, random) -> None:
    mixed = list(several)
    random.shuffle(mixed)
    assert settle(mixed, NOW) == settle(several, NOW)


@given(statements_of_authors())
def test_what_counts_was_reported_and_is_coherent(several) -> None:
    result = settle(several, NOW)
    for field in fields(Label):
        value = getattr(result, field.name)
        assert value is None or value in [
            getattr(label.label, field.name) for label in several
        ]
    assert result.chain is None or result.independence == "chain"
    assert (result.source == "") == (result.valid_from is None)


@given(statements_of_authors())
def test_field_that_contradicts_has_its_counting_claim_first(several) -> None:
    ranked = rank_statements(several, NOW)
    settled = settle(several, NOW)
    for conflict in find_contradictions(ranked):
        if conflict.field in {"size", "independence"}:
            assert conflict.values[0][1] == getattr(settled, conflict.field)
        assert len({value for _, value in conflict.values}) > 1


def test_observation_does_not_depend_on_the_hour() -> None:
    label = replace(audited(LARGE), observed_on=date(2024, 11, 23))
    for hour in (0, 23):
        assert settle([label], NOW.replace(hour=hour)).size == "large"
