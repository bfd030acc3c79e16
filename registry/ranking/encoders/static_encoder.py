"""The static encoder: a vector for each piece of a word, pooled in whole numbers.

Owns the reading of wordllama's bundled table and tokenizer from the installed package's
own files. The package itself is never imported: doing so configures the root logger and
brings in an HTTP client. The table's 256 dimensions are turned into AXES by a
fixed projection that comes with this package; tests/unit/ranking/make_projection.py
says how it was made.

Everything after the load is integer arithmetic, so a vector does not depend on the
order of the words, the machine, or the number of threads.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from struct import Struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from safetensors import safe_open
from tokenizers import Tokenizer

from registry.ranking.encoders.meaning import Meaning, SiteWords, Words
from registry.ranking.encoders.vectors import (
    DIMENSIONS,
    quantise_request,
    quantise_sites,
)
from registry.ranking.installed import folder_of
from registry.ranking.memo import Memo
from registry.ranking.policy import FULL, Policy
from registry.ranking.terms import meaning_weight, word_set

Table = npt.NDArray[np.int16]
"""Rows of numbers, one for each piece."""
Floats = npt.NDArray[np.float64]
"""Arrays of whole numbers with sums below 2^53: exact in any order."""
_PIECE = Struct("=2i")
pack_piece = _PIECE.pack
"""row, weight."""


class Pooling:
    """Rows of the token table added up: what words mean together. Shared by threads.

    pieces: bytes, which are soonest put together, of each the number of its row and its
    weight, 32 bits both; see `pack_piece`.
    """

    def __init__(self, table: Table) -> None:
        self._table = table

    def sums(self, fields: Sequence[tuple[bytes, int]]) -> Floats:
        """Return shape (columns of the table,). fields: pieces, and what their weights are times."""
        pairs = [np.frombuffer(pieces, np.int32).reshape(-1, 2) for pieces, _ in fields]
        weights = [
            pieces[:, 1] * float(times)
            for pieces, (_, times) in zip(pairs, fields, strict=True)
        ]
        rows = self._table.take(np.concatenate(pairs)[:, 0], axis=0)
        total: Floats = np.concatenate(weights) @ rows.astype(np.float64)
        return total


_TABLE_SCALE = 2048  # entries lie within ±9, with 11 significant bits
_PROJECTED_SHIFT = 9  # what the projection adds beyond sixteen bits
_ROWS_AT_ONCE = 4096
AXES = 128
_WORD_START = "▁"
WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PROJECTION = Path(__file__).with_name("projection.npy")


class _Pieces(NamedTuple):
    """Pieces of a word. entries: see `pooling`, weighted by their share of the meaning.

    letters: of all pieces, times their weight. meant: of meaningful ones, times full.
    """

    entries: bytes
    letters: int
    meant: int


class StaticEncoder:
    """Shared and read-only after its load."""

    def __init__(
        self, table: npt.NDArray[np.int16], tokenizer: Tokenizer, policy: Policy
    ) -> None:
        """Index the table: a row of AXES for each piece of the tokenizer."""
        self.digest = f"sha256:{hashlib.sha256(table.tobytes()).hexdigest()}"
        self._pooling = Pooling(table)
        self._tokenizer = tokenizer
        self._cutter = tokenizer.model  # skips normalising, which a word does not need
        self._policy = policy
        self._letters_full = policy.piece_letters_full
        self._asking = word_set(policy.asking_words)
        longest = policy.word_letters_max
        self._pieces_of = Memo(self._cut, longest=longest, most=16_384)

    def is_whole_piece(self, word: str) -> bool:
        return self._tokenizer.token_to_id(f"{_WORD_START}{word}") is not None

    def word_pieces(self) -> list[str]:
        return [
            piece.removeprefix(_WORD_START)
            for piece in self._tokenizer.get_vocab()
            if piece.startswith(_WORD_START)
        ]

    def encode_request(
        self,
        text: str,  # noqa: ARG002 - single words are all that it knows
        sentence: Words,
        content: Words,
    ) -> Meaning:
        total, confidence_bp = self.request_sum(sentence, content)
        vector = quantise_request(_padded([total])[0])
        return Meaning(vector=vector, confidence_bp=confidence_bp)

    def encode_sites(self, sites: Sequence[SiteWords]) -> list[bytes]:
        totals = _padded(list(map(self.site_sum, sites)))
        return [packed.tobytes() for packed in quantise_sites(totals)]

    def request_sum(self, sentence: Words, content: Words) -> tuple[Floats, int]:
        """Return the sum of a request's pieces, and its confidence in basis points."""
        distinct = set(content)
        asking = self._asking.intersection(sentence).difference(distinct)
        pieces = [*map(self._pieces_of.__getitem__, distinct)]
        entries, letters, meant = zip(*pieces, strict=True) if pieces else ((), (), ())
        also = [self._pieces_of[word].entries for word in asking]
        most = self._letters_full * sum(letters)
        total = self._pooling.sums([(b"".join([*entries, *also]), 1)])
        return total, FULL * sum(meant) // most if most else 0

    def site_sum(self, words: SiteWords) -> Floats:
        """Add up each distinct word of a field once, so that repetition has no effect."""
        policy = self._policy
        fields = (
            ([words.about], policy.embedding_site_weight),
            (words.names, policy.embedding_name_weight),
            (words.descriptions, policy.embedding_description_weight),
            (words.parameters, policy.embedding_parameter_weight),
        )
        return self._pooling.sums(
            [(self._entries_of(texts), weight) for texts, weight in fields]
        )

    def _entries_of(self, texts: Iterable[Words]) -> bytes:
        distinct = dict.fromkeys(chain.from_iterable(texts))
        return b"".join([self._pieces_of[word].entries for word in distinct])

    def _cut(self, word: str) -> _Pieces:
        weight = meaning_weight(word, self._policy)
        entries = b""
        letters = meant = 0
        for number, text in self._cut_into(word):
            letters += len(text)
            # Of a character that the table lacks a piece is one byte.
            if text and not text.startswith("<0x"):
                entries += pack_piece(number, weight)
                meant += len(text) * self._meant(text)
        return _Pieces(entries, weight * letters, weight * meant)

    def _cut_into(self, word: str) -> list[tuple[int, str]]:
        """Cut a word into pieces, unless the vocabulary has it whole."""
        whole = self._tokenizer.token_to_id(f"{_WORD_START}{word}")
        if whole is not None:
            return [(whole, word)]
        pieces = self._cutter.tokenize(f"{_WORD_START}{word}")
        return [(piece.id, piece.value.strip(_WORD_START)) for piece in pieces]

    def _meant(self, text: str) -> int:
        """Return 0..full by the piece's letters; single letters count only in Han."""
        if len(text) == 1:
            return self._letters_full if "\u4e00" <= text <= "\u9fff" else 0
        return min(len(text), self._letters_full)


