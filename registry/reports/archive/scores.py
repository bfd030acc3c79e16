"""The scores of a ranking as columns, and the disclosure that they stand for."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from registry.sites.identifier import format_site_id

FACTORS = 5

_FACTOR_VALUES = tuple[int, int, int, int, int]


class Score(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Scores of a site as disclosed; its members in the order of canonical JSON."""

    factors: _FACTOR_VALUES
    score: int
    site: str
    tie: str


class ArchivedScores(NamedTuple):
    """Scores in columns. factors: five a site, from rank 1 down. totals, ties: one."""

    factors: list[int]
    totals: list[int]
    ties: list[int]


parse_scores = msgspec.json.Decoder(list[Score]).decode
_encode = msgspec.json.Encoder().encode


def split_scores(value: bytes, order: Sequence[int]) -> ArchivedScores | None:
    """Return None if `join_scores` would not give it back. value: canonical JSON."""
    try:
        scores = parse_scores(value)
        columns = ArchivedScores(
            [factor for score in scores for factor in score.factors],
            [score.score for score in scores],
            [int(score.tie, 16) for score in scores],
        )
        return columns if join_scores(columns, order) == value else None
    except (msgspec.MsgspecError, ValueError):
        return None


def join_scores(columns: ArchivedScores, order: Sequence[int]) -> bytes:
    """Return canonical JSON. Raises: ValueError if the columns are not of these sites."""
    factors, totals, ties = columns
    if len(factors) != FACTORS * len(order):
        raise ValueError(f"{len(factors)} factors of {len(order)} sites")
    rows = zip(*(factors[number::FACTORS] for number in range(FACTORS)), strict=True)
    members = zip(rows, totals, order, ties, strict=True)
    return _encode(
        [
            Score(row, total, format_site_id(site), f"{tie:016x}")
            for row, total, site, tie in members
        ]
    )
