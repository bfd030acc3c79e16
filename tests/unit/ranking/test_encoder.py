import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.ranking.encoder import DIMENSIONS, LENGTH, Encoder, load_encoder

WORDS = ["table", "dinner", "flight", "music", "qwrtz", "寿司"]


def cosine(encoder: Encoder, one: str, other: str) -> float:
    a, b = (
        np.frombuffer(encoder.encode([(word, 1)]).vector, np.int8).astype(int)
        for word in (one, other)
    )
    return float(a @ b) / LENGTH**2


def test_words_of_like_meaning_are_nearer(encoder: Encoder) -> None:
    assert cosine(encoder, "movie", "film") > 2 * cosine(encoder, "movie", "bank")


@settings(max_examples=20)
@given(st.permutations([(word, weight + 1) for weight, word in enumerate(WORDS)]))
def test_order_of_words_changes_no_bit(words: list[tuple[str, int]]) -> None:
    encoder = load_encoder()
    assert encoder.encode(words) == encoder.encode(sorted(words))


def test_vectors_have_unit_length(encoder: Encoder) -> None:
    vector = np.frombuffer(encoder.encode([("dinner", 1)]).vector, np.int8)
    assert len(vector) == DIMENSIONS
    assert np.linalg.norm(vector.astype(float)) == pytest.approx(LENGTH, rel=0.01)


@pytest.mark.parametrize("word", ["", "12345", "q", "\U0001f642"])
def test_what_means_nothing_has_no_vector(encoder: Encoder, word: str) -> None:
    embedding = encoder.encode([(word, 1)])
    assert embedding.vector == bytes(DIMENSIONS)
    assert embedding.confidence_bp == 0


def test_crumbs_of_letters_are_understood_less_than_words(encoder: Encoder) -> None:
    nonsense = encoder.encode([("qwrtz", 1), ("plimf", 1)]).confidence_bp
    assert nonsense < 3000 < encoder.encode([("dinner", 1)]).confidence_bp
