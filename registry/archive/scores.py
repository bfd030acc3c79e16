"""The scores of a ranking as columns, and the disclosure that they stand for."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from registry.sites.identifier import spell_site_id

FACTORS = 5

_FACTOR_VALUES = tuple[int, int, int, int, int]


class Score(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """Of one site, as it is disclosed; its members in the order of canonical JSON."""

    factors: _FACTOR_VALUES
    score: int
    site: str
    tie: str


class ScoreColumns(NamedTuple):
    """factors: five a site, from rank 1 down. totals, ties: one a site."""

    factors: list[int]
    totals: list[int]
    ties: list[int]


parse_scores = msgspec.json.Decoder(list[Score]).decode
_encode = msgspec.json.Encoder().encode


def split_scores(value: bytes, order: Sequence[int]) -> ScoreColumns | None:
    """value: canonical JSON; None if `join_scores` would not give it back."""
    try:
        scores = parse_scores(value)
        columns = ScoreColumns(
            [factor for one in scores for factor in one.factors],
            [one.score for one in scores],
            [int(one.tie, 16) for one in scores],
        )
        return columns if join_scores(columns, order) == value else None
    except (msgspec.MsgspecError, ValueError):
        return None


def join_scores(columns: ScoreColumns, order: Sequence[int]) -> bytes:
    """Canonical JSON. Raises: ValueError if the columns are not of these sites."""
    factors, totals, ties = columns
    if len(factors) != FACTORS * len(order):
        raise ValueError(f"{len(factors)} factors of {len(order)} sites")
    rows = zip(*(factors[number::FACTORS] for number in range(FACTORS)), strict=True)
    told = zip(rows, totals, order, ties, strict=True)
    return _encode(
        [
            Score(row, total, spell_site_id(site), f"{tie:016x}")
            for row, total, site, tie in told
        ]
    )
