"""The scores of a ranking as columns of an archive, and the disclosure that they stand for."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from registry.records.packed_scores import (
    FACTORS,
    ScoreColumns,
    encode_scores,
    read_columns,
)
from registry.sites.identifier import format_site_id

PROBES = 4


class ArchivedScores(NamedTuple):
    """Scores in columns. factors: five a site, from rank 1 down. totals, ties: one.

    tiers, places: one, probes: four; None where they are not stated.
    """

    factors: Sequence[int]
    totals: Sequence[int]
    ties: Sequence[int]
    tiers: Sequence[int] | None
    probes: Sequence[int | None] | None
    places: Sequence[int] | None


def split_scores(value: bytes, order: Sequence[int]) -> ArchivedScores | None:
    """Return None if `join_scores` would not give it back. value: canonical JSON."""
    columns = read_columns(value)
    if columns is None or list(columns.sites) != list(order):
        return None
    return ArchivedScores(
        list(chain.from_iterable(columns.factors)),
        columns.totals,
        columns.ties,
        columns.tiers or None,
        list(chain.from_iterable(columns.probes)) or None,
        columns.places or None,
    )


def join_scores(columns: ArchivedScores, order: Sequence[int]) -> bytes:
    """Return canonical JSON. Raises: ValueError if the columns are not of these sites."""
    factors, totals, ties, tiers, probes, places = columns
    if len(factors) != FACTORS * len(order):
        raise ValueError(f"{len(factors)} factors of {len(order)} sites")
    scores = ScoreColumns(
        sites=order,
        factors=_by_site(factors, FACTORS),
        totals=totals,
        ties=ties,
        tiers=tiers or (),
        probes=_by_site(probes or (), PROBES),
        places=places or (),
    )
    return encode_scores(scores, list(map(format_site_id, order)))


def _by_site(values: Sequence[Any], width: int) -> list[Any]:
    return [values[at : at + width] for at in range(0, len(values), width)]
