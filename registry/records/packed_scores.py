"""The scores of a ranking as columns of numbers.

What can be computed again is left out, if it comes out the same: a total from its
factors, a tie key from the request's seed, the sites from the ranking's column of them.

    flags     1 byte: SITES, TIES, TOTALS stand here, not being as computed; TIERS and
              PROBES do
    count     1 byte: of sites, n
    SITES     8 bytes each; only older records may have them
    TIES      8 bytes each; else the seed, 32 bytes
    TOTALS    4 bytes each
    TIERS     one bit each, from the highest of the first byte; older records have none
    factors   deflated: of each factor n high bytes, then n low bytes; behind them those
              of PROBES: all, without an answer, with a wrong one, the median + 1 or 0,
              and the halves of the place + 1
"""

import struct
import zlib
from collections.abc import Sequence
from itertools import chain
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec

from registry.ranking.quality import ProbeFigures
from registry.ranking.rank_score import PageStart
from registry.ranking.ties import tie_key
from registry.sites.identifier import format_site_id, parse_site_id

SITES, TIES, TOTALS, TIERS, PROBES = 1, 2, 4, 8, 16
WEIGHTS = (4000, 2000, 1500, 1500, 1000)
"""Weights by which totals are predicted; other weights cost four bytes a site."""

FACTORS = len(WEIGHTS)

UNKNOWN_PLACE, PLACELESS = 0, -1
"""Values in place of a city: the site names none, or its category depends on none."""

_FACTORS_WINDOW = -10
_SEED_BYTES = 32
_PARTS = 6
_MAX_COUNT, _MAX_PART = 255, 2**16 - 1

T = TypeVar("T")
Factors = tuple[int, int, int, int, int]
Probes = tuple[int, int, int, int | None]
_Count = Annotated[int, msgspec.Meta(ge=0)]


class Score(
    msgspec.Struct,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    gc=False,
):
    """Scores of a site as disclosed; its members in the order of canonical JSON."""

    factors: Factors
    place: int | None = None
    probes: Probes | None = None
    score: int
    site: str
    tie: str
    tier: int | None = None


class DisclosedScore(Score, forbid_unknown_fields=False, kw_only=True):
    """Score as an auditor parses it, who trusts no number.

    tie: 16 hex digits. tier, probes, place: as in `ScoreColumns`; None in rankings of
    before.
    """

    tie: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}\Z")]
    tier: Annotated[int, msgspec.Meta(ge=0, le=1)] | None = None
    probes: tuple[_Count, _Count, _Count, _Count | None] | None = None

    @property
    def figures(self) -> ProbeFigures | None:
        if self.probes is None:
            return None
        probes, answers, successes, median_ms = self.probes
        return ProbeFigures(
            probes=probes, answers=answers, successes=successes, median_ms=median_ms
        )

    @property
    def page_start(self) -> PageStart:
        """Return where the page begins that goes on from this row."""
        site_id, tie = parse_site_id(self.site), int(self.tie, 16)
        relevance, _, _, quality, _ = self.factors
        return PageStart(-self.score, self.tier or 0, tie, site_id, relevance, quality)


parse_scores = msgspec.json.Decoder(list[Score]).decode
_encode = msgspec.json.Encoder().encode


# Begun with once: to copy it is a fifth of what it takes to begin.
_BEGUN = zlib.compressobj(6, zlib.DEFLATED, _FACTORS_WINDOW, 4)


class ScoreColumns(NamedTuple):
    """The scores of a ranking by column, first rank first.

    sites: ids. factors: five each, 0..65535. totals: 32 bits. ties: keys, 64 bits.
    tiers: 0 or 1, of commission; probes: how many, with an answer, with a right one,
    median in ms; places: ids of GeoNames, UNKNOWN_PLACE or PLACELESS. These three are
    empty in older records.
    """

    sites: Sequence[int]
    factors: Sequence[Factors]
    totals: Sequence[int]
    ties: Sequence[int]
    tiers: Sequence[int] = ()
    probes: Sequence[Probes] = ()
    places: Sequence[int] = ()


def encode_scores(columns: ScoreColumns, order: Sequence[str]) -> bytes:
    """Canonical JSON. order: the ids of sites as texts."""
    unstated = (None,) * len(order)
    rows = zip(
        columns.factors,
        columns.places or unstated,
        columns.probes or unstated,
        columns.totals,
        order,
        columns.ties,
        columns.tiers or unstated,
        strict=True,
    )
    return _encode(
        [
            Score(
                factors=factors,
                place=place,
                probes=probes,
                score=total,
                site=site,
                tie=_format_tie(tie),
                tier=tier,
            )
            for factors, place, probes, total, site, tie, tier in rows
        ]
    )


def read_columns(value: bytes) -> ScoreColumns | None:
    """Return None for what is not canonical JSON of scores."""
    try:
        scores = parse_scores(value)
        if _encode(scores) != value:
            return None
        return ScoreColumns(
            sites=[parse_site_id(score.site) for score in scores],
            factors=[score.factors for score in scores],
            totals=[score.score for score in scores],
            ties=[_read_tie(score.tie) for score in scores],
            tiers=_stated([score.tier for score in scores]),
            probes=_stated([score.probes for score in scores]),
            places=_stated([score.place for score in scores]),
        )
    except ValueError:
        return None


