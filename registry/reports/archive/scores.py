"""The scores of a ranking as columns, and the disclosure that they stand for."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from registry.sites.identifier import format_site_id

FACTORS = 5
PROBES = 4

_FACTOR_VALUES = tuple[int, int, int, int, int]


class Score(
    msgspec.Struct,
    forbid_unknown_fields=True,
    omit_defaults=True,
    kw_only=True,
    gc=False,
):
    """Scores of a site as disclosed; its members in the order of canonical JSON."""

    factors: _FACTOR_VALUES
    place: int | None = None
    probes: list[int | None] | None = None
    score: int
    site: str
    tie: str
    tier: int | None = None


class ArchivedScores(NamedTuple):
    """Scores in columns. factors: five a site, from rank 1 down. totals, ties: one.

    tiers, places: one, probes: four; None where they are not stated.
    """

    factors: list[int]
    totals: list[int]
    ties: list[int]
    tiers: list[int] | None
    probes: list[int | None] | None
    places: list[int] | None


parse_scores = msgspec.json.Decoder(list[Score]).decode
_encode = msgspec.json.Encoder().encode


def _by_site(probes: list[int | None]) -> list[list[int | None]]:
    return [probes[at : at + PROBES] for at in range(0, len(probes), PROBES)]


def split_scores(value: bytes, order: Sequence[int]) -> ArchivedScores | None:
    """Return None if `join_scores` would not give it back. value: canonical JSON."""
    try:
        scores = parse_scores(value)
        columns = ArchivedScores(
            [factor for score in scores for factor in score.factors],
            [score.score for score in scores],
            [int(score.tie, 16) for score in scores],
            [score.tier for score in scores if score.tier is not None] or None,
            [part for score in scores for part in score.probes or ()] or None,
            [score.place for score in scores if score.place is not None] or None,
        )
        return columns if join_scores(columns, order) == value else None
    except (msgspec.MsgspecError, ValueError):
        return None


def join_scores(columns: ArchivedScores, order: Sequence[int]) -> bytes:
    """Return canonical JSON. Raises: ValueError if the columns are not of these sites."""
    factors, totals, ties, tiers, probes, places = columns
    if len(factors) != FACTORS * len(order):
        raise ValueError(f"{len(factors)} factors of {len(order)} sites")
    unstated = (None,) * len(order)
    rows = zip(*(factors[number::FACTORS] for number in range(FACTORS)), strict=True)
    tried = unstated if probes is None else _by_site(probes)
    stated = (tiers or unstated, tried, places or unstated)
    members = zip(rows, totals, order, ties, *stated, strict=True)
    return _encode(
        [
            Score(
                factors=row,
                place=place,
                probes=counts,
                score=total,
                site=format_site_id(site),
                tie=f"{tie:016x}",
                tier=tier,
            )
            for row, total, site, tie, tier, counts, place in members
        ]
    )
