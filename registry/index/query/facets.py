"""Facets: of each value of a field, how many of the eligible sites have it.

Counted in the postings that filters use, over every eligible site of the index, so a
count is what the same request finds with that value as its filter. This takes longer
than a search, which looks at few sites; so it is done for those who ask. What a value is
called is read from the profile of one site that has it: no table of values is kept.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from registry.index.columns.filters import (
    UNKNOWN,
    hash_keyword,
    is_keyword_of,
    keywords_of,
)
from registry.index.columns.runs import starts_of
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query, make_scoring_parameters
from registry.index.query.search import is_answered
from registry.index.segments.part import IndexPart
from registry.index.segments.segment import Segment

VALUES_MAX = 20
"""Values of a field that are listed, beside the number of sites without one."""

_AT_ONCE = 1 << 20
Hashes = npt.NDArray[np.uint64]
Integers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ValueCount:
    """value: None for the sites that tell none."""

    value: str | None
    count: int


Facets = Mapping[str, tuple[ValueCount, ...]]


def count_facets(
    index: Index,
    query: Query,
    term_weights: Mapping[str, int],
    *,
    now: datetime,
    fields: Iterable[str],
) -> Facets:
    """The commonest values of each field, then the unknown.

    term_weights: as the search found them, see `Ranked`. fields: of FILTERS.
    """
    constants = make_scoring_parameters(query, term_weights, now, index.policy)
    if not is_answered(index, constants):
        return dict.fromkeys(fields, ())
    eligible = index.bound.eligible(constants)
    return {field: _facet(index, eligible, field) for field in fields}


def _facet(
    index: Index, eligible: Sequence[Rows], field: str
) -> tuple[ValueCount, ...]:
    hashes, counts = _merged(index.parts, eligible, field)
    unknown = hashes == hash_keyword(field, UNKNOWN)
    silent = int(counts[unknown].sum())
    hashes, counts = hashes[~unknown], counts[~unknown]
    first = np.lexsort((hashes, -counts))[:VALUES_MAX]
    values = [
        ValueCount(_value(index, eligible, field, hash_), count)
        for hash_, count in zip(
            hashes[first].tolist(), counts[first].tolist(), strict=True
        )
    ]
    values.sort(key=lambda value: (-value.count, value.value or ""))
    return (*values, *([ValueCount(None, silent)] if silent else []))


def _merged(
    parts: Sequence[IndexPart], eligible: Sequence[Rows], field: str
) -> tuple[Hashes, Integers]:
    """The keywords that some eligible row has, and how many have each."""
    hashes, counts = [], []
    for part, rows in zip(parts, eligible, strict=True):
        terms = np.flatnonzero(is_keyword_of(field, part.segment.hashes))
        own = _counts(part.segment, terms, rows)
        hashes.append(part.segment.hashes[terms[own > 0]])
        counts.append(own[own > 0])
    distinct, which = np.unique(np.concatenate(hashes), return_inverse=True)
    total = np.bincount(which, np.concatenate(counts), len(distinct))
    return distinct, total.astype(np.int64)


def _counts(segment: Segment, terms: Integers, rows: Rows) -> Integers:
    """Count the rows that each of the terms is in."""
    counts = np.zeros(len(terms), np.int64)
    columns = segment.column_of[terms]
    for at in np.flatnonzero(columns >= 0):
        column = segment.columns[columns[at], : len(rows)]
        counts[at] = np.count_nonzero(column.astype(np.bool_) & rows)
    for chunk in _chunks(segment, np.flatnonzero(columns < 0), terms):
        counts[chunk] = _sparse_counts(segment, terms[chunk], rows)
    return counts


def _chunks(segment: Segment, chosen: Integers, terms: Integers) -> Iterator[Integers]:
    """Yield chosen terms in chunks whose postings are together about _AT_ONCE."""
    ends = np.cumsum(segment.containing[terms[chosen]], dtype=np.int64)
    if len(ends):
        edges = np.searchsorted(ends, np.arange(_AT_ONCE, ends[-1], _AT_ONCE))
        yield from (chunk for chunk in np.split(chosen, edges) if len(chunk))


def _sparse_counts(segment: Segment, terms: Integers, rows: Rows) -> Integers:
    """terms: each with postings."""
    lengths = segment.containing[terms].astype(np.int64)
    firsts = starts_of(lengths)[:-1]
    where = np.arange(lengths.sum()) + np.repeat(
        segment.starts[terms] - firsts, lengths
    )
    has = rows[segment.postings[where] >> np.uint32(8)]
    counts: Integers = np.add.reduceat(has, firsts, dtype=np.int64)
    return counts


def _value(index: Index, eligible: Sequence[Rows], field: str, hash_: int) -> str:
    """hash_: a keyword of the field that some eligible row has."""
    return next(
        value
        for number, (part, rows) in enumerate(zip(index.parts, eligible, strict=True))
        for row in _having(part.segment, hash_, rows)
        for name, value in keywords_of(index.profile_at(number, row))
        if name == field and hash_keyword(field, value) == hash_
    )


def _having(segment: Segment, hash_: int, rows: Rows) -> list[int]:
    """The first of the rows that has the keyword, if any."""
    term = segment.find_term(hash_)
    if term is None:
        return []
    if (column := segment.column_of[term]) >= 0:
        have = np.flatnonzero(segment.columns[column, : len(rows)].astype(bool) & rows)
    else:
        own = segment.postings_of(term) >> np.uint32(8)
        have = own[rows[own]]
    return [int(row) for row in have[:1]]