def _padded(totals: Sequence[Floats]) -> Floats:
    padded = np.zeros((len(totals), DIMENSIONS))
    padded[:, :AXES] = np.reshape(totals, (-1, AXES))
    return padded


def load_static_encoder(policy: Policy) -> StaticEncoder:
    """Load and project the table. Raises: RuntimeError if it is not installed."""
    projection = np.load(PROJECTION).astype(np.float64)
    with safe_open(str(wordllama_folder() / WEIGHTS), framework="np") as weights:
        entries = weights.get_slice("embedding.weight")
        rows = entries.get_shape()[0]
        table = np.empty((rows, AXES), np.int16)
        for start in range(0, rows, _ROWS_AT_ONCE):
            part = slice(start, min(rows, start + _ROWS_AT_ONCE))
            table[part] = project(entries[part], projection)
    return StaticEncoder(table, load_tokenizer(), policy)


def project(
    entries: npt.NDArray[np.floating], projection: npt.NDArray[np.float64]
) -> npt.NDArray[np.int16]:
    """Project exactly: all are whole numbers, and their sums stay below 2^53."""
    whole = np.rint(entries.astype(np.float64) * _TABLE_SCALE)
    projected = (whole @ projection).astype(np.int64)
    return (projected >> _PROJECTED_SHIFT).astype(np.int16)


def load_tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(wordllama_folder() / _TOKENIZER))


def wordllama_folder() -> Path:
    return folder_of("wordllama", "wordllama")
