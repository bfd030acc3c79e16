"""The forward pass on made-up weights; the real ones where they are installed."""

import hashlib
import random
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.encoders.meaning import SiteWords
from registry.ranking.encoders.transformer_encoder import PROJECTION, TransformerEncoder
from registry.ranking.encoders.vectors import DIMENSIONS, SITE_BYTES
from registry.ranking.policy import TRANSFORMER_POLICY


@cache
def installed() -> Encoder:
    try:
        return load_encoder(TRANSFORMER_POLICY)
    except RuntimeError as error:
        pytest.skip(f"{error}")


def outputs_of(text: str) -> np.ndarray:
    """Anything, but always the same for a text."""
    rng = random.Random(text)
    return np.array([rng.randint(-99_999, 99_999) for _ in range(384)], np.int64)


@pytest.fixture
def made_up(encoder: Encoder) -> TransformerEncoder:
    return TransformerEncoder(outputs_of, np.load(PROJECTION), encoder, "sha256:0")


def site(*names: str, about: Sequence[str] = ()) -> SiteWords:
    nothing: list[list[str]] = [[] for _ in names]
    return SiteWords(
        about=about,
        names=[[name] for name in names],
        descriptions=nothing,
        parameters=nothing,
    )


def test_vectors_have_their_sizes(made_up: TransformerEncoder) -> None:
    meaning = made_up.encode_request(["find", "bread"], ["bread"])
    assert len(meaning.vector) == DIMENSIONS
    assert meaning.confidence_bp > 0
    assert len(made_up.encode_site(site("bake"))) == SITE_BYTES


def test_crumbs_of_letters_have_no_meaning(made_up: TransformerEncoder) -> None:
    meaning = made_up.encode_request(["q"], ["q"])
    assert (meaning.vector, meaning.confidence_bp) == (bytes(DIMENSIONS), 0)


def test_a_site_of_no_words_has_no_vector(made_up: TransformerEncoder) -> None:
    assert made_up.encode_site(site()) == bytes(SITE_BYTES)


def test_order_of_actions_changes_nothing(made_up: TransformerEncoder) -> None:
    item, other = site("bake", "sell"), site("sell", "bake")
    assert made_up.encode_site(item) == made_up.encode_site(other)


def test_a_site_is_its_actions_or_else_its_description(
    made_up: TransformerEncoder,
) -> None:
    assert made_up.encode_site(site(about=["bread"])) != bytes(SITE_BYTES)
    assert made_up.encode_site(site(about=["bread"])) != made_up.encode_site(
        site("bake", about=["bread"])
    )


def test_everyday_words_are_those_of_the_static_encoder(
    made_up: TransformerEncoder, encoder: Encoder
) -> None:
    assert made_up.is_one_piece("bread")
    assert set(made_up.word_pieces()) == set(encoder.word_pieces())


def test_the_real_one_knows_what_is_alike() -> None:
    def vector(text: str) -> np.ndarray:
        words = text.split()
        return np.frombuffer(installed().encode_request(words, words).vector, np.int8)

    item, like, other = (
        vector(text).astype(int)
        for text in (
            "how do i bake bread at home",
            "recipe for homemade loaves",
            "stock market news",
        )
    )
    assert item @ like > 3 * abs(item @ other)


def test_the_real_one_cuts_endless_texts() -> None:
    words = ["bread"] * 5000
    assert any(installed().encode_request(words, words).vector)


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        pytest.param("how do i bake bread at home", "298db4c8f8b6d5dc", id="a request"),
        pytest.param(
            "寻找北京的餐厅 \u202e مطعم 🍞", "0e438781e045f134", id="many scripts"
        ),
        pytest.param(
            "bread, butter; jam " * 60, "13b1ab96323cfb1c", id="more than is read"
        ),
    ],
)
def test_the_real_one_gives_the_same_bits_on_every_machine(
    text: str, digest: str
) -> None:
    words = text.split()
    vector = installed().encode_request(words, ["bread"]).vector
    assert hashlib.sha256(vector).hexdigest()[:16] == digest
