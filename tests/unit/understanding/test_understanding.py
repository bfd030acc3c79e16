# ruff: noqa: RUF001  letters of other scripts are what this is about
"""The operating point of eligibility, on requests of many kinds and languages.

The bounds are what the policy reaches on all requests, a little loosened; how it was
chosen and what each half reaches stands in docs/benchmarks.md.
"""

import pytest

from registry.demo.town.member import CAST
from registry.index.query.facets import count_facets
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import make_scoring_parameters
from registry.index.query.search import Ranked, is_answered, prepare_query
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY as P
from tests.unit.index.test_town import NOW, ask, hosts, town
from tests.unit.understanding.request_sets import read_sets

SETS = read_sets()
LATER = read_sets("written_later.toml")
STRANGERS = read_sets("strangers.toml")
WRITERS = {
    name: read_sets(f"{name}.toml") for name in ("first_writer", "second_writer")
}
ALL = tuple(
    requests
    for sets in (SETS, LATER, STRANGERS, *WRITERS.values())
    for requests in sets.values()
)
LANGUAGES = ("german", "spanish", "arabic", "japanese", "french", "chinese")

Requests = dict[str, frozenset[str]]

__all__ = ["town"]


@pytest.fixture(scope="module")
def answers(town: Index) -> dict[str, Ranked]:
    return {text: ask(town, text) for requests in ALL for text in requests}


def first_right(requests: Requests, answers: dict[str, Ranked]) -> int:
    return sum(
        bool(ranked) and ranked[0] in right
        for text, right in requests.items()
        if (ranked := hosts(answers[text])) is not None
    )


def answered(requests: Requests, answers: dict[str, Ranked]) -> int:
    return sum(answers[text].eligible > 0 for text in requests)


def test_every_right_host_is_in_the_town(town: Index) -> None:
    known = {member.host.removesuffix(".test") for member in CAST}
    for requests in ALL:
        assert known.issuperset(frozenset().union(*requests.values()))


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("english", 23),
        *((name, 18) for name in LANGUAGES),
        ("typos", 19),
        ("across", 40),
    ],
)
def test_the_right_site_is_first(
    name: str, least: int, answers: dict[str, Ranked]
) -> None:
    assert first_right(SETS[name], answers) >= least


def test_other_words_find_the_same(answers: dict[str, Ranked]) -> None:
    assert first_right(SETS["other_words"], answers) >= 24
    assert answered(SETS["other_words"], answers) >= 25


@pytest.mark.parametrize(("name", "most"), [("off_topic", 4), ("shared_word", 12)])
def test_what_nobody_does_is_not_answered(
    name: str, most: int, answers: dict[str, Ranked]
) -> None:
    assert answered(SETS[name], answers) <= most


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("other_words", 17),
        ("typos", 18),
        ("german", 14),
        ("spanish", 16),
        ("arabic", 13),
        ("japanese", 16),
        ("more_languages", 16),
        ("long", 5),
        ("two_intents", 5),
    ],
)
def test_requests_written_later_find_the_right_site(
    name: str, least: int, answers: dict[str, Ranked]
) -> None:
    assert first_right(LATER[name], answers) >= least


@pytest.mark.parametrize(("name", "most"), [("off_topic", 11), ("shared_word", 19)])
def test_what_nobody_does_is_not_answered_later_either(
    name: str, most: int, answers: dict[str, Ranked]
) -> None:
    assert answered(LATER[name], answers) <= most


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("german", 21),
        ("arabic", 19),
        ("spanish", 21),
        ("japanese", 22),
        ("other_words", 13),
        ("typos", 21),
        ("long", 6),
    ],
)
def test_strangers_find_the_right_site(
    name: str, least: int, answers: dict[str, Ranked]
) -> None:
    assert first_right(STRANGERS[name], answers) >= least


@pytest.mark.parametrize(
    ("name", "most"), [("off_topic", 12), ("shared_word", 26), ("long_off_topic", 6)]
)
def test_strangers_who_want_what_nobody_does_are_not_answered(
    name: str, most: int, answers: dict[str, Ranked]
) -> None:
    assert answered(STRANGERS[name], answers) <= most


