"""Rows of a window put in columns, block by block; no SQL and no I/O here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from registry.audit.packed_ranking import read_packed_value
from registry.audit.packing import DISCLOSED, SALTED
from registry.db.equal_texts import Texts
from registry.db.ranking_bodies import Bodies, read_bodies
from registry.fairness.arrays import Booleans, Integers, Keys, Numbers
from registry.fairness.window.columns import (
    SCORED_MAX,
    Rankings,
    join_rankings,
    number_names,
    query_key,
)
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import ULID_LENGTH, encode_base32

_TOGETHER = 16  # blocks
_SITE_BYTES = 8
_TAIL_BYTES = 5  # of a record's id: what its last eight characters spell
_KNOWN_MAX = 50_000  # values whose meaning is kept: some 10 MB


Meaning = TypeVar("Meaning")


class Rows(NamedTuple):
    """Columns, as `observations.RANKINGS` selects them.

    selected: a site, NO_SITE or UNREPORTED.
    """

    record_id: tuple[bytes, ...] = ()
    body: tuple[bytes, ...] = ()
    query: tuple[bytes | None, ...] = ()
    filters: tuple[bytes | None, ...] = ()
    eligible: tuple[bytes | None, ...] = ()
    has_scores: tuple[bool, ...] = ()
    selected: tuple[int, ...] = ()

    @classmethod
    def of(cls, rows: Sequence[Sequence[Any]]) -> "Rows":
        return cls(*zip(*rows, strict=True))

    def only(self, kept: Booleans) -> "Rows":
        return Rows._make(tuple(compress(column, kept)) for column in self)


class Candidates(NamedTuple):
    """Rankings with scores: the numbers of their ids' ends, their ids, their queries."""

    ends: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.void]
    keys: npt.NDArray[np.uint64]

    def first(self, most: int) -> "Candidates":
        order = np.argsort(self.ends, kind="stable")[:most]
        return Candidates(self.ends[order], self.ids[order], self.keys[order])


@dataclass(slots=True)
class _Values(Generic[Meaning]):
    """What the values of one disclosure mean.

    Values that are the same are read once: they differ in their salts only.
    """

    name: str
    meaning: Callable[[object], Meaning]
    known: dict[bytes, Meaning] = field(default_factory=dict)

    def read(
        self, column: Sequence[bytes | None]
    ) -> tuple[list[Meaning], npt.NDArray[np.intp]]:
        """Meanings, and which of them each has. A disclosure that is gone says None."""
        texts = Texts.of(column)
        salted = np.zeros(len(column), np.int64)
        told = texts.lengths > SALTED
        salted[told] = SALTED * (texts.data[texts.at[told]] == DISCLOSED)
        values = Texts(texts.data, texts.at + salted, texts.lengths - salted)
        distinct, value = values.distinct()
        if len(self.known) > _KNOWN_MAX:
            self.known.clear()
        return [self._mean(values[one], column[one]) for one in distinct], value

    def _mean(self, value: bytes, packed: bytes | None) -> Meaning:
        if value not in self.known:
            told = None if packed is None else read_packed_value(self.name, packed)
            self.known[value] = self.meaning(told)
        return self.known[value]


