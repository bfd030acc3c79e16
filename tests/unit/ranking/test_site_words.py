"""Texts that are looked up run by run are read as they are word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.terms import split_words
from registry.ranking.words.lexicon import lexicon_of
from registry.ranking.words.mask import EverydayWords, make_mask
from registry.ranking.words.site_words import SiteTextReader, site_text_reader
from registry.sites.action import Action

NAME, DOMAIN = "Green Bowl", "greenbowl-zorblax.test"
LIMIT = DEFAULT_POLICY.description_words_max


def reading() -> SiteTextReader:
    return site_text_reader(
        NAME, DOMAIN, DOMAIN, None, encoder=load_encoder(), policy=DEFAULT_POLICY
    )


def word_by_word(text: str) -> list[str]:
    everyday = EverydayWords(load_encoder(), DEFAULT_POLICY, frozenset())
    mask = make_mask(NAME, DOMAIN, DOMAIN, everyday)
    saved = mask.cut(split_words(text))
    return lexicon_of(load_encoder(), DEFAULT_POLICY).content_words(saved, limit=LIMIT)


def described(text: str) -> list[str]:
    return list(reading().action(Action(name="find", description=text)).description)


runs = st.sampled_from(
    [
        *("check", "in", "e-mail", "e", "mail", "on", "line", "log-in", "pre", "order"),
        *("green", "bowl", "Green-Bowl", "greenBowl", "zorblax", "Zorblax's", "bowls"),
        *("addtocart", "bookTable", "v2", "17", "the", "???", "fresh", "Café", "寿司"),
        "w" * 70,
    ]
)
texts = st.lists(runs, max_size=12).map(" ".join) | st.text(max_size=30)


@given(texts)
def test_a_text_by_its_runs_says_what_it_says_by_its_words(text: str) -> None:
    assert described(text) == word_by_word(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("please check in early", id="two-runs-one-word"),
        pytest.param("a green bowl of rice", id="own-name-in-two-runs"),
        pytest.param("zorblax rice", id="a-mark"),
        pytest.param("fresh rice fresh", id="nothing-to-look-at"),
    ],
)
def test_runs_that_belong_together_are_read_together(text: str) -> None:
    assert described(text) == word_by_word(text)