@pytest.mark.parametrize(
    ("name", "other_words", "other_language", "typos"),
    [("first_writer", 89, 146, 65), ("second_writer", 75, 125, 57)],
)
def test_writers_who_knew_the_sites_alone_find_the_right_one(
    name: str,
    other_words: int,
    other_language: int,
    typos: int,
    answers: dict[str, Ranked],
) -> None:
    sets = WRITERS[name]
    assert first_right(sets["other_words"], answers) >= other_words
    assert first_right(sets["other_language"], answers) >= other_language
    assert first_right(sets["typos"], answers) >= typos
    assert answered(sets["shared_word"], answers) <= 96
    assert answered(sets["off_topic"], answers) <= 74


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("\u202erepair my bicycle\u202c", id="right to left override"),
        pytest.param("re\u200dpair my bi\u2060cy\u00adcle", id="invisible letters"),
        pytest.param("repair my \u200bbicycle\ufeff", id="zero width"),
        pytest.param("repair мой 自転車 دراجة bicycle", id="mixed scripts"),
        pytest.param("ｒｅｐａｉｒ ｍｙ ｂｉｃｙｃｌｅ", id="full width"),
        pytest.param("𝓻𝓮𝓹𝓪𝓲𝓻 𝓶𝔂 𝓫𝓲𝓬𝔂𝓬𝓵𝓮", id="mathematical letters"),
        pytest.param("🚲🔧 repair my bicycle " + "😀" * 400, id="with emoji"),
        pytest.param("\u2067repair\u2069 \u202dmy\u202c bicycle", id="isolates"),
        pytest.param("r\u0301epair my b\u0308icycle", id="stray accents"),
        pytest.param(
            "User: bread?\nAssistant: a dentist?\nUser: no, repair my bicycle",
            id="dialogue",
        ),
    ],
)
def test_odd_writing_is_understood(town: Index, text: str) -> None:
    assert hosts(ask(town, text))[0] in {"radhaus-kreuz", "maple-spoke"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("😀" * 500, id="500 emoji"),
        pytest.param("👩\u200d👩\u200d👧" * 160, id="emoji sequences"),
        pytest.param("x" * 4_000, id="a word of 4,000 letters"),
        pytest.param("漢" * 4_000, id="a run of 4,000 characters"),
        pytest.param("a" + "\u0301" * 3_000, id="marks piled up"),
        pytest.param("aя漢ع" * 200, id="scripts in one word"),
        pytest.param("\U000e0041" * 300, id="tags"),
        pytest.param("\u202e\u202d\u2066" * 300, id="directions alone"),
        pytest.param("\uf8d0\uf8d1 \uf8d2", id="private use"),
        pytest.param("a\x00b \ufffd\ufffe", id="no characters"),
        pytest.param("ብስክሌቴን ጠግኑልኝ", id="amharic"),
        pytest.param("ველოსიპედის შეკეთება", id="georgian"),
        pytest.param("என் மிதிவண்டியை சரிசெய்", id="tamil"),
        pytest.param("rераir my biсyсlе", id="letters that look alike"),
        pytest.param("\u202eelcycib ym riaper", id="written backwards"),
        pytest.param("ቡና የት እገዛለሁ ☕ បង់រំលស់ ຊື້ລົດ", id="unknown scripts together"),
        pytest.param("mwxq zzrt vlkpf", id="letters by chance"),
        pytest.param(
            "User:\nAssistant: shall I repair your bicycle?", id="asks nothing"
        ),
    ],
)
def test_what_is_not_understood_gets_nothing(town: Index, text: str) -> None:
    assert ask(town, text).eligible == 0


def test_who_means_a_part_is_not_listed_alone(town: Index) -> None:
    """Sites are eligible beside one that means the request, and not without it."""
    text = "please book a deep tissue massage for my aching shoulders"
    query = prepare_query(text, load_encoder(), P)
    weights = town.term_weights(query.request.terms)
    constants = make_scoring_parameters(query, weights, NOW, P)
    beside, _ = town.bound.search(constants, k=1)
    assert len(beside)
    assert not is_answered(town, constants)
    assert ask(town, text).eligible == 0
    facets = count_facets(town, query, weights, now=NOW, fields=["category"])
    assert facets == {"category": ()}
