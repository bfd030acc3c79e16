from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery, parse_query, parse_word_by_word
from registry.ranking.terms import typed_words
from registry.ranking.word_lists.vocabulary import SPLIT_WORDS
from registry.ranking.words.lexicon import (
    Lexicon,
    lexicon_of,
    term_weights_bp,
)
from registry.ranking.words.slips import Spelling, load_occurrences
from registry.sites.action import Action
from registry.sites.site import Site

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def request_of(text: str) -> ParsedQuery:
    return parse_query(text, load_encoder(), DEFAULT_POLICY)


def corrections(lexicon: Lexicon, text: str) -> dict[str, str]:
    read = lexicon.read(text)
    return {item.word: item.correction for item in read if item.correction}


# Run together


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("addtocart", "add to cart"),
        ("searchflights", "search flights"),
        ("bookatable", "book a table"),
        ("gettheweather", "get the weather"),
        ("checkorderstatus", "check order status"),
        ("getallbooksbycategory", "get all books by category"),
        ("restaurantreservierung", "restaurant reservierung"),
        ("geburtstagstorte", "geburtstags torte"),
        ("fahrradreparatur", "fahrrad reparatur"),
        ("hotelzimmer", "hotel zimmer"),
    ],
)
def test_words_run_together_are_taken_apart(
    lexicon: Lexicon, word: str, parts: str
) -> None:
    assert lexicon.parts(word) == tuple(parts.split())


@pytest.mark.parametrize(
    "word",
    [
        *("booking", "restaurant", "facebook", "notebook", "butterfly", "understand"),
        *("partnership", "daylight", "bookkeeping", "together", "carpet", "tonight"),
        *("adidas", "zalando", "shakespeare", "johansson", "kubernetes", "panaderia"),
        *("forthe", "addadd", "tocart", "xqzvwk", "aaaaaaaaaa", "a", ""),
    ],
)
def test_words_that_are_one_stay_whole(lexicon: Lexicon, word: str) -> None:
    assert lexicon.parts(word) == (word,)


@given(st.lists(st.sampled_from(["add", "to", "cart", "the", "xq", "s", "n", "book"])))
def test_parts_are_the_word(words: list[str]) -> None:
    word = "".join(words)
    assert "".join(lexicon_of(load_encoder(), DEFAULT_POLICY).parts(word)) == word


@pytest.mark.parametrize(
    "name",
    [
        *("addToCart", "add-to-cart", "add_to_cart", "add to cart", "ADD TO CART"),
        *("addtocart", "AddToCart", "ADDTOCART", "add.to.cart", "add\u00adtocart"),
    ],
)
def test_a_name_is_one_thing_however_it_is_written(
    name: str, profile_of: Callable[..., Profile]
) -> None:
    profile = profile_of(Site(name="", actions=(Action(name=name),)))
    assert profile.actions[0].name_terms == ("add", "cart")
    assert request_of(name).terms == ("add", "cart")


def test_a_name_in_one_word_is_cut_before_it_is_taken_apart(
    profile_of: Callable[..., Profile],
) -> None:
    site = Site(name="Book Table", actions=(Action(name="booktable"),))
    assert profile_of(site).actions[0].name_terms == ()


# Spelled in another way


@pytest.mark.parametrize(
    ("word", "compared"),
    [
        ("zuerich", "zurich"),
        ("muenchen", "munchen"),
        ("koeln", "koln"),
        ("phoenix", "phoenix"),
        ("blue", "blue"),
        ("queue", "queue"),
        ("poem", "poem"),
        ("shoes", "shoes"),
        ("duet", "duet"),
    ],
)
def test_an_umlaut_in_two_letters_is_read_where_that_makes_a_word(
    lexicon: Lexicon, word: str, compared: str
) -> None:
    assert lexicon.parts(word) == (compared,)


def test_umlauts_meet_in_requests_and_sites(
    profile_of: Callable[..., Profile],
) -> None:
    forms = ["Z\u00fcrich", "Zuerich", "ZUERICH", "Zurich", "z\u00fcrich"]
    assert len({request_of(form).terms for form in forms}) == 1
    sites = [Site(name="", actions=(Action(name=form),)) for form in forms]
    assert {profile_of(site).actions[0].name_terms for site in sites} == {
        request_of("Z\u00fcrich").terms
    }