def pack_columns(columns: ScoreColumns, seed: bytes) -> bytes | None:
    """Pack scores in the record's order; None if there are too many.

    Raises: struct.error on a number beyond its range.
    """
    count = len(columns.sites)
    facts = _pack_facts(columns)
    if count > _MAX_COUNT or facts is None:
        return None
    flags = 0
    parts: list[bytes] = []
    if _gives(seed, columns):
        parts.append(seed)
    else:
        flags |= TIES
        parts.append(_numbers(columns.ties, "Q"))
    if list(columns.totals) != _totals(columns.factors):
        flags |= TOTALS
        parts.append(_numbers(columns.totals, "I"))
    if columns.tiers:
        flags |= TIERS
        parts.append(_pack_bits(columns.tiers))
    rows = _halves(columns.factors) + facts
    flags |= PROBES if facts else 0
    deflate = _BEGUN.copy()
    deflated = deflate.compress(rows) + deflate.flush()
    return bytes([flags, count]) + b"".join(parts) + deflated


def unpack_scores(packed: bytes, order: Sequence[str]) -> bytes:
    """Canonical JSON."""
    flags, count = packed[0], packed[1]
    read = _Reader(packed, 2)
    sites = list(order)
    if flags & SITES:
        sites = [format_site_id(site) for site in read.numbers(count, "Q")]
    if flags & TIES:
        ties = read.numbers(count, "Q")
    else:
        seed = read.take(_SEED_BYTES)
        ties = tuple(tie_key(seed, site) for site in sites)
    totals = read.numbers(count, "I") if flags & TOTALS else None
    tiers = read.bits(count) if flags & TIERS else ()
    halves = zlib.decompress(read.rest(), _FACTORS_WINDOW)
    rows = _rows(halves, count)
    behind = halves[2 * FACTORS * count :]
    parts = _rows(behind, count, _PARTS) if flags & PROBES else []
    columns = ScoreColumns(
        sites=(),
        factors=rows,
        totals=totals or _totals(rows),
        ties=ties,
        tiers=tiers,
        probes=[_from_parts(*row[:4]) for row in parts],
        places=[(row[4] << 16 | row[5]) - 1 for row in parts],
    )
    return encode_scores(columns, sites)


def unpack_factors(packed: bytes) -> tuple[list[Factors], Sequence[int]]:
    """Return the factors and the tiers, without what is computed again, such as ties."""
    flags, count = packed[0], packed[1]
    begin = 2 + (8 * count if flags & TIES else _SEED_BYTES)
    begin += 8 * count if flags & SITES else 0
    begin += 4 * count if flags & TOTALS else 0
    read = _Reader(packed, begin)
    tiers = read.bits(count) if flags & TIERS else ()
    return _rows(zlib.decompress(read.rest(), _FACTORS_WINDOW), count), tiers


def _totals(factors: Sequence[Factors]) -> list[int]:
    a, b, c, d, e = WEIGHTS
    return [a * p + b * q + c * r + d * s + e * t for p, q, r, s, t in factors]


def _stated(values: Sequence[T | None]) -> list[T]:
    """Raises: ValueError where they are stated in part."""
    stated = [value for value in values if value is not None]
    if len(stated) not in {0, len(values)}:
        raise ValueError("stated in part")
    return stated


def _pack_facts(columns: ScoreColumns) -> bytes | None:
    """Return the packed probes and places; None where they are beyond their form."""
    if len(columns.places) != len(columns.probes) or not {*columns.tiers} <= {0, 1}:
        return None
    try:
        return _halves(_facts_of(columns))
    except struct.error:
        return None


def _facts_of(columns: ScoreColumns) -> list[tuple[int, ...]]:
    """Return numbers that are mostly 0 or alike: what went wrong beside what was tried."""
    return [
        (
            *(probes, probes - answers, answers - successes),
            0 if median_ms is None else median_ms + 1,
            *((place + 1) >> 16, (place + 1) & _MAX_PART),
        )
        for (probes, answers, successes, median_ms), place in zip(
            columns.probes, columns.places, strict=True
        )
    ]


def _from_parts(probes: int, missed: int, wrong: int, median: int) -> Probes:
    answers = probes - missed
    return probes, answers, answers - wrong, median - 1 if median else None


def _pack_bits(bits: Sequence[int]) -> bytes:
    whole = int("".join(map(str, bits)).ljust(_bit_bytes(len(bits)) * 8, "0"), 2)
    return whole.to_bytes(_bit_bytes(len(bits)))


def _bit_bytes(count: int) -> int:
    return (count + 7) // 8


def _format_tie(tie: int) -> str:
    return f"{tie:016x}"


def _read_tie(text: str) -> int:
    """Raises: ValueError where it is spelled in any other way."""
    tie = int(text, 16)
    if _format_tie(tie) != text:
        raise ValueError(text)
    return tie


def _gives(seed: bytes, columns: ScoreColumns) -> bool:
    """Return whether the seed gives the first tie key; no answer mixes two seeds."""
    first = zip(columns.sites[:1], columns.ties, strict=False)
    return all(tie == tie_key(seed, format_site_id(site)) for site, tie in first)


def _halves(rows: Sequence[Sequence[int]]) -> bytes:
    """Return, of each column, the high bytes and then the low ones."""
    width = 2 * len(rows[0]) if rows else 0
    packed = _numbers(tuple(chain.from_iterable(rows)), "H")
    return b"".join([packed[at::width] for at in range(width)])


def _rows(columns: bytes, count: int, width: int = FACTORS) -> list[Any]:
    """Return rows of `width` numbers."""
    values = []
    for number in range(width):
        begin = 2 * count * number
        high = columns[begin : begin + count]
        low = columns[begin + count : begin + 2 * count]
        values.append(
            [256 * first + last for first, last in zip(high, low, strict=True)]
        )
    return list(zip(*values, strict=True))


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

    def bits(self, count: int) -> tuple[int, ...]:
        packed = self.take(_bit_bytes(count))
        return tuple(packed[at // 8] >> (7 - at % 8) & 1 for at in range(count))

    def rest(self) -> bytes:
        return self._data[self._position :]
