"""The scores of a ranking as columns, and the disclosure that they stand for."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from registry.sites.identifier import format_site_id

FACTORS = 5

_FACTOR_VALUES = tuple[int, int, int, int, int]


class Score(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """Scores of a site as disclosed; its members in the order of canonical JSON."""

    factors: _FACTOR_VALUES
    score: int
    site: str
    tie: str
    tier: int | None = None


class ArchivedScores(NamedTuple):
    """Scores in columns. factors: five a site, from rank 1 down. totals, ties: one.

    tiers: one, or None where they are not stated.
    """

    factors: list[int]
    totals: list[int]
    ties: list[int]
    tiers: list[int] | None


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
            [score.tier for score in scores if score.tier is not None] or None,
        )
        return columns if join_scores(columns, order) == value else None
    except (msgspec.MsgspecError, ValueError):
        return None


def join_scores(columns: ArchivedScores, order: Sequence[int]) -> bytes:
    """Return canonical JSON. Raises: ValueError if the columns are not of these sites."""
    factors, totals, ties, tiers = columns
    if len(factors) != FACTORS * len(order):
        raise ValueError(f"{len(factors)} factors of {len(order)} sites")
    rows = zip(*(factors[number::FACTORS] for number in range(FACTORS)), strict=True)
    stated = tiers or (None,) * len(order)
    members = zip(rows, totals, order, ties, stated, strict=True)
    return _encode(
        [
            Score(row, total, format_site_id(site), f"{tie:016x}", tier)
            for row, total, site, tie, tier in members
        ]
    )