# Mistyped


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        pytest.param("resturant", "restaurant", id="a letter is missing"),
        pytest.param("restaurrant", "restaurant", id="a letter too many"),
        pytest.param("restairant", "restaurant", id="a wrong letter"),
        pytest.param("restuarant", "restaurant", id="two change places"),
        pytest.param("restuarants", "restaurants", id="plural"),
        pytest.param("accomodation", "accommodation", id="a double letter"),
        pytest.param("appointmnt", "appointment", id="a vowel"),
        pytest.param("ohtel now", "hotel", id="the first two"),
        pytest.param("dentst now", "dentist", id="a trade"),
        pytest.param("recieve it", "receive", id="i before e"),
        pytest.param("fihs now", "fish", id="four letters"),
        pytest.param("labratory", "laboratory", id="no trade and nothing listed"),
    ],
)
def test_a_slip_is_recognised(lexicon: Lexicon, typed: str, meant: str) -> None:
    assert corrections(lexicon, typed) == {typed.split(maxsplit=1)[0]: meant}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("restaurant", id="listed"),
        pytest.param("bookings", id="an inflection"),
        pytest.param("restaurante", id="another language"),
        pytest.param("maths", id="a plural"),
        pytest.param("fibre", id="british, known to the encoder"),
        pytest.param("sneakers", id="no speakers"),
        pytest.param("waiter", id="no water"),
        pytest.param("billig", id="german"),
        pytest.param("dentst", id="alone and short, so of any language"),
        pytest.param("combien", id="french"),
        pytest.param("rover", id="another word"),
        pytest.param("stripe", id="a brand"),
        pytest.param("hut", id="short"),
        pytest.param("hotel2", id="a digit"),
        pytest.param("caf\u00e9s", id="an accent"),
        pytest.param("\u043e\u0442\u0435\u043b\u044c", id="another script"),
        pytest.param("reservar uma mesza para jantar", id="a portuguese request"),
        pytest.param("gib mir bitte resturant", id="a german request"),
        pytest.param("el cami\u00f3n y el resturant", id="a word with an accent"),
        pytest.param("x" * 1000, id="long"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_may_be_right_is_left_alone(lexicon: Lexicon, text: str) -> None:
    assert corrections(lexicon, text) == {}


def test_the_rest_of_a_request_is_english_or_nothing_is_corrected(
    lexicon: Lexicon,
) -> None:
    assert corrections(lexicon, "a good resturant in Kyoto") == {
        "resturant": "restaurant"
    }
    assert corrections(lexicon, "ein gutes resturant in Kyoto") == {}


def test_the_likeliest_word_is_meant() -> None:
    policy = replace(DEFAULT_POLICY, stop_words=("boots",))
    occurrences = {"boats": 4000, "bots": 1500, "boots": 90_000, "boas": 149}
    spelling = Spelling(occurrences, policy)
    assert spelling.correct("btaos") is None  # more than one slip away
    assert spelling.correct("botas") == "boats"
    assert spelling.correct("boaats") == "boats"
    assert spelling.correct("boqas") is None  # occurs too seldom
    assert Spelling({"boars": 150, "boats": 150}, policy).correct("boaxs") == ("boars")


def test_a_policy_without_a_dictionary_corrects_nothing(encoder: Encoder) -> None:
    before = replace(DEFAULT_POLICY, name="before", dictionary_digest="")
    assert parse_query("a good resturant", encoder, before).corrected == {}


def test_another_word_list_than_the_policys_is_refused() -> None:
    with pytest.raises(RuntimeError, match="another word list than sha256:"):
        load_occurrences("sha256:" + "0" * 64)


@given(st.text(LETTERS, max_size=40))
def test_only_listed_words_are_corrected_to(word: str) -> None:
    lexicon = lexicon_of(load_encoder(), DEFAULT_POLICY)
    listed = load_occurrences(DEFAULT_POLICY.dictionary_digest)
    for typed, meant in corrections(lexicon, word).items():
        assert meant in listed
        assert typed not in listed
        assert not lexicon.knows(typed)


def test_a_correction_shares_the_weight_of_the_word_and_is_reported() -> None:
    request = request_of("a good Resturant")
    share = DEFAULT_POLICY.correction_share_bp
    assert request.corrected == {"resturant": "restaurant"}
    assert request.weights_bp == {
        "good": FULL,
        "restur": FULL - share,
        "restaur": share,
    }
    assert request.terms == ("good", "restur")


PLAIN = st.lists(
    st.sampled_from(
        [
            "check",
            "in",
            "on",
            "line",
            "E-mail",
            "webSite",
            "addToCart",
            "it's",
            "-",
            "x_",
        ]
    )
    | st.text(st.characters(max_codepoint=0x7F), max_size=8),
    max_size=8,
).map(" ".join)


@given(PLAIN)
def test_words_are_read_run_by_run_as_they_are_all_at_once(text: str) -> None:
    lexicon = lexicon_of(load_encoder(), DEFAULT_POLICY)
    *typed, last = typed_words(f"{text} \u00e9")  # which is read as a whole
    assert last == ("\u00e9", "e")
    assert typed_words(text) == typed
    assert [read.word for read in lexicon.read(text)] == [
        part for _, word in typed for part in lexicon.parts(word)
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("check in", "checkin", id="two runs"),
        pytest.param("Check, in!", "checkin", id="with marks"),
        pytest.param("check - in", "checkin", id="a run without words between"),
        pytest.param("check out", "check out", id="only with a hyphen"),
        pytest.param("sign up-load", "signup load", id="before words that are joined"),
        pytest.param("check in-", "checkin", id="hangs on nothing"),
        pytest.param("check", "check", id="nothing follows"),
        pytest.param("in check", "in check", id="the other way round"),
    ],
)
def test_words_of_two_runs_are_put_together(
    lexicon: Lexicon, text: str, words: str
) -> None:
    assert [read.word for read in lexicon.read(text)] == words.split()


