import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.text import content_words, distinct_terms, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bookTable", ["book", "table"]),
        ("search_flights-v2", ["search", "flights", "v", "2"]),
        ("parseHTTPRequest", ["parse", "http", "request"]),
        ("MP3", ["mp", "3"]),
        ("ＡＢＣ ﬁle", ["abc", "file"]),  # noqa: RUF001  full-width letters
        ("the café's menu, don't", ["the", "cafe", "menu", "don"]),
        ("l'été à São Paulo", ["l", "ete", "a", "sao", "paulo"]),
        ("STRASSE straße", ["strasse", "strasse"]),
        ("东京塔", ["东京", "京塔"]),
        ("茶 tea", ["茶", "tea"]),
        ("iPhone手机", ["i", "phone", "手机"]),
        ("حجز طاولة", ["حجز", "طاولة"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("", []),
        ("!!! \x00 🙂 __", []),
    ],
)
def test_text_is_split_into_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("booking", "bookings"),
        ("flights", "flight"),
        ("рестораны", "ресторан"),
        ("التوصيل", "توصيل"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert distinct_terms([one]) == distinct_terms([other])


def test_only_words_that_say_something_are_kept() -> None:
    said = split_words("Please find me the best 80,000 deals: " + "x" * 41)
    assert content_words(said, DEFAULT_POLICY, limit=9) == ["deals"]


def test_words_count_once_and_up_to_the_limit() -> None:
    words = ["pizza"] * 1000 + ["pasta", "wine"]
    assert content_words(words, DEFAULT_POLICY, limit=2) == ["pizza", "pasta"]


@given(st.text(max_size=80))
def test_any_text_gives_words_without_separators(text: str) -> None:
    for word in split_words(text):
        assert word
        assert not any(character.isspace() or character == "_" for character in word)
