"""Makes the projections in registry/ranking/encoders.

    python -m tests.unit.ranking.make_projection

Those of static vectors are the principal axes of the words that the policy lists:
trades, things, acts. What tells those apart is kept; a table of pieces spends much of its
room on code and fragments. Those of sentences are of pairs of words less their mean, which
follows the axes, each scaled by EVENNESS: what few pairs differ in tells requests for
something else apart, and many axes hold a little of it. The axes come in the order of
their energy. Roots of matrices differ in the
last bits from machine to machine, so the result is kept as a file of rounded numbers,
and a test asks that it is still nearly as good as one made anew.
"""

import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from registry.bench.synthetic.language import load_table
from registry.ranking.encoders import (
    sentence_encoder,
    sentence_pieces,
    static_encoder,
)
from registry.ranking.policy import DEFAULT_POLICY

_MOST = 127
EVENNESS = -1 / 8
"""Power of an axis' variance that it is scaled by: -1/2 makes all axes alike."""
_WORDS, _LETTERS_MIN, _PIECES_MOST = 12_000, 4, 20

Floats = npt.NDArray[np.float64]


def listed_words() -> list[str]:
    policy = DEFAULT_POLICY
    return sorted({*policy.generic_words, *policy.everyday_words, *policy.act_words})


def static_vectors() -> Floats:
    """One unit vector for each listed word, the plain sum of its pieces."""
    table, tokenizer = load_table(), static_encoder.load_tokenizer()
    pieces = (
        tokenizer.encode(word, add_special_tokens=False).ids for word in listed_words()
    )
    return _unit(np.array([table[numbers].sum(axis=0) for numbers in pieces]))


def sentence_vectors() -> Floats:
    """One unit vector for each pair of words, of the words that the pieces have whole.

    The axes are of words in all of its languages, none of them chosen by us.
    """
    sentences = sentence_encoder.load_sentence_encoder()
    layers, pieces = sentences.layers, sentences.pieces
    words = [piece[1:] for piece in pieces if _is_word(piece)]
    random.Random(1).shuffle(words)
    pairs = [f"{word} {next_one}" for word, next_one in batched_pairs(words[:_WORDS])]
    outputs = [
        layers(
            [pieces.numbers(pair, _PIECES_MOST) for pair in pairs[start : start + 64]]
        )
        for start in range(0, len(pairs), 64)
    ]
    return _unit(np.concatenate(outputs))


def batched_pairs(words: list[str]) -> list[tuple[str, str]]:
    return list(zip(words[::2], words[1::2], strict=True))


def _is_word(piece: str) -> bool:
    is_started = piece.startswith(sentence_pieces.START) and len(piece) > _LETTERS_MIN
    return is_started and piece[1:].isalpha()


def _unit(vectors: npt.NDArray[np.generic]) -> Floats:
    sums = vectors.astype(np.float64)
    unit: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit


def axes_of(vectors: Floats, count: int) -> Floats:
    """Shape (n, count); the sign makes each axis' largest entry positive."""
    _, result = np.linalg.eigh(vectors.T @ vectors)
    axes = result[:, ::-1][:, :count]
    largest = np.abs(axes).argmax(axis=0)
    signed: Floats = axes * np.sign(axes[largest, np.arange(count)])
    return signed


def _in_bytes(columns: Floats) -> npt.NDArray[np.int8]:
    return np.rint(columns * _MOST / np.abs(columns).max()).astype(np.int8)


def static_projection() -> npt.NDArray[np.int8]:
    return _in_bytes(axes_of(static_vectors(), static_encoder.AXES))


def sentence_projection() -> npt.NDArray[np.int8]:
    vectors = sentence_vectors()
    mean = vectors.mean(axis=0)
    axes = axes_of(vectors - mean, sentence_encoder.AXES)
    variances = ((vectors - mean) @ axes).var(axis=0)
    return np.column_stack([_in_bytes(axes * variances**EVENNESS), _in_bytes(mean)])


RESULT: dict[str, Callable[[], npt.NDArray[np.int8]]] = {
    str(static_encoder.PROJECTION): static_projection,
    str(sentence_encoder.PROJECTION): sentence_projection,
}

if __name__ == "__main__":
    for path, projection in RESULT.items():
        np.save(path, projection())
