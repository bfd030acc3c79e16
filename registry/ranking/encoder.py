"""Words into vectors: static embeddings, pooled and quantised in whole numbers.

Owns the reading of wordllama's bundled table and tokenizer, once, from the installed
package's own files: the one input a pure package takes for itself, constant for a given
release and named by its digest in the policy. The package itself is never imported:
doing so configures the root logger and brings in an HTTP client.

Everything after the load is integer arithmetic, so a vector does not depend on the
order of the words, the machine, or the number of threads.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from registry.ranking.policy import DEFAULT_POLICY, FULL, Policy

DIMENSIONS = 256
LENGTH = 127
"""Length of a quantised vector: two vectors' product over LENGTH² is their cosine."""

Integers = npt.NDArray[np.int64]
_TABLE_SCALE = 2048  # entries lie within ±9, with 11 significant bits
_WORD_START = "▁"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


@dataclass(frozen=True, slots=True)
class Embedding:
    """vector: 256 signed bytes of length LENGTH, or all zero where nothing is meant.

    confidence_bp: the share of the letters that stand in meaningful pieces.
    """

    vector: bytes
    confidence_bp: int


class Encoder:
    """Shared and read-only after its load."""

    def __init__(
        self, table: npt.NDArray[np.int16], tokenizer: Tokenizer, policy: Policy
    ) -> None:
        """table: one row of DIMENSIONS for each piece of the tokenizer."""
        self.digest = f"sha256:{hashlib.sha256(table.tobytes()).hexdigest()}"
        self._table = table
        self._tokenizer = tokenizer
        self._full = policy.piece_letters_full
        self._pieces_of = lru_cache(maxsize=16_384)(self._embed_word)

    def is_one_piece(self, word: str) -> bool:
        """Whether the vocabulary, made of what is written often, has the whole word."""
        found = self._tokenizer.token_to_id(f"{_WORD_START}{word}")
        return found is not None

    def encode(self, words: Iterable[tuple[str, int]]) -> Embedding:
        """words: each with its weight, a small whole number."""
        total = np.zeros(DIMENSIONS, np.int64)
        meant = letters = 0
        for word, weight in words:
            vector, word_meant, word_letters = self._pieces_of(word)
            total += weight * vector
            meant += weight * word_meant
            letters += weight * word_letters
        confidence = FULL * meant // (letters * self._full) if letters else 0
        return Embedding(_quantise(total), confidence)

    def _embed_word(self, word: str) -> tuple[npt.NDArray[np.int32], int, int]:
        """The weighted sum of its pieces; meant letters, times full, and all letters."""
        encoding = self._tokenizer.encode(word, add_special_tokens=False)
        counts = [len(piece.strip(_WORD_START)) for piece in encoding.tokens]
        weights = [self._weight(piece) for piece in encoding.tokens]
        vector = np.array(weights, np.int32) @ self._table[encoding.ids]
        meant = sum(n * w for n, w in zip(counts, weights, strict=True))
        return vector, meant, sum(counts)

    def _weight(self, piece: str) -> int:
        """0..full by the piece's letters; one letter means something only in Han."""
        text = piece.strip(_WORD_START)
        if len(text) == 1:
            return self._full if "\u4e00" <= text <= "\u9fff" else 0
        if text.startswith("<0x"):  # a byte of a character that the table lacks
            return 0
        return min(len(text), self._full)


def _quantise(total: Integers) -> bytes:
    """Rounded to LENGTH; sum, root and quotient are each correctly rounded (IEEE)."""
    length = np.sqrt(np.float64(np.dot(total, total)))
    if length == 0:
        return bytes(DIMENSIONS)
    vector: npt.NDArray[np.int8] = np.rint(total * LENGTH / length).astype(np.int8)
    return vector.tobytes()


@cache
def load_encoder(policy: Policy = DEFAULT_POLICY) -> Encoder:
    """One a process; the first call takes about half a second.

    Raises: RuntimeError if the installed table is not the one the policy names.
    """
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise RuntimeError("wordllama is not installed")
    package = Path(spec.origin).parent
    with safe_open(str(package / _WEIGHTS), framework="np") as weights:
        entries = weights.get_tensor("embedding.weight").astype(np.float32)
    table = np.rint(entries * _TABLE_SCALE).astype(np.int16)
    tokenizer = Tokenizer.from_file(str(package / _TOKENIZER))
    encoder = Encoder(table, tokenizer, policy)
    if encoder.digest != policy.encoder_digest:
        raise RuntimeError(f"the policy wants another encoder than {encoder.digest}")
    return encoder
