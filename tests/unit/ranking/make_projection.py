"""Makes the projections in registry/ranking, one for each encoder that is installed.

    python -m tests.unit.ranking.make_projection

They are the principal axes of the words that the policy lists: trades, things, acts.
What tells those apart is kept; a table of pieces spends much of its room on code and
fragments. The axes come in the order of their energy. Roots of matrices differ in the
last bits from machine to machine, so the result is kept as a file of rounded numbers,
and a test asks that it is still nearly as good as one made anew.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from registry.ranking.encoders import static_encoder, transformer_encoder
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import DEFAULT_POLICY

_MOST = 127

Floats = npt.NDArray[np.float64]


def listed_words() -> list[str]:
    policy = DEFAULT_POLICY
    return sorted({*policy.generic_words, *policy.everyday_words, *policy.act_words})


def static_vectors() -> Floats:
    """One unit vector for each listed word, the plain sum of its pieces."""
    table, tokenizer = static_encoder.load_table(), static_encoder.load_tokenizer()
    pieces = (
        tokenizer.encode(word, add_special_tokens=False).ids for word in listed_words()
    )
    return _unit(np.array([table[numbers].sum(axis=0) for numbers in pieces]))


def transformer_vectors() -> Floats:
    """One unit vector for each listed word, as a text of its own.

    Raises: RuntimeError if the weights are not installed.
    """
    outputs_of = transformer_encoder.load_outputs()
    return _unit(np.array([outputs_of(word) for word in listed_words()]))


def _unit(vectors: npt.NDArray[np.generic]) -> Floats:
    sums = vectors.astype(np.float64)
    unit: Floats = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    return unit


def axes_of(vectors: Floats) -> Floats:
    """Shape (n, DIMENSIONS); the sign makes each axis' largest entry positive."""
    _, result = np.linalg.eigh(vectors.T @ vectors)
    axes = result[:, ::-1][:, :DIMENSIONS]
    largest = np.abs(axes).argmax(axis=0)
    signed: Floats = axes * np.sign(axes[largest, np.arange(DIMENSIONS)])
    return signed


def make_projection(vectors: Floats) -> npt.NDArray[np.int8]:
    axes = axes_of(vectors)
    return np.rint(axes * _MOST / np.abs(axes).max()).astype(np.int8)


RESULT: dict[str, Callable[[], Floats]] = {
    str(static_encoder.PROJECTION): static_vectors,
    str(transformer_encoder.PROJECTION): transformer_vectors,
}

if __name__ == "__main__":
    for path, vectors_of in RESULT.items():
        try:
            np.save(path, make_projection(vectors_of()))
        except RuntimeError as error:
            print(f"left as it is: {path}: {error}")  # noqa: T201 - it is a command
