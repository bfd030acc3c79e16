"""The sentence encoder's layers give the same bits in whatever order sums are taken."""

import hashlib
from collections.abc import Callable

import numpy as np
import pytest

from registry.ranking.encoders import sentence_layers
from registry.ranking.encoders.sentence_encoder import (
    SentenceEncoder,
    load_sentence_encoder,
)
from registry.ranking.encoders.sentence_layers import (
    SUM_MOST,
    TANH,
    UNITY,
    Dense,
    make_dense,
)
from registry.ranking.encoders.sentence_pieces import BEGIN, END

TEXTS = [
    "book a table for two tonight",
    "ich brauche einen Zahnarzt",
    "明日の天気予報",
    "حجز طاولة للعشاء",
    "x",
]
OF_THE_TEXTS = "c6181c2cf7fc8fbc"

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]


@pytest.fixture(scope="module")
def sentences() -> SentenceEncoder:
    return load_sentence_encoder()


@pytest.fixture
def texts(sentences: SentenceEncoder) -> list[list[int]]:
    return [sentences.pieces.numbers(text, 96) for text in TEXTS]


def in_whole_numbers(inputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Multiply exactly, and refuse sums that 32-bit fractions would round."""
    products = inputs.astype(np.int64) @ weights.astype(np.int64)
    assert (
        np.abs(inputs).astype(np.int64) @ np.abs(weights).astype(np.int64)
    ).max() < (SUM_MOST)
    return products.astype(np.float32)


def from_the_last(inputs: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return inputs[:, ::-1] @ weights[::-1]


@pytest.mark.parametrize("product", [in_whole_numbers, from_the_last])
def test_sums_in_any_order_give_the_same_bits(
    product: Product,
    sentences: SentenceEncoder,
    texts: list[list[int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_the_library = sentences.layers(texts)

    def multiply(dense: Dense, inputs: np.ndarray) -> np.ndarray:
        largest = np.maximum(
            np.abs(inputs).max(axis=1, keepdims=True), np.float32(1e-30)
        )
        outputs = product(np.rint(inputs * (dense.most / largest)), dense.weights)
        outputs *= largest / dense.most * dense.scale
        return outputs

    monkeypatch.setattr(Dense, "__call__", multiply)
    assert sentences.layers(texts).tobytes() == by_the_library.tobytes()


def test_the_bits_are_those_of_every_other_machine(
    sentences: SentenceEncoder, texts: list[list[int]]
) -> None:
    outputs = sentences.layers(texts)
    assert hashlib.sha256(outputs.tobytes()).hexdigest()[:16] == OF_THE_TEXTS


def test_a_text_does_not_depend_on_its_neighbours(
    sentences: SentenceEncoder, texts: list[list[int]]
) -> None:
    together = sentences.layers(texts)
    for text, outputs in zip(texts, together, strict=True):
        assert sentences.layers([text]).tobytes() == outputs.tobytes()


def test_rows_that_are_stored_no_longer_are_computed_again(
    sentences: SentenceEncoder, texts: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = sentences.layers(texts)
    monkeypatch.setattr("registry.ranking.encoders.sentence_layers._STORED_MOST", 7)
    for _ in range(2):
        assert sentences.layers(texts).tobytes() == outputs.tobytes()
        assert len(sentences.layers._stored) == 7
    sentences.layers([texts[-1]])
    assert list(sentences.layers._stored)[-3:] == texts[-1]


def test_halves_become_the_same_fractions_in_32_bits() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)]
    widened = sentence_layers._widened(finite)
    assert widened.tobytes() == finite.astype(np.float32).tobytes()


def test_texts_of_one_meaning_are_near_in_any_language(
    sentences: SentenceEncoder,
) -> None:
    texts = [
        "reserve a table in a restaurant",
        "einen Tisch im Restaurant reservieren",
        "レストランの席を予約する",
        "repair a broken bicycle",
    ]
    vectors = sentences.encode(texts, 96)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    alike = vectors @ vectors[0]
    assert alike[1] > 0.6
    assert alike[2] > 0.6
    assert alike[3] < 0.3


def test_no_entry_of_the_table_is_near_a_half() -> None:
    """A mathematics library that is off by its last bit rounds none otherwise."""
    steps = np.arange(len(TANH)) - len(TANH) // 2
    fractions = np.abs(np.tanh(steps / 512) * UNITY) % 1
    assert np.abs(fractions - 0.5).min() > 1e-9


def test_weights_that_are_no_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="eight bits"):
        make_dense(np.array([[1.0, 0.51], [0.3, 0.123]]))


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("", False),
        ("   \u202e\u200f ", False),
        ("😀" * 500, False),
        ("ዛሬ", False),
        ("a" * 10_000, True),
        ("\ud7ff\U0010ffff\x00", False),
        ("मुझे डॉक्टर चाहिए", True),
    ],
)
def test_odd_texts_are_read(text: str, known: bool, sentences: SentenceEncoder) -> None:
    numbers = sentences.pieces.numbers(text, 96)
    assert (numbers[0], numbers[-1]) == (BEGIN, END)
    assert len(numbers) <= 98
    assert sentences.pieces.are_known(numbers) == known
    (vector,) = sentences.encode([text], 96)
    assert np.isfinite(vector).all()
    assert vector.any() == known
