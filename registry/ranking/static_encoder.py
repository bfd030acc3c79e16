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
from registry.ranking.pooling import pack_piece, pooling_of
from registry.ranking.remembered import Remembered
from registry.ranking.text import meaning_weight, word_set
from registry.ranking.vectors import DIMENSIONS, quantise_site

_TABLE_SCALE = 2048  # entries lie within ±9, with 11 significant bits
_PROJECTED_SHIFT = 9  # what the projection adds beyond sixteen bits
_ROWS_AT_ONCE = 4096
_WORD_START = "▁"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
PROJECTION = Path(__file__).with_name("projection.npy")


class _Pieces(NamedTuple):
    """Of a word. entries: see `pooling`, the weights are what each carries of a meaning.

    letters: of all, times their weight. meant: those that mean something, times full.
    """

    entries: bytes
    letters: int
    meant: int


class StaticEncoder:
    """Shared and read-only after its load."""

    is_quick = True

    def __init__(
        self, table: npt.NDArray[np.int16], tokenizer: Tokenizer, policy: Policy
    ) -> None:
        """table: one row of DIMENSIONS for each piece of the tokenizer."""
        self.digest = f"sha256:{hashlib.sha256(table.tobytes()).hexdigest()}"
        self._pooling = pooling_of(table)
        self._tokenizer = tokenizer
        self._cutter = tokenizer.model  # a word needs nothing of what comes before it
        self._policy = policy
        self._letters_full = policy.piece_letters_full
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
        asked = self._asking.intersection(sentence).difference(said)
        pieces = [*map(self._pieces_of.__getitem__, said)]
        entries, letters, meant = zip(*pieces, strict=True) if pieces else ((), (), ())
        also = [self._pieces_of[word].entries for word in asked]
        most = self._letters_full * sum(letters)
        return Meaning(
            vector=self._pooling.request(b"".join([*entries, *also])),
            confidence_bp=FULL * sum(meant) // most if most else 0,
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
        pieces = [(self._entries_of(texts), weight) for texts, weight in fields]
        return quantise_site(self._pooling.sums(pieces))

    def _entries_of(self, texts: Iterable[Words]) -> bytes:
        once = dict.fromkeys(chain.from_iterable(texts))
        return b"".join([self._pieces_of[word].entries for word in once])

    def _cut(self, word: str) -> _Pieces:
        weight = meaning_weight(word, self._policy)
        entries = b""
        letters = meant = 0
        for number, text in self._cut_into(word):
            letters += len(text)
            if text and not _is_byte(text):
                entries += pack_piece(number, weight)
                meant += len(text) * self._meant(text)
        return _Pieces(entries, weight * letters, weight * meant)

    def _cut_into(self, word: str) -> list[tuple[int, str]]:
        """A word that the vocabulary has is one piece, and needs no cutting."""
        whole = self._tokenizer.token_to_id(f"{_WORD_START}{word}")
        if whole is not None:
            return [(whole, word)]
        pieces = self._cutter.tokenize(f"{_WORD_START}{word}")
        return [(each.id, each.value.strip(_WORD_START)) for each in pieces]

    def _meant(self, text: str) -> int:
        """0..full by the piece's letters; one letter means something only in Han."""
        if len(text) == 1:
            return self._letters_full if "\u4e00" <= text <= "\u9fff" else 0
        return min(len(text), self._letters_full)


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