@dataclass(slots=True)
class WindowColumns:
    """operator: whose rankings are taken; of all, where empty.

    parts: one a block, of as many blocks as have come one together: sums are made fastest
    where each query comes several times in a part.
    """

    numbers: SiteNumbers
    operator: str
    parts: list[Rankings] = field(default_factory=list)
    _blocks: int = 0
    candidates: Candidates = field(
        default_factory=lambda: Candidates(
            np.zeros(0, np.uint64), np.zeros(0, "V16"), np.zeros(0, np.uint64)
        )
    )
    _queries: "_Values[int | None]" = field(
        default_factory=lambda: _Values("query", _query_key)
    )
    _categories: "_Values[str]" = field(
        default_factory=lambda: _Values("filters", _category)
    )

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """rows: in the order of the members of `Rows`."""
        block = Rows.of(rows)
        told = read_bodies(block.body)
        asked = self._asked(told)
        if not asked.any():
            return
        shown = asked & (told.counts > 0)
        if not shown.all():
            block, told = block.only(shown), told.only(shown)
        part = self._part(block, told, int(asked.sum() - shown.sum()))
        self._keep_candidates(block, part)
        self.parts.append(part)
        self._blocks += 1
        if self._blocks % _TOGETHER == 0:
            self.parts[-_TOGETHER:] = [join_rankings(self.parts[-_TOGETHER:])]

    def _asked(self, told: Bodies) -> Booleans:
        if not self.operator:
            return np.ones(len(told.counts), np.bool_)
        wanted = np.array([name == self.operator for name in told.names], np.bool_)
        return wanted[told.operator]

    def _part(self, rows: Rows, told: Bodies, empty: int) -> Rankings:
        operators, operator = _name(told.names, told.operator)
        categories, category = _name(*self._categories.read(rows.filters))
        sampled, sampled_counts = _sampled(rows, told)
        return Rankings(
            keys=self._keys(rows),
            operator=operator,
            operators=operators,
            category=category,
            categories=categories,
            returned=self.numbers.find(told.orders),
            returned_counts=told.counts,
            sampled=self.numbers.find(sampled),
            sampled_counts=sampled_counts,
            chosen=self._chosen(rows),
            most_eligible=int(told.eligible.max(initial=0)),
            empty=empty,
        )

    def _keys(self, rows: Rows) -> Keys:
        keys, query = self._queries.read(rows.query)
        found = np.array([key or 0 for key in keys], np.uint64)[query]
        alone = np.array([key is None for key in keys], np.bool_)[query]
        for row in np.flatnonzero(alone).tolist():
            found[row] = query_key("", _spell(rows.record_id[row]))
        return found

    def _chosen(self, rows: Rows) -> Numbers:
        selected = np.array(rows.selected, np.int64)
        chosen = selected.astype(np.int32)
        named = selected >= 0
        chosen[named] = self.numbers.find(selected[named])
        return chosen

    def _keep_candidates(self, rows: Rows, part: Rankings) -> None:
        scored = np.array(rows.has_scores, np.bool_)
        ids = np.frombuffer(b"".join(rows.record_id), "V16")[scored]
        kept = self.candidates
        joined = Candidates(
            np.append(kept.ends, _ends(ids)),
            np.append(kept.ids, ids),
            np.append(kept.keys, part.keys[scored]),
        )
        self.candidates = joined
        if len(joined.ends) > 2 * SCORED_MAX:
            self.candidates = joined.first(SCORED_MAX)


def _sampled(rows: Rows, told: Bodies) -> tuple[Integers, Numbers]:
    """The ids of sites, and how many of each ranking; those of its order without any."""
    column = rows.eligible
    if not all(column):
        ends = np.cumsum(told.counts)[:-1]
        orders = [
            order.tobytes() for order in np.split(told.orders.astype(">i8"), ends)
        ]
        column = tuple(one or order for one, order in zip(column, orders, strict=True))
    texts = Texts.of(column)
    counts = (texts.lengths // _SITE_BYTES).astype(np.int32)
    return texts.data.view(">i8").astype(np.int64), counts


def _name(
    names: Sequence[str], numbers: npt.NDArray[np.integer[Any]]
) -> tuple[tuple[str, ...], Numbers]:
    """The distinct names of those that are numbered, in order, and their indices."""
    used, place = np.unique(numbers, return_inverse=True)
    told, index = number_names(names[one] for one in used.tolist())
    return told, index[place]


def _query_key(query: object) -> int | None:
    """None: the ranking stands alone and is named by its id."""
    return query_key(str(query), "") if query else None


def _category(filters: object) -> str:
    return str(filters.get("category", "")) if isinstance(filters, dict) else ""


def _ends(ids: npt.NDArray[np.void]) -> npt.NDArray[np.uint64]:
    padded = np.zeros((len(ids), 8), np.uint8)
    padded[:, -_TAIL_BYTES:] = ids.view(np.uint8).reshape(-1, 16)[:, -_TAIL_BYTES:]
    return padded.view(">u8").ravel().astype(np.uint64)


def _spell(record_id: bytes) -> str:
    return encode_base32(int.from_bytes(record_id, "big"), ULID_LENGTH)
