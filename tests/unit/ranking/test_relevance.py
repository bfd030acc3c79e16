import numpy as np
import pytest

from registry.ranking.encoder import Encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.profile import ActionProfile
from registry.ranking.relevance import (
    Matches,
    Request,
    best_action,
    idf_milli,
    lexical_share_bp,
    match_sites,
    parse_request,
    relevance_floor,
)

RARE, COMMON = 4000, 500


def match(text: str, matched: int, product: int, encoder: Encoder) -> Matches:
    request = parse_request(text, encoder, DEFAULT_POLICY)
    return match_sites(
        np.array([matched]),
        np.array([product]),
        request,
        [RARE] * len(request.terms),
        DEFAULT_POLICY,
    )


def likeness(one: Request, other: Request) -> int:
    a, b = (np.frombuffer(each.vector, np.int8).astype(int) for each in (one, other))
    return int(a @ b)


def test_request_words_are_no_terms(encoder: Encoder) -> None:
    request = parse_request("please find me a table", encoder, DEFAULT_POLICY)
    assert request.terms == ("tabl",)


def test_words_are_told_as_typed_and_in_order(encoder: Encoder) -> None:
    request = parse_request(
        "Tables at a Café: table, TABLES, café's", encoder, DEFAULT_POLICY
    )
    assert list(request.term_of.items()) == [
        ("tables", "tabl"),
        ("café", "cafe"),
        ("table", "tabl"),
    ]
    assert request.terms == ("tabl", "cafe")


def test_endless_queries_are_cut(encoder: Encoder) -> None:
    words = " ".join(f"{a}{b}word" for a in "abcdefghij" for b in "abcdefghij")
    request = parse_request(words, encoder, DEFAULT_POLICY)
    assert len(request.terms) == DEFAULT_POLICY.query_words_max


@pytest.mark.parametrize("text", ["", " \n", "!?", "who are you", "\u200b", "12 000"])
def test_where_nothing_is_asked_nothing_is_found(encoder: Encoder, text: str) -> None:
    request = parse_request(text, encoder, DEFAULT_POLICY)
    assert request.terms == ()
    assert not match(text, 0, 127 * 127, encoder).eligible.any()


def test_a_short_request_must_be_met_by_more_than_a_long_one() -> None:
    floors = [relevance_floor(terms, DEFAULT_POLICY) for terms in range(1, 9)]
    assert floors == sorted(floors, reverse=True)
    assert floors[0] > floors[3] > floors[4]
    assert set(floors[4:]) == {DEFAULT_POLICY.relevance_min}


def test_what_is_done_everywhere_means_little(encoder: Encoder) -> None:
    bread = parse_request("bread", encoder, DEFAULT_POLICY)
    ordered = parse_request("order bread", encoder, DEFAULT_POLICY)
    baked = parse_request("bake bread", encoder, DEFAULT_POLICY)
    assert likeness(bread, ordered) > likeness(bread, baked)
    assert ordered.terms == ("order", "bread")


def test_relevance_stays_in_range(encoder: Encoder) -> None:
    most = match("book table", RARE * FULL * 9, 127 * 127 * 2, encoder)
    least = match("book table", 0, -(127 * 127), encoder)
    assert most.relevance.tolist() == [FULL]
    assert least.relevance.tolist() == [0]


def test_relevance_rises_with_words_and_with_meaning(encoder: Encoder) -> None:
    def relevance(matched: int, product: int) -> int:
        return int(match("book table", matched, product, encoder).relevance[0])

    assert (
        relevance(0, 5000) < relevance(RARE * 3000, 5000) < relevance(RARE * 6000, 5000)
    )
    assert relevance(RARE * 3000, 0) < relevance(RARE * 3000, 5000)


def test_meaning_alone_must_be_beyond_chance(encoder: Encoder) -> None:
    long = "pizza pasta salad wine dinner"
    chance = match(long, 0, 127 * 127 * 29 // 100, encoder)
    said = match(long, 1, 127 * 127 * 29 // 100, encoder)
    assert said.relevance == chance.relevance
    assert said.eligible.all()
    assert not chance.eligible.any()
    assert match("film", 0, 127 * 127 // 2, encoder).eligible.all()


def test_lexical_share_grows_with_the_query_up_to_a_limit() -> None:
    shares = [lexical_share_bp(terms, DEFAULT_POLICY) for terms in (0, 1, 4, 8, 40)]
    assert shares == [3500, 3937, 5250, 7000, 7000]


def test_idf_falls_as_a_term_gets_common_and_is_never_negative() -> None:
    values = [idf_milli(100, containing) for containing in (0, 1, 10, 50, 100)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0
    assert idf_milli(0, 0) > 0


def test_best_action_says_most_of_the_request() -> None:
    def action(name: str, *terms: str) -> ActionProfile:
        return ActionProfile(
            name=name, name_terms=terms, description_terms=(), parameter_terms=()
        )

    actions = [action("other"), action("common", "the"), action("rare", "oboe")]
    weights = {"the": COMMON, "oboe": RARE}
    best = best_action(actions, weights, DEFAULT_POLICY)
    assert best is not None
    assert best.name == "rare"
    assert best_action(actions, {"flute": RARE}, DEFAULT_POLICY) is None
