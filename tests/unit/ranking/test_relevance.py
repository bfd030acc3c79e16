import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from registry.index.query.search import prepare_query
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.encoders.meaning import Meaning
from registry.ranking.encoders.vectors import DIMENSIONS, length_in_bits
from registry.ranking.policy import (
    DEFAULT_POLICY,
    FULL,
    STATIC_POLICY,
    parse_policy,
)
from registry.ranking.profile import Profile
from registry.ranking.relevance import (
    IMPACT_FULL,
    MULTIPLIER_BITS,
    Matches,
    ParsedQuery,
    idf_milli,
    impacts,
    least_meaning,
    lexical_multiplier,
    lexical_share_bp,
    match_sites,
    meaning_multiplier,
    parse_query,
    relevance_floor,
)
from registry.ranking.words.dialogue import asked_part
from registry.sites.site import Site
from tests.second_implementation.ranking import request_of

RARE, COMMON = 4000, 500


def match(text: str, matched: int, cosine_bp: int, encoder: Encoder) -> Matches:
    """Of a site whose vector has the length 16, and that likeness to the request."""
    request = parse_query(text, encoder, DEFAULT_POLICY)
    length = length_in_bits(request.vector, 0)
    confidence_bp = request.confidence_bp or FULL
    return match_sites(
        np.array([matched]),
        np.array([16 * length * cosine_bp // confidence_bp]),
        np.array([2**16 // 16]),
        request,
        [RARE] * len(request.terms),
        policy=DEFAULT_POLICY,
    )


def likeness(parsed_query: ParsedQuery, other: ParsedQuery) -> int:
    a, b = (
        np.frombuffer(item.vector, np.int8).astype(int)
        for item in (parsed_query, other)
    )
    return int(a @ b)


def test_request_words_are_no_terms(encoder: Encoder) -> None:
    request = parse_query("please find me a table", encoder, DEFAULT_POLICY)
    assert request.terms == ("tabl",)


def test_words_are_reported_as_typed_and_in_order(encoder: Encoder) -> None:
    request = parse_query(
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
    request = parse_query(words, encoder, DEFAULT_POLICY)
    assert len(request.terms) == DEFAULT_POLICY.query_words_max


@pytest.mark.parametrize("text", ["", " \n", "!?", "who are you", "\u200b", "12 000"])
def test_where_nothing_is_asked_nothing_is_found(encoder: Encoder, text: str) -> None:
    request = parse_query(text, encoder, DEFAULT_POLICY)
    assert request.terms == ()
    assert not match(text, 0, FULL, encoder).eligible.any()


def test_a_short_request_must_be_met_by_more_than_a_long_one() -> None:
    floors = [relevance_floor(terms, STATIC_POLICY) for terms in range(1, 9)]
    assert floors == sorted(floors, reverse=True)
    assert floors[0] > floors[4] > floors[5]
    assert set(floors[5:]) == {STATIC_POLICY.relevance_min}


def test_what_is_done_everywhere_means_little(encoder: Encoder) -> None:
    bread = parse_query("bread", encoder, DEFAULT_POLICY)
    ordered = parse_query("order bread", encoder, DEFAULT_POLICY)
    baked = parse_query("bake bread", encoder, DEFAULT_POLICY)
    assert likeness(bread, ordered) > likeness(bread, baked)
    assert ordered.terms == ("order", "bread")


def test_relevance_stays_in_range(encoder: Encoder) -> None:
    most = match("book table", RARE * IMPACT_FULL * 9, 2 * FULL, encoder)
    least = match("book table", 0, -FULL, encoder)
    assert most.relevance.tolist() == [FULL]
    assert least.relevance.tolist() == [0]


def test_relevance_rises_with_words_and_with_meaning(encoder: Encoder) -> None:
    def relevance(matched: int, cosine_bp: int) -> int:
        return int(match("book table", matched, cosine_bp, encoder).relevance[0])

    assert relevance(0, 5000) < relevance(RARE * 77, 5000) < relevance(RARE * 153, 5000)
    assert relevance(RARE * 77, 0) < relevance(RARE * 77, 5000)


def test_words_let_nothing_in_that_does_not_mean_the_request(encoder: Encoder) -> None:
    assert not match("pizza dinner", RARE * IMPACT_FULL, 3900, encoder).eligible.any()
    assert match("pizza dinner", 0, 3600, encoder).eligible.all()
    assert match("film", 0, 5000, encoder).eligible.all()


def test_least_meaning_falls_as_a_query_gets_longer_down_to_a_limit() -> None:
    least = [least_meaning(terms, DEFAULT_POLICY) for terms in range(20)]
    assert least == sorted(least, reverse=True)
    assert least[0] == least[3] == (4300, 3350, 4300, 3350)
    assert least[11] == least[19] == (1500, 550, 3500, 2550)


def test_a_policy_of_before_asks_as_much_of_long_queries_as_of_short_ones() -> None:
    constants = json.loads(DEFAULT_POLICY.canonical_json)
    del constants["meaning_step_bp"], constants["meaning_beside_step_bp"]
    former = parse_policy(json.dumps(constants))
    assert least_meaning(9, former) == least_meaning(1, former)


def test_a_policy_of_before_reads_a_dialogue_as_a_whole() -> None:
    constants = json.loads(DEFAULT_POLICY.canonical_json)
    del constants["asking_speakers"], constants["answering_speakers"]
    former = parse_policy(json.dumps(constants))
    text = "User: bread\n: x\nAssistant: flowers"
    assert asked_part(text, former) == text != asked_part(text, DEFAULT_POLICY)


@pytest.mark.parametrize(
    ("text", "request_text"),
    [
        pytest.param(
            "User: hi\nAssistant: Flowers?\n  USER : fresh\nbread",
            "hi fresh bread",
            id="turns",
        ),
        pytest.param(
            "Please help.\nAI: a bus?\nHuman: a bed", "Please help. a bed", id="before"
        ),
        pytest.param(
            "ユーザー\uff1a髪を切りたい\nアシスタント\uff1a花束ですか",
            "髪を切りたい",
            id="japanese",
        ),
        pytest.param("user: a bed\nuser: a bus", None, id="one speaks alone"),
        pytest.param("assistant: a bed\nbot: a bus", None, id="nobody asks"),
        pytest.param("a user: a bed\nan agent: a bus", None, id="within a line"),
        pytest.param("user: a bed, assistant: a bus", None, id="in one line"),
        pytest.param("users: a bed\nassistants: a bus", None, id="other words"),
        pytest.param("u\u017fer: a bed\nAI: a bus", None, id="letters that fold"),
        pytest.param("user:\nassistant: a bus", "", id="nothing is asked"),
    ],
)
def test_of_a_dialogue_what_askers_say_is_asked(
    text: str, request_text: str | None
) -> None:
    read = asked_part(text, DEFAULT_POLICY)
    assert " ".join(read.split()) == (
        " ".join(text.split()) if request_text is None else request_text
    )
    theirs = request_of(text, DEFAULT_POLICY)
    assert theirs.split() == read.split()


def test_lexical_share_grows_with_the_query_up_to_a_limit() -> None:
    shares = [lexical_share_bp(terms, DEFAULT_POLICY) for terms in (0, 1, 4, 8, 40)]
    assert shares == [3500, 3937, 5250, 7000, 7000]


def test_idf_falls_as_a_term_gets_common_and_is_never_negative() -> None:
    values = [idf_milli(100, containing) for containing in (0, 1, 10, 50, 100)]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= 0
    assert idf_milli(0, 0) > 0


def test_impacts_are_one_byte_and_grow_with_the_fields_that_say_the_term(
    bistro: Site, profile_of: Callable[..., Profile]
) -> None:
    result = impacts(profile_of(bistro), DEFAULT_POLICY)
    assert all(1 <= impact <= IMPACT_FULL for impact in result.values())
    assert result["tabl"] > result["season"] > result["guest"]


def test_multipliers_make_the_most_of_a_query_full(encoder: Encoder) -> None:
    request = parse_query("book table", encoder, DEFAULT_POLICY)
    weights = [RARE, COMMON]
    most = sum(weights) * IMPACT_FULL * lexical_multiplier(weights, DEFAULT_POLICY)
    assert FULL - 1 <= most >> MULTIPLIER_BITS <= FULL
    lengths = length_in_bits(request.vector, 0) * 2**16
    likest = lengths * meaning_multiplier(request) >> MULTIPLIER_BITS
    assert likest == pytest.approx(request.confidence_bp, rel=0.01)


def test_no_multiplier_overflows_sixty_four_bits() -> None:
    """The longest query of the rarest terms, and a vector of one dimension."""
    rarest = [16_000] * DEFAULT_POLICY.query_words_max
    matched = sum(rarest) * IMPACT_FULL
    assert matched * lexical_multiplier(rarest, DEFAULT_POLICY) < 2**63
    shortest = ParsedQuery(
        term_of={}, vector=bytes([127, *[0] * 127]), confidence_bp=FULL
    )
    longest = ParsedQuery(
        term_of={}, vector=bytes([127] * DIMENSIONS), confidence_bp=FULL
    )
    for request in (shortest, longest):
        product = 127 * 7 * (1 if request is shortest else DIMENSIONS)
        assert product * (2**16 // 7) * meaning_multiplier(request) < 2**63


def test_a_query_of_no_weight_matches_nothing() -> None:
    assert lexical_multiplier([], DEFAULT_POLICY) > 0
    nothing = ParsedQuery(term_of={}, vector=bytes(DIMENSIONS), confidence_bp=FULL)
    assert meaning_multiplier(nothing) == 0


class CountingEncoder:
    """Hands everything on. texts: of the requests that were encoded."""

    def __init__(self, encoder: Encoder) -> None:
        self.texts: list[str] = []
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)

    def encode_request(self, text: str, *words: Any) -> Meaning:
        self.texts.append(text)
        return self._encoder.encode_request(text, *words)


def test_what_one_asked_makes_no_answer_of_another_quicker(encoder: Encoder) -> None:
    """Whether somebody asked it before would be told by the time."""
    counting: Any = CountingEncoder(encoder)
    for caller in ("one", "one", "other", "one"):
        prepare_query("a secret bakery", counting, DEFAULT_POLICY, caller=caller)
    assert len(counting.texts) == len(("one", "other"))


def test_the_encoder_stores_no_text_of_a_request() -> None:
    sentences: Any = load_encoder(DEFAULT_POLICY)
    parse_query("a bakery that nobody else asks for", sentences, DEFAULT_POLICY)
    stored = vars(vars(sentences)["_sentences"])["_stored"]
    assert not [text for text, _ in stored if "nobody else" in text]
