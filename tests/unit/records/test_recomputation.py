from copy import deepcopy

import pytest

from registry.errors import Refused
from registry.ranking.ties import make_seed
from registry.records.recomputation import KnownDay, recompute
from registry.records.record import parse_record
from tests.unit.records.history import (
    DAY,
    NOON,
    POLICY,
    History,
    honest_scores,
    scored,
    secret_of,
)

TODAY = KnownDay(day=DAY.isoformat(), secret=secret_of(DAY))
POLICY_TEXT = POLICY.decode()
SECRET_STILL = KnownDay(day=DAY.isoformat(), secret=None)


def ranked(**disclose):
    """The record's members, and what it discloses: query, request, scores."""
    history = History().begin()
    index = history.rank(**disclose)
    return parse_record(history.bodies[index]), history.disclosures[index]


def scores_now():
    """As History's next ranking has them, to be spoiled."""
    return deepcopy(honest_scores(DAY, History().begin().ulid()))


def again(members, disclosures, *, day=TODAY, policy=POLICY_TEXT):
    return recompute(members, disclosures, policy_text=policy, day=day)


def test_an_honest_ranking_comes_out_the_same():
    result = again(*ranked())
    assert result.differences == ()
    assert result.missing == ()
    assert result.checked == ("sites", "totals", "order", "day", "ties")


def test_ties_wait_for_the_secret():
    result = again(*ranked(), day=SECRET_STILL)
    assert result.differences == ()
    assert result.missing == (f"ties: the secret of {DAY} is not revealed yet",)


def test_what_is_erased_is_told():
    members, disclosures = ranked()
    result = again(members, [])
    assert not result.is_possible
    assert len(result.missing) == 2
    without_request = [disclosures[0], disclosures[2]]
    recomputed = again(members, without_request)
    assert recomputed.checked == ("sites", "totals", "order")


def lowered(scores):
    scores[0]["factors"][0] -= 1


def raised_total(scores):
    scores[1]["score"] += 1


def swapped(scores):
    scores[0], scores[1] = scores[1], scores[0]


def other_tie(scores):
    scores[1]["tie"], scores[2]["tie"] = "0" * 16, "f" * 16


def beyond(scores):
    scores[0]["factors"] = [10_001, 0, 0, 0, 0]
    scores[0]["score"] = 40_004_000


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lowered, "the total is"),
        (raised_total, "the total is"),
        (swapped, "scores higher than"),
        (other_tie, "the tie key is"),
        (beyond, "a factor outside"),
    ],
)
def test_a_spoiled_ranking_differs(spoil, expected):
    scores = scores_now()
    spoil(scores)
    result = again(*ranked(scores=scores))
    assert expected in " ".join(result.differences)


def test_an_order_of_other_sites_differs():
    order = [result["site"] for result in scores_now()][::-1]
    recomputed = again(*ranked(order=order))
    assert "the scored sites are not those of the order" in recomputed.differences


def equals(sites):
    seed = make_seed(secret_of(DAY), History().begin().ulid(), "n")
    return [scored(site, (4000, 5000, 5000, 7000, 2000), seed) for site in sites]


def by_tie(scores):
    return sorted(scores, key=lambda score: score["tie"])


def test_equals_stand_in_two_groups_by_commission():
    free, others = by_tie(equals(range(5))), by_tie(equals(range(5, 10)))
    assert again(*ranked(scores=free + others)).differences == ()
    alternating = by_tie(equals(range(10)))[::-1]
    differences = again(*ranked(scores=alternating)).differences
    assert "not that of the tie keys" in differences[0]


def test_a_disclosure_of_another_record_is_refused():
    members, _ = ranked()
    _, disclosures = ranked(scores=equals([1]))
    with pytest.raises(Refused):
        again(members, disclosures)


@pytest.mark.parametrize("policy", ["", "[]", "{}", '{"weight_relevance":[]}'])
def test_a_policy_without_weights_is_refused(policy):
    with pytest.raises(Refused) as refused:
        again(*ranked(), policy=policy)
    assert refused.value.code == "policy_without_weights"


def test_the_seed_of_another_day_differs():
    yesterday = KnownDay(day="2026-11-19", secret=secret_of(DAY))
    result = again(*ranked(), day=yesterday)
    assert "with the seed of 2026-11-19" in result.differences[0]
    assert NOON.isoformat() in result.differences[0]


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([{"site": "x"}], id="members missing"),
        pytest.param([7], id="no object"),
        pytest.param(
            [{"site": "x", "factors": [1] * 4, "score": 1, "tie": "0" * 16}],
            id="four factors",
        ),
        pytest.param(
            [{"site": "x", "factors": [1] * 5, "score": 1, "tie": "0" * 15 + "g"}],
            id="no hex",
        ),
    ],
)
def test_scores_of_another_form_differ(scores):
    order = [result["site"] for result in scores_now()]
    recomputed = again(*ranked(scores=scores, order=order))
    assert recomputed.checked == ("form",)
    assert recomputed.differences[0].startswith("a disclosure: ")
