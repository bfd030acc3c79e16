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
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from registry.ranking.meaning import Meaning, SiteWords, Words
from registry.ranking.policy import FULL, Policy
from registry.ranking.text import meaning_weight, word_set
from registry.ranking.vectors import DIMENSIONS, quantise_request, quantise_site

Integers = npt.NDArray[np.int64]
_TABLE_SCALE = 2048  # entries lie within ±9, with 11 significant bits
_PROJECTED_SHIFT = 9  # what the projection adds beyond sixteen bits
_ROWS_AT_ONCE = 4096
_WORD_START = "▁"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PROJECTION = Path(__file__).with_name("projection.npy")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pieces:
    """Of a word. numbers: in the table. weight: what the word carries of a meaning.

    weights: of each piece. meant: letters that mean something, times full.
    """

    numbers: tuple[int, ...]
    weight: int
    weights: tuple[int, ...]
    meant: int
    letters: int


class _Pool:
    """A weighted sum of pieces; exact, as it stays below 2^53."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._weights: list[int] = []
        self._times: list[int] = []

    def add(self, pieces: _Pieces) -> None:
        self._numbers += pieces.numbers
        self._weights += pieces.weights

    def add_times(self, several: Iterable[_Pieces], times: int) -> None:
        """All that is added must have its times, or nothing."""
        before = len(self._numbers)
        for pieces in several:
            self._numbers += pieces.numbers
            self._weights += pieces.weights
        self._times += [times] * (len(self._numbers) - before)

    def total(self, table: npt.NDArray[np.int16]) -> Integers:
        rows = table.take(self._numbers, axis=0).astype(np.float64)
        weights = np.array(self._weights, np.float64)
        if self._times:
            weights *= self._times
        return (weights @ rows).astype(np.int64)


class StaticEncoder:
    """Shared and read-only after its load."""

    def __init__(
        self, table: npt.NDArray[np.int16], tokenizer: Tokenizer, policy: Policy
    ) -> None:
        """table: one row of DIMENSIONS for each piece of the tokenizer."""
        self.digest = f"sha256:{hashlib.sha256(table.tobytes()).hexdigest()}"
        self._table = table
        self._tokenizer = tokenizer
        self._policy = policy
        self._pieces_of = lru_cache(maxsize=16_384)(self._cut)

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
        known, policy = frozenset(content), self._policy
        asking = word_set(policy.asking_words)
        pool = _Pool()
        meant = letters = 0
        for word in dict.fromkeys(sentence):
            if word in known:
                pieces = self._pieces_of(word)
                meant += pieces.weight * pieces.meant
                letters += pieces.weight * pieces.letters
            elif word in asking:
                pieces = self._pieces_of(word)
            else:
                continue
            pool.add(pieces)
        full = policy.piece_letters_full
        return Meaning(
            vector=quantise_request(pool.total(self._table)),
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
        pool = _Pool()
        for texts, weight in fields:
            words_once = dict.fromkeys(chain.from_iterable(texts))
            pool.add_times(map(self._pieces_of, words_once), weight)
        return quantise_site(pool.total(self._table))

    def _cut(self, word: str) -> "_Pieces":
        encoding = self._tokenizer.encode(word, add_special_tokens=False)
        texts = [piece.strip(_WORD_START) for piece in encoding.tokens]
        numbers = tuple(
            number
            for text, number in zip(texts, encoding.ids, strict=True)
            if text and not _is_byte(text)
        )
        weight = meaning_weight(word, self._policy)
        return _Pieces(
            numbers=numbers,
            meant=sum(len(text) * self._meant(text) for text in texts),
            weight=weight,
            weights=(weight,) * len(numbers),
            letters=sum(map(len, texts)),
        )

    def _meant(self, text: str) -> int:
        """0..full by the piece's letters; one letter means something only in Han."""
        full = self._policy.piece_letters_full
        if len(text) == 1:
            return full if "\u4e00" <= text <= "\u9fff" else 0
        return 0 if _is_byte(text) else min(len(text), full)


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