@pytest.mark.parametrize("pair", SPLIT_WORDS)
def test_every_word_in_two_is_read_as_one(lexicon: Lexicon, pair: str) -> None:
    joined = pair.replace("+", "").replace("-", "")
    spaced, hung = pair.replace("+", " "), pair.replace("+", "-")
    for text in (hung, hung.upper(), spaced, f"{spaced}, {spaced}"):
        assert {read.word for read in lexicon.read(text)} == {joined}


def test_a_word_is_one_object_whatever_stands_around_it(lexicon: Lexicon) -> None:
    (plain,) = lexicon.read("weather")
    assert lexicon.read("Weather? (WEATHER) weather's") == [plain] * 3


MISTYPED = st.sampled_from(["resturant", "caf\u00e9", "zuerich", "addtocart", "dentst"])


@given(st.lists(PLAIN | MISTYPED, max_size=8).map(" ".join))
def test_a_request_is_read_as_it_is_word_by_word(text: str) -> None:
    encoder = load_encoder()
    words = lexicon_of(encoder, DEFAULT_POLICY).read(text)
    assert parse_query(text, encoder, DEFAULT_POLICY) == parse_word_by_word(
        text, words, encoder, DEFAULT_POLICY
    )


def test_a_word_that_is_also_typed_right_keeps_its_weight() -> None:
    weights = term_weights_bp(
        {"resturant": "restur", "restaurant": "restaur"},
        {"resturant": "restaurant"},
        DEFAULT_POLICY,
    )
    assert weights["restaur"] == FULL


def test_a_mistyped_request_means_nearly_the_same(encoder: Encoder) -> None:
    right = request_of("restaurant reservation")
    wrong = request_of("resturant reservaton")
    assert wrong.vector == right.vector
    assert wrong.confidence_bp == right.confidence_bp


def test_few_words_of_a_request_are_corrected(encoder: Encoder) -> None:
    text = "resturant appointmnt accomodation recieve dentst please"
    assert len(request_of(text).corrected) == DEFAULT_POLICY.corrections_max
    none = replace(DEFAULT_POLICY, corrections_max=0)
    assert parse_query(text, encoder, none).corrected == {}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("addtocart" * 4 + " ", id="parts"),
        pytest.param("x" * 1000 + " ", id="long words"),
        pytest.param("etaoinshrdluetaoinshrdlu ", id="many letters"),
        pytest.param("restaurrantt ", id="slips"),
    ],
)
def test_hostile_requests_are_read(text: str) -> None:
    distinct = "".join(text.strip() + letter + " " for letter in LETTERS)
    request = request_of(distinct + text * 20)
    assert len(request.corrected) <= DEFAULT_POLICY.corrections_max
    assert len(request.terms) <= DEFAULT_POLICY.query_words_max
