"""Rows of a window put in columns, block by block; no SQL and no I/O here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from registry.audit.packed_ranking import read_packed_ranking, read_packed_value
from registry.fairness.arrays import Numbers
from registry.fairness.columns import (
    NO_SITE,
    SCORED_MAX,
    UNREPORTED,
    Rankings,
    join_parts,
    number_names,
    query_key,
)
from registry.sites.identifier import ULID_LENGTH, encode_base32

_SITE_BYTES = 8
_TAIL = slice(11, 16)  # of a record's id: what its last eight characters spell
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_BLOCKS_A_PART = 32
_NO_FILTERS = b"{}"


class Row(NamedTuple):
    """As `observations.RANKINGS` selects it."""

    record_id: bytes
    body: bytes
    query: bytes | None
    filters: bytes | None
    eligible: bytes | None
    has_scores: bool
    has_selection: bool
    selected: int | None


class Candidates(NamedTuple):
    """Rankings with scores: the numbers of their ids' ends, their ids, their queries."""

    ends: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.void]
    keys: npt.NDArray[np.uint64]

    def first(self, most: int) -> "Candidates":
        order = np.argsort(self.ends, kind="stable")[:most]
        return Candidates(self.ends[order], self.ids[order], self.keys[order])


class SiteNumbers:
    """The number of each site id, 0 up, by a table that is looked up in one step.

    Sites that are not known yet are numbered as they come.
    """

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = np.array(ids, np.int64)
        self._known = len(ids)
        self._index()

    @property
    def added(self) -> list[int]:
        added: list[int] = self._ids[self._known :].tolist()
        return added

    def find(self, ids: npt.NDArray[np.int64]) -> Numbers:
        found = self._look_up(ids)
        missing = found < 0
        if missing.any():
            self._ids = np.append(self._ids, np.unique(ids[missing]))
            self._index()
            found = self._look_up(ids)
        return found

    def _index(self) -> None:
        """About eight slots a site; those that share a slot are found by bisection."""
        bits = max(4, len(self._ids).bit_length() + 3)
        self._shift = np.uint64(64 - bits)
        self._table = np.full(1 << bits, -1, np.int32)
        self._table[self._slots(self._ids)] = np.arange(len(self._ids), dtype=np.int32)
        self._order = np.argsort(self._ids).astype(np.int32)
        self._sorted = self._ids[self._order]

    def _slots(self, ids: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
        return (ids.astype(np.uint64) * _MULTIPLIER) >> self._shift

    def _look_up(self, ids: npt.NDArray[np.int64]) -> Numbers:
        """-1 for an id that is not known."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int32)
        found = self._table[self._slots(ids)]
        other = np.flatnonzero(self._ids[found] != ids)
        if len(other):
            place = np.searchsorted(self._sorted, ids[other])
            place = np.minimum(place, len(self._sorted) - 1)
            known = self._sorted[place] == ids[other]
            found[other] = np.where(known, self._order[place], -1)
        return found


@dataclass(slots=True)
class WindowColumns:
    """operator: whose rankings are taken; of all, where empty."""

    numbers: SiteNumbers
    operator: str
    _parts: list[Rankings] = field(default_factory=list)
    _blocks: list[Rankings] = field(default_factory=list)
    candidates: Candidates = field(
        default_factory=lambda: Candidates(
            np.zeros(0, np.uint64), np.zeros(0, "V16"), np.zeros(0, np.uint64)
        )
    )

    def add(self, rows: Sequence[Sequence[object]]) -> None:
        """rows: in the order of the members of `Row`."""
        told = [_Told.of(Row(*row)) for row in rows]  # type: ignore[arg-type]  # as SQL gives them
        if self.operator:
            told = [one for one in told if one.operator == self.operator]
        shown = [one for one in told if one.order]
        if not told:
            return
        part = self._part(shown, empty=len(told) - len(shown))
        self._blocks.append(part)
        if len(self._blocks) == _BLOCKS_A_PART:
            self._close_part()
        self._keep_candidates(shown, part)

    def parts(self) -> list[Rankings]:
        """Once all rows are there. Each part costs as much as its sums are wide."""
        self._close_part()
        return self._parts

    def _close_part(self) -> None:
        if self._blocks:
            self._parts.append(join_parts(self._blocks))
            self._blocks = []

    def _part(self, shown: Sequence["_Told"], empty: int) -> Rankings:
        operators, operator = number_names(one.operator for one in shown)
        categories, category = number_names(one.category for one in shown)
        keys = (query_key(one.query, one.record_id) for one in shown)
        return Rankings(
            keys=np.fromiter(keys, np.uint64, len(shown)),
            operator=operator,
            operators=operators,
            category=category,
            categories=categories,
            returned=self._find(one.order for one in shown),
            returned_counts=_lengths([one.order for one in shown]),
            sampled=self._find(one.row.eligible or one.order for one in shown),
            sampled_counts=_lengths([one.row.eligible or one.order for one in shown]),
            chosen=self._chosen([one.row for one in shown]),
            most_eligible=max((one.eligible for one in shown), default=0),
            empty=empty,
        )

    def _find(self, packed: Iterable[bytes]) -> Numbers:
        joined = np.frombuffer(b"".join(packed), ">i8").astype(np.int64)
        return self.numbers.find(joined)

    def _chosen(self, rows: Sequence[Row]) -> Numbers:
        chosen = np.array(
            [NO_SITE if row.has_selection else UNREPORTED for row in rows], np.int32
        )
        named = [index for index, row in enumerate(rows) if row.selected is not None]
        ids = np.array([rows[index].selected for index in named], np.int64)
        chosen[named] = self.numbers.find(ids)
        return chosen

    def _keep_candidates(self, shown: Sequence["_Told"], part: Rankings) -> None:
        scored = [index for index, one in enumerate(shown) if one.row.has_scores]
        ids = [shown[index].row.record_id for index in scored]
        ends = (int.from_bytes(one[_TAIL], "big") for one in ids)
        kept = self.candidates
        joined = Candidates(
            np.append(kept.ends, np.fromiter(ends, np.uint64, len(ids))),
            np.append(kept.ids, np.frombuffer(b"".join(ids), "V16")),
            np.append(kept.keys, part.keys[scored]),
        )
        self.candidates = joined
        if len(joined.ends) > 2 * SCORED_MAX:
            self.candidates = joined.first(SCORED_MAX)


class _Told(NamedTuple):
    """A row, read."""

    row: Row
    record_id: str
    operator: str
    eligible: int
    order: bytes
    query: str
    category: str

    @classmethod
    def of(cls, row: Row) -> "_Told":
        ranking = read_packed_ranking(row.body)
        query = str(read_packed_value("query", row.query)) if row.query else ""
        return cls(
            row=row,
            # Only a ranking that stands alone is named by its id.
            record_id="" if query else _spell(row.record_id),
            operator=ranking.operator.decode(),
            eligible=ranking.eligible,
            order=ranking.order,
            query=query,
            category=_category(row.filters),
        )


def _category(packed: bytes | None) -> str:
    if packed is None or packed.endswith(_NO_FILTERS):
        return ""
    filters = read_packed_value("filters", packed)
    return str(filters.get("category", "")) if isinstance(filters, dict) else ""


def _spell(record_id: bytes) -> str:
    return encode_base32(int.from_bytes(record_id, "big"), ULID_LENGTH)


def _lengths(packed: Sequence[bytes]) -> Numbers:
    return np.array([len(one) // _SITE_BYTES for one in packed], np.int32)
