"""The scores of a ranking as columns of numbers.

What can be computed again is left out, if it comes out the same: a total from its
factors, a tie key from the request's seed, the sites from the record's order.

    flags     1 byte: SITES, TIES, TOTALS stand here, not being as computed; NO_SEED
    count     1 byte: of sites, n
    SITES     8 bytes each
    TIES      8 bytes each; else the seed, 32 bytes
    TOTALS    4 bytes each
    factors   deflated: of each factor n high bytes, then n low bytes
"""

import struct
import zlib
from collections.abc import Sequence

import msgspec

from registry.ranking.ties import tie_key
from registry.sites.identifier import parse_site_id, spell_site_id

SITES, TIES, TOTALS = 1, 2, 4
WEIGHTS = (4000, 2000, 1500, 1500, 1000)
"""By which totals are foretold; other weights cost four bytes a site."""

_SEED_BYTES = 32
_FACTORS = len(WEIGHTS)
_MAX_COUNT = 255

_Factors = tuple[int, int, int, int, int]


class _Score(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    factors: _Factors
    score: int
    site: str
    tie: str


_decode = msgspec.json.Decoder(list[_Score]).decode
_encode = msgspec.json.Encoder().encode


def pack_scores(
    value: bytes, order: Sequence[str], seed: bytes | None = None
) -> bytes | None:
    """value: canonical JSON; None if it is not of the form of scores."""
    try:
        scores = _decode(value)
        if len(scores) > _MAX_COUNT or _encode(scores) != value:
            return None
        return _pack(scores, order, seed)
    except (msgspec.DecodeError, struct.error, ValueError):
        return None


def unpack_scores(packed: bytes, order: Sequence[str]) -> bytes:
    """Canonical JSON."""
    flags, count = packed[0], packed[1]
    read = _Reader(packed, 2)
    sites = list(order)
    if flags & SITES:
        sites = [spell_site_id(one) for one in read.numbers(count, "Q")]
    if flags & TIES:
        ties = read.numbers(count, "Q")
    else:
        seed = read.take(_SEED_BYTES)
        ties = tuple(tie_key(seed, site) for site in sites)
    totals = read.numbers(count, "I") if flags & TOTALS else None
    rows = _rows(zlib.decompress(read.rest(), -10), count)
    columns = (rows, totals or map(_total, rows), sites, map(_spell_tie, ties))
    return _encode([_Score(*row) for row in zip(*columns, strict=True)])


def _pack(scores: list[_Score], order: Sequence[str], seed: bytes | None) -> bytes:
    flags, parts = 0, []
    if [one.site for one in scores] != list(order):
        flags |= SITES
        parts.append(_numbers([parse_site_id(one.site) for one in scores], "Q"))
    if seed is None or not _gives(seed, scores):
        flags |= TIES
        parts.append(_numbers([_read_tie(one.tie) for one in scores], "Q"))
    else:
        parts.append(seed)
    if any(one.score != _total(one.factors) for one in scores):
        flags |= TOTALS
        parts.append(_numbers([one.score for one in scores], "I"))
    deflate = zlib.compressobj(6, zlib.DEFLATED, -10, 4)
    factors = deflate.compress(_columns(scores)) + deflate.flush()
    return bytes([flags, len(scores)]) + b"".join(parts) + factors


def _total(factors: _Factors) -> int:
    first, second, third, fourth, fifth = factors
    a, b, c, d, e = WEIGHTS
    return a * first + b * second + c * third + d * fourth + e * fifth


def _spell_tie(tie: int) -> str:
    return f"{tie:016x}"


def _read_tie(text: str) -> int:
    """Raises: ValueError where it is spelled in any other way."""
    tie = int(text, 16)
    if _spell_tie(tie) != text:
        raise ValueError(text)
    return tie


def _gives(seed: bytes, scores: list[_Score]) -> bool:
    """By the first: another seed gives another key, and no answer mixes two seeds."""
    return all(one.tie == _spell_tie(tie_key(seed, one.site)) for one in scores[:1])


def _columns(scores: list[_Score]) -> bytes:
    rows = _numbers([factor for one in scores for factor in one.factors], "H")
    width = 2 * _FACTORS
    halves = (rows[at::width] for at in range(width))
    return b"".join(halves)


def _rows(columns: bytes, count: int) -> list[_Factors]:
    found = []
    for number in range(_FACTORS):
        begin = 2 * count * number
        high = columns[begin : begin + count]
        low = columns[begin + count : begin + 2 * count]
        found.append([256 * h + each for h, each in zip(high, low, strict=True)])
    return list(zip(*found, strict=True))


def _numbers(values: Sequence[int], form: str) -> bytes:
    return struct.pack(f">{len(values)}{form}", *values)


class _Reader:
    def __init__(self, data: bytes, position: int) -> None:
        self._data = data
        self._position = position

    def take(self, count: int) -> bytes:
        self._position += count
        return self._data[self._position - count : self._position]

    def numbers(self, count: int, form: str) -> tuple[int, ...]:
        layout = f">{count}{form}"
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def rest(self) -> bytes:
        return self._data[self._position :]
