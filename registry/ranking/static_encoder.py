"""The default encoder: one vector a piece of a word, pooled in whole numbers.

Owns the reading of wordllama's bundled table and tokenizer from the installed package's
own files. The package itself is never imported: doing so configures the root logger and
brings in an HTTP client. The table's 256 dimensions are turned into DIMENSIONS by a
fixed projection that comes with this package; tests/unit/ranking/make_projection.py
says how it was made.

Everything after the load is integer arithmetic, so a vector does not depend on the
order of the words, the machine, or the number of threads.
"""

import hashlib
from array import array
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from registry.ranking.meaning import Meaning, SiteWords, Words
from registry.ranking.policy import FULL, Policy
from registry.ranking.remembered import Remembered
from registry.ranking.text import meaning_weight, word_set
from registry.ranking.vectors import DIMENSIONS, quantise_request, quantise_site

Floats = npt.NDArray[np.float64]
"""Whole numbers in them, and sums below 2^53: exact in any order."""
_TABLE_SCALE = 2048  # entries lie within ±9, with 11 significant bits
_PROJECTED_SHIFT = 9  # what the projection adds beyond sixteen bits
_ROWS_AT_ONCE = 4096
_WORD_START = "▁"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PROJECTION = Path(__file__).with_name("projection.npy")


class _Pieces(NamedTuple):
    """Of a word. numbers: in the table. weights: what each carries of a meaning.

    Both as bytes of an array, which are soonest put together. letters: of all, times
    their weight. meant: those that mean something, times full.
    """

    numbers: bytes
    weights: bytes
    letters: int
    meant: int


class StaticEncoder:
    """Shared and read-only after its load."""

    def __init__(
        self, table: npt.NDArray[np.int16], tokenizer: Tokenizer, policy: Policy
    ) -> None:
        """table: one row of DIMENSIONS for each piece of the tokenizer."""
        self.digest = f"sha256:{hashlib.sha256(table.tobytes()).hexdigest()}"
        self._table = table
        self._tokenizer = tokenizer
        self._cutter = tokenizer.model  # a word needs nothing of what comes before it
        self._policy = policy
        self._asking = word_set(policy.asking_words)
        longest = policy.word_letters_max
        self._pieces_of = Remembered(self._cut, longest=longest, most=16_384)

    def is_one_piece(self, word: str) -> bool:
        found = self._tokenizer.token_to_id(f"{_WORD_START}{word}")
        return found is not None

    def word_pieces(self) -> list[str]:
        return [
            piece.removeprefix(_WORD_START)
            for piece in self._tokenizer.get_vocab()
            if piece.startswith(_WORD_START)
        ]

    def encode_request(self, sentence: Words, content: Words) -> Meaning:
        said = set(content)
        asked = self._asking.intersection(sentence) - said
        pieces = [self._pieces_of[word] for word in said]
        letters = sum([each.letters for each in pieces])
        meant = sum([each.meant for each in pieces])
        pieces += [self._pieces_of[word] for word in asked]
        full = self._policy.piece_letters_full
        return Meaning(
            vector=quantise_request(_weights_of(pieces) @ self._rows_of(pieces)),
            confidence_bp=FULL * meant // (letters * full) if letters else 0,
        )

    def encode_site(self, words: SiteWords) -> bytes:
        """Each distinct word of a field once, so that saying it again changes nothing."""
        policy = self._policy
        fields = (
            ([words.about], policy.embedding_site_weight),
            (words.names, policy.embedding_name_weight),
            (words.descriptions, policy.embedding_description_weight),
            (words.parameters, policy.embedding_parameter_weight),
        )
        pieces: list[_Pieces] = []
        weights: list[Floats] = []
        for texts, weight in fields:
            words_once = dict.fromkeys(chain.from_iterable(texts))
            own = [self._pieces_of[word] for word in words_once]
            weights.append(_weights_of(own) * weight)
            pieces += own
        return quantise_site(np.concatenate(weights) @ self._rows_of(pieces))

    def _rows_of(self, pieces: Iterable[_Pieces]) -> Floats:
        numbers = b"".join([each.numbers for each in pieces])
        return self._table.take(np.frombuffer(numbers, np.int64), axis=0).astype(
            np.float64
        )

    def _cut(self, word: str) -> _Pieces:
        numbers = array("q")
        letters = meant = 0
        for token in self._cutter.tokenize(f"{_WORD_START}{word}"):
            text = token.value.strip(_WORD_START)
            letters += len(text)
            if text and not _is_byte(text):
                numbers.append(token.id)
                meant += len(text) * self._meant(text)
        weight = meaning_weight(word, self._policy)
        return _Pieces(
            numbers=numbers.tobytes(),
            weights=array("d", [weight] * len(numbers)).tobytes(),
            letters=weight * letters,
            meant=weight * meant,
        )

    def _meant(self, text: str) -> int:
        """0..full by the piece's letters; one letter means something only in Han."""
        full = self._policy.piece_letters_full
        if len(text) == 1:
            return full if "\u4e00" <= text <= "\u9fff" else 0
        return min(len(text), full)


def _weights_of(pieces: Iterable[_Pieces]) -> Floats:
    return np.frombuffer(b"".join([each.weights for each in pieces]))


def _is_byte(text: str) -> bool:
    """A byte of a character that the table lacks."""
    return text.startswith("<0x")


def load_static_encoder(policy: Policy) -> StaticEncoder:
    """Raises: RuntimeError if the table is not installed."""
    projection = np.load(PROJECTION).astype(np.float64)
    with safe_open(str(_package() / _WEIGHTS), framework="np") as weights:
        entries = weights.get_slice("embedding.weight")
        rows = entries.get_shape()[0]
        table = np.empty((rows, DIMENSIONS), np.int16)
        for start in range(0, rows, _ROWS_AT_ONCE):
            part = slice(start, min(rows, start + _ROWS_AT_ONCE))
            table[part] = project(entries[part], projection)
    return StaticEncoder(table, load_tokenizer(), policy)


def project(
    entries: npt.NDArray[np.floating], projection: npt.NDArray[np.float64]
) -> npt.NDArray[np.int16]:
    """Exact in any order: all are whole numbers, and their sums stay below 2^53."""
    whole = np.rint(entries.astype(np.float64) * _TABLE_SCALE)
    projected = (whole @ projection).astype(np.int64)
    return (projected >> _PROJECTED_SHIFT).astype(np.int16)


def load_table() -> npt.NDArray[np.float32]:
    """The table as wordllama has it: one row of 256 for each piece of the tokenizer."""
    with safe_open(str(_package() / _WEIGHTS), framework="np") as weights:
        table: npt.NDArray[np.float32] = weights.get_tensor("embedding.weight").astype(
            np.float32
        )
    return table


def load_tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(_package() / _TOKENIZER))


def _package() -> Path:
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise RuntimeError("wordllama is not installed")
    return Path(spec.origin).parent
