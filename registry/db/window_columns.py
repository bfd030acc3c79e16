"""Rows of a window put in columns, block by block; no SQL and no I/O here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from registry.audit.packed_ranking import read_packed_value
from registry.audit.packing import DISCLOSED, SALTED
from registry.db.equal_texts import Texts
from registry.db.ranking_bodies import Bodies, read_bodies
from registry.db.window_rows import Rows
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
_NO_END = np.uint64(2**64 - 1)


Meaning = TypeVar("Meaning")


class Candidates(NamedTuple):
    """Rankings with scores: the numbers of their ids' ends, their ids, their queries."""

    ends: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.void]
    keys: npt.NDArray[np.uint64]

    @classmethod
    def none(cls) -> "Candidates":
        return cls(np.zeros(0, np.uint64), np.zeros(0, "V16"), np.zeros(0, np.uint64))

    def first(self, most: int) -> "Candidates":
        whole = self.ids.view(">u8").reshape(-1, 2)
        return self.only(np.lexsort((whole[:, 1], whole[:, 0], self.ends))[:most])

    def only(self, kept: Booleans | Integers) -> "Candidates":
        return Candidates(self.ends[kept], self.ids[kept], self.keys[kept])

    def and_then(self, others: "Candidates") -> "Candidates":
        return Candidates(
            np.append(self.ends, others.ends),
            np.append(self.ids, others.ids),
            np.append(self.keys, others.keys),
        )


@dataclass(slots=True)
class _Values(Generic[Meaning]):
    """What the values of one disclosure mean.

    Values that are the same are read once: they differ in their salts only.
    """

    name: str
    meaning: Callable[[object], Meaning]
    known: dict[bytes, Meaning] = field(default_factory=dict)

    def read(self, texts: Texts) -> tuple[list[Meaning], npt.NDArray[np.intp]]:
        """Meanings, and which of them each has. A disclosure that is gone says None."""
        salted = np.zeros(len(texts), np.int64)
        told = texts.lengths > SALTED
        salted[told] = SALTED * (texts.data[texts.at[told]] == DISCLOSED)
        values = Texts(texts.data, texts.at + salted, texts.lengths - salted)
        distinct, value = values.distinct()
        if len(self.known) > _KNOWN_MAX:
            self.known.clear()
        return [self._mean(values[one], texts[one]) for one in distinct], value

    def _mean(self, value: bytes, packed: bytes) -> Meaning:
        if value not in self.known:
            told = read_packed_value(self.name, packed) if packed else None
            self.known[value] = self.meaning(told)
        return self.known[value]


@dataclass(slots=True)
class WindowColumns:
    """operator: whose rankings are taken; of all, where empty.

    backwards: blocks come with the last one first. Sixteen blocks that come one after
    the other become one part: sums are made fastest where each query comes several times
    in a part.
    """

    numbers: SiteNumbers
    operator: str
    backwards: bool = False
    candidates: Candidates = field(default_factory=Candidates.none)
    _parts: list[Rankings] = field(default_factory=list)
    _loose: list[Rankings] = field(default_factory=list)
    _last_end: np.uint64 = _NO_END
    _queries: "_Values[int | None]" = field(
        default_factory=lambda: _Values("query", _query_key)
    )
    _categories: "_Values[str]" = field(
        default_factory=lambda: _Values("filters", _category)
    )

    def add(self, rows: Rows) -> None:
        told = read_bodies(rows.body)
        asked = self._asked(told)
        if not asked.any():
            return
        shown = asked & (told.counts > 0)
        if not shown.all():
            rows, told = rows.only(shown), told.only(shown)
        part = self._part(rows, told, int(asked.sum() - shown.sum()))
        self._keep_candidates(rows, part)
        self._loose.append(part)
        if len(self._loose) == _TOGETHER:
            self._join()

    def finish(self) -> list[Rankings]:
        """All parts, in the order of the window."""
        if self._loose:
            self._join()
        return self._parts[::-1] if self.backwards else self._parts

    def _join(self) -> None:
        parts = self._loose[::-1] if self.backwards else self._loose
        self._parts.append(join_rankings(parts))
        self._loose = []

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
            found[row] = query_key("", _spell(bytes(rows.ids[row])))
        return found

    def _chosen(self, rows: Rows) -> Numbers:
        chosen = rows.selected.astype(np.int32)
        named = rows.selected >= 0
        chosen[named] = self.numbers.find(rows.selected[named])
        return chosen

    def _keep_candidates(self, rows: Rows, part: Rankings) -> None:
        ids = rows.ids[rows.has_scores]
        found = Candidates(_ends(ids), ids, part.keys[rows.has_scores])
        found = found.only(found.ends <= self._last_end)
        self.candidates = self.candidates.and_then(found)
        if len(self.candidates.ends) > 2 * SCORED_MAX:
            self.candidates = self.candidates.first(SCORED_MAX)
            self._last_end = self.candidates.ends[-1]


def _sampled(rows: Rows, told: Bodies) -> tuple[Integers, Numbers]:
    """The ids of sites, and how many of each ranking; those of its order without any."""
    texts = rows.eligible
    if not texts.lengths.all():
        ends = np.cumsum(told.counts)[:-1]
        orders = np.split(told.orders.astype(">i8"), ends)
        column = (texts[row] or order.tobytes() for row, order in enumerate(orders))
        texts = Texts.of(list(column))
    counts = (texts.lengths // _SITE_BYTES).astype(np.int32)
    return _joined(texts).view(">i8").astype(np.int64), counts


def _joined(texts: Texts) -> npt.NDArray[np.uint8]:
    """The bytes of all, one after the other."""
    if texts.lengths.sum() == len(texts.data):
        return texts.data
    return np.frombuffer(b"".join(texts[one] for one in range(len(texts))), np.uint8)


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
