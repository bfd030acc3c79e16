import json
from copy import deepcopy

import pytest

from registry.errors import Refused
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.proximity import proximity
from registry.ranking.ties import make_seed_by_id
from registry.records.disclosure import parse_disclosure
from registry.records.packed_scores import PLACELESS, UNKNOWN_PLACE
from registry.records.recomputation import KnownDay, recompute
from registry.records.record import parse_record
from registry.sites.place import Point, centroid_of
from tests.unit.records.history import (
    DAY,
    NOON,
    POLICY,
    History,
    honest_scores,
    scored,
    secret_of,
    seed_at,
)

AMMAN = Point(31.95522, 35.94503)
PLACES = {250441: AMMAN}
COMPUTED = ("sites", "totals", "order", "quality", "proximity")
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
    return deepcopy(honest_scores(NOON))


def again(members, disclosures, *, day=TODAY, policy=POLICY_TEXT):
    return recompute(
        members, disclosures, policy_text=policy, day=day, find_place=PLACES.get
    )


def test_an_honest_ranking_comes_out_the_same():
    result = again(*ranked())
    assert result.differences == ()
    assert result.missing == ()
    assert result.checked == (
        "sites",
        "totals",
        "order",
        "quality",
        "proximity",
        "day",
        "ties",
    )


def test_ties_wait_for_the_secret():
    result = again(*ranked(), day=SECRET_STILL)
    assert result.differences == ()
    assert result.missing == (f"ties: the secret of {DAY} is not revealed yet",)


def test_what_is_erased_is_reported():
    members, disclosures = ranked()
    result = again(members, [])
    assert not result.is_possible
    assert len(result.missing) == 2
    result = again(members, without(disclosures, "request"))
    assert result.checked == ("sites", "totals", "order", "quality", "proximity")
    assert result.missing == ("ties: the request is not disclosed",)
    result = again(members, without(disclosures, "answer"))
    assert result.checked == (*COMPUTED[1:], "day", "ties")
    assert result.missing == ("sites: the answer is not disclosed",)
    result = again(members, without(disclosures, "scores"))
    assert result.checked == ("day",)
    assert result.missing == ("totals and order: the scores are not disclosed",)
    for name in ("query", "location", "filters"):
        lacks = "proximity: the location is not disclosed"
        result = again(members, without(disclosures, name))
        assert result.checked == (*COMPUTED[: 4 + (name != "location")], "day")
        assert result.missing[-1] == "ties: not all that was asked is disclosed"
        assert (lacks in result.missing) is (name == "location")


def without(disclosures, name):
    return [text for text in disclosures if parse_disclosure(text).name != name]


def lowered(scores):
    scores[0]["factors"][0] -= 1


def raised_total(scores):
    scores[1]["score"] += 1


def swapped(scores):
    scores[0], scores[1] = scores[1], scores[0]


def other_tie(scores):
    scores[1]["tie"], scores[2]["tie"] = "0" * 16, "f" * 16


def better(scores):
    """One percent more quality than the probes give, and its total."""
    scores[0]["factors"][3] += 70
    scores[0]["score"] += 70 * 1500


def other_probes(scores):
    scores[0]["probes"] = [10, 10, 10, 50]


def no_probes(scores):
    del scores[0]["probes"]


def more_answers(scores):
    scores[0]["probes"] = [3, 4, 4, 50]


def nearer(scores):
    """Proximity where nobody said where the request came from, and its total."""
    scores[0]["factors"][1] += 100
    scores[0]["score"] += 100 * 2000


def no_place(scores):
    del scores[0]["place"]


def no_city(scores):
    scores[0]["place"] = 12


def beyond(scores):
    scores[0]["factors"] = [10_001, 0, 0, 0, 0]
    scores[0]["score"] = 40_004_000


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (lowered, "the total is"),
        (raised_total, "the total is"),
        (swapped, "ranks higher than"),
        (other_tie, "the tie key is"),
        (beyond, "a factor outside"),
        (better, "the quality is 7000, not 7070"),
        (other_probes, "the quality is"),
        (nearer, "the proximity is 5000, not 5100"),
        (no_place, "the place behind its proximity is not disclosed"),
        (no_city, "no city has the GeoNames id 12"),
        (no_probes, "are not disclosed"),
        (more_answers, "more probes were answered than made"),
    ],
)
def test_a_spoiled_ranking_differs(spoil, expected):
    scores = scores_now()
    spoil(scores)
    result = again(*ranked(scores=scores))
    assert expected in " ".join(result.differences)


def test_an_order_of_other_sites_differs():
    order = [result["site"] for result in scores_now()][::-1]
    output = again(*ranked(order=order))
    assert "the scored sites are not those of the order" in output.differences


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (
            {"scores": [*scores_now(), scores_now()[-1]]},
            "a site stands in the order twice",
        ),
        ({"eligible": 2}, "3 sites of 2 eligible ones"),
        ({"location": "no cell"}, "the location: "),
    ],
    ids=["twice", "fewer eligible", "no cell"],
)
def test_an_answer_that_can_be_none_differs(members, expected):
    (difference,) = again(*ranked(**members), day=SECRET_STILL).differences
    assert difference.startswith(expected)


def near(place, cell="sv9h"):
    """A row of a site there, as a policy's proximity has it for who asks at a cell."""
    point, user = PLACES.get(place), centroid_of(cell)
    factor = proximity(point, user, DEFAULT_POLICY, local=place != PLACELESS)
    row = scored(place % 100, (10_000, factor, 0, 7000, 0), seed_at(NOON))
    return {**row, "place": place}


