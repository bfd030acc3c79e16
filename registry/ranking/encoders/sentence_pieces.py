"""Pieces of the sentence encoder: SentencePiece's unigram model (Kudo 2018).

Owns the reading of the published `sp.model`. Its normaliser is run by tokenizers; the
likeliest split is found here, because a table of 128,000 strings takes a tenth of the
memory that the library's tree takes.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from struct import Struct

from tokenizers.normalizers import Precompiled

from registry.ranking.memo import Memo

START = "▁"
"""Stands before a word, for the space."""
UNKNOWN, BEGIN, END = 0, 1, 2
_UNKNOWN_PENALTY = 10
_SCORE = Struct("<f")
_BYTES = 2  # wire type of Protocol Buffers
_PIECE = 1 << 3 | _BYTES  # key of a field
_TRAINER, _CHARACTER_MAP = 3, 2


class SentencePieces:
    """Shared and read-only after it is made."""

    def __init__(self, model: bytes) -> None:
        """model: the content of `sp.model`."""
        pieces, scores, at = [], [], 0
        # They stand first, and none is as long as 128 bytes with its score.
        while model[at] == _PIECE:
            size, letters = model[at + 1], model[at + 3]
            at += 4
            pieces.append(model[at : at + letters].decode())
            scores.append(_SCORE.unpack_from(model, at + letters + 1)[0])
            at += size - 2
        others = dict(_fields(model[at:]))
        character_map = dict(_fields(others[_TRAINER]))[_CHARACTER_MAP]
        self._number_of = {piece: number for number, piece in enumerate(pieces)}
        self._scores = scores
        self._silent = frozenset({UNKNOWN, self._number_of[START]})
        self._unknown_score = min(scores) - _UNKNOWN_PENALTY
        self._longest = max(map(len, pieces))
        self._normaliser = Precompiled(character_map)
        self._split_words = Memo(self._split, longest=64, most=16_384)

    def __contains__(self, piece: object) -> bool:
        return piece in self._number_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._number_of)

    def numbers(self, text: str, most: int) -> list[int]:
        """Return the numbers of the first pieces, between those of begin and end."""
        words = self._normaliser.normalize_str(text).split()
        numbers = chain.from_iterable(map(self._split_words.__getitem__, words))
        return [BEGIN, *islice(numbers, most), END]

    def are_known(self, numbers: Sequence[int]) -> bool:
        """Return whether some of a text's pieces is known, and more than a space."""
        return not self._silent.issuperset(numbers[1:-1])

    def _split(self, word: str) -> list[int]:
        """Return the likeliest split; of equals the one with the longest last piece.

        No piece goes from one word to the next.
        """
        text = f"{START}{word}"
        number_of, scores, longest = self._number_of.get, self._scores, self._longest
        best = [0.0]
        last = [(0, UNKNOWN)]
        for end in range(1, len(text) + 1):
            likeliest = best[end - 1] + self._unknown_score
            piece = (end - 1, UNKNOWN)
            for start in range(max(0, end - longest), end):
                number = number_of(text[start:end])
                if number is not None and best[start] + scores[number] > likeliest:
                    likeliest = best[start] + scores[number]
                    piece = (start, number)
            best.append(likeliest)
            last.append(piece)
        return _walk_back(last)


def _walk_back(last: list[tuple[int, int]]) -> list[int]:
    numbers = []
    end = len(last) - 1
    while end > 0:
        end, number = last[end]
        numbers.append(number)
    return numbers[::-1]


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a Protocol Buffers message that are bytes; others are numbers."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        number, position = _varint(message, position)
        if key & 7 == _BYTES:
            yield key >> 3, message[position : position + number]
            position += number


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while message[position] & 0x80:
        value |= (message[position] & 0x7F) << shift
        shift += 7
        position += 1
    return value | message[position] << shift, position + 1