def by_score(scores):
    return sorted(scores, key=lambda row: (-row["score"], row["tie"]))


def test_factors_may_reach_their_ends_and_a_site_may_have_no_place():
    scores = by_score([near(250441), near(UNKNOWN_PLACE), near(PLACELESS)])
    assert len({row["score"] for row in scores}) == 3
    result = again(*ranked(scores=scores, location="sv9h"), day=SECRET_STILL)
    assert (result.differences, "proximity" in result.checked) == ((), True)


@pytest.mark.parametrize("place", [250441, UNKNOWN_PLACE, PLACELESS])
def test_a_site_is_as_near_as_its_place(place):
    other = PLACELESS if place == UNKNOWN_PLACE else UNKNOWN_PLACE
    scores = [{**near(place), "place": other}]
    result = again(*ranked(scores=scores, location="sv9h"), day=SECRET_STILL)
    (difference,) = result.differences
    assert "the proximity is" in difference


def equals(sites, tier=1, relevance=4000):
    seed = seed_at(NOON)
    factors = (relevance, 5000, 5000, 7000, 2000)
    return [scored(site, factors, seed, tier) for site in sites]


def by_tie(scores):
    return sorted(scores, key=lambda score: score["tie"])


def test_equals_stand_in_two_groups_by_commission():
    free, others = by_tie(equals(range(5), 0)), by_tie(equals(range(5, 10)))
    assert again(*ranked(scores=free + others)).differences == ()
    (difference,) = again(*ranked(scores=others + free)).differences
    assert "ranks higher than" in difference


def policy_without(*names):
    members = json.loads(POLICY_TEXT)
    return json.dumps({name: members[name] for name in members.keys() - {*names}})


def test_equals_as_shown_stand_by_commission_and_by_older_policies_by_score():
    """46.04 and 46.00 points, 40.1% and 40% of relevance: 46.0 and 40% to people."""
    shown_as_equal = [*equals([1], 0), *equals([2], relevance=4010)]
    by_score = shown_as_equal[::-1]
    older = policy_without("shown_score_step", "shown_factor_step_bp")
    for scores, policy, fits in (
        (shown_as_equal, POLICY_TEXT, True),
        (by_score, POLICY_TEXT, False),
        (shown_as_equal, older, False),
        (by_score, older, True),
    ):
        differences = again(*ranked(scores=scores), policy=policy).differences
        assert (differences == ()) is fits


def test_a_later_page_stands_behind_the_last_row_of_the_one_before():
    first, second = equals([1], 0), equals([2], relevance=4010)
    after = [-second[0]["score"], 1, int(second[0]["tie"], 16), 2, 4010, 7000]
    for scores, before, fits in (
        (first, after, False),
        (second, after, False),
        (second, [-first[0]["score"], 0, 0, 1, 4000, 7000], True),
    ):
        request = [str(member) for member in before]
        differences = again(*ranked(scores=scores, after=request)).differences
        assert ("end of the page before" not in " ".join(differences)) is fits


def test_a_reversed_tie_of_two_is_found():
    reversed_tie = by_tie(equals([1, 2]))[::-1]
    (difference,) = again(*ranked(scores=reversed_tie)).differences
    assert "by its tie key" in difference


def test_a_tier_has_to_be_disclosed():
    scores = equals([1])
    del scores[0]["tier"]
    (difference,) = again(*ranked(scores=scores)).differences
    assert "its tier is not disclosed" in difference


def test_a_first_page_is_on_record_when_it_was_asked():
    members, disclosures = ranked()
    late = {**members, "t": "2026-11-20T12:01Z"}
    (difference,) = again(late, disclosures).differences
    assert "a first page asked at" in difference
    early = {**members, "t": "2026-11-20T11:59Z"}
    (difference,) = again(early, disclosures).differences
    assert "after the minute of the record" in difference


def test_a_further_page_may_come_on_record_later_than_its_first():
    """It is of the instant of the first, so that both are of one order."""
    before = [-scores_now()[0]["score"], 1, 0, 1, 9000, 7000]
    page = {"scores": scores_now()[1:], "after": list(map(str, before))}
    members, disclosures = ranked(**page)
    for minute, fits in (("12:07", True), ("11:59", False)):
        late = {**members, "t": f"2026-11-20T{minute}Z"}
        assert (again(late, disclosures).differences == ()) is fits


def test_rankings_of_older_policies_are_computed_as_they_were_made():
    """Ties by the request's id, and tiers that show only as one fall of the keys."""
    seed = make_seed_by_id(secret_of(DAY), History().begin().ulid(), "n")
    factors = (4000, 5000, 5000, 7000, 2000)
    scores = by_tie([scored(site, factors, seed) for site in range(10)])
    for score in scores:
        del score["tier"], score["probes"], score["place"]
    text = policy_without("tie_seed_form", "shown_score_step", "shown_factor_step_bp")
    for order in (scores, scores[5:] + scores[:5]):
        assert again(*ranked(scores=order), policy=text).differences == ()
    differences = again(*ranked(scores=scores[::-1]), policy=text).differences
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
    output = again(*ranked(scores=scores, order=order))
    assert output.checked == ("form",)
    assert output.differences[0].startswith("a disclosure: ")
