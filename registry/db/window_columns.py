"""Rows of a window put in columns, block by block; no SQL and no I/O here."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from registry.audit.packed_ranking import (
    PackedRankings,
    read_packed_rankings,
    read_packed_values,
)
from registry.fairness.arrays import Keys, Numbers
from registry.fairness.window.columns import (
    SCORED_MAX,
    Rankings,
    number_names,
    query_key,
)
from registry.fairness.window.site_numbers import SiteNumbers
from registry.sites.identifier import ULID_LENGTH, encode_base32

_SITE_BYTES = 8
_TAIL_BYTES = 5  # of a record's id: what its last eight characters spell


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
    def of(cls, rows: Iterable[Sequence[Any]]) -> "Rows":
        return cls(*zip(*rows, strict=True))


_BODY = Rows._fields.index("body")


class Candidates(NamedTuple):
    """Rankings with scores: the numbers of their ids' ends, their ids, their queries."""

    ends: npt.NDArray[np.uint64]
    ids: npt.NDArray[np.void]
    keys: npt.NDArray[np.uint64]

    def first(self, most: int) -> "Candidates":
        order = np.argsort(self.ends, kind="stable")[:most]
        return Candidates(self.ends[order], self.ids[order], self.keys[order])


@dataclass(slots=True)
class WindowColumns:
    """operator: whose rankings are taken; of all, where empty. parts: one a block."""

    numbers: SiteNumbers
    operator: str
    parts: list[Rankings] = field(default_factory=list)
    candidates: Candidates = field(
        default_factory=lambda: Candidates(
            np.zeros(0, np.uint64), np.zeros(0, "V16"), np.zeros(0, np.uint64)
        )
    )

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """rows: in the order of the members of `Rows`."""
        told = read_packed_rankings(row[_BODY] for row in rows)
        asked = self._asked(told.operators)
        shown = [
            mine and order != b""
            for mine, order in zip(asked, told.orders, strict=True)
        ]
        if not any(asked):
            return
        block = Rows.of(compress(rows, shown))
        empty = asked.count(True) - shown.count(True)
        part = self._part(block, told.only(shown), empty)
        self.parts.append(part)
        self._keep_candidates(block, part)

    def _asked(self, operators: Sequence[bytes]) -> list[bool]:
        if not self.operator:
            return [True] * len(operators)
        wanted = self.operator.encode()
        return [operator == wanted for operator in operators]

    def _part(self, rows: Rows, told: PackedRankings, empty: int) -> Rankings:
        operators, operator = number_names(one.decode() for one in told.operators)
        categories, category = number_names(
            read_packed_values("filters", rows.filters, _category)
        )
        sampled = [
            eligible or order
            for eligible, order in zip(rows.eligible, told.orders, strict=True)
        ]
        return Rankings(
            keys=_keys(rows),
            operator=operator,
            operators=operators,
            category=category,
            categories=categories,
            returned=self._find(told.orders),
            returned_counts=_lengths(told.orders),
            sampled=self._find(sampled),
            sampled_counts=_lengths(sampled),
            chosen=self._chosen(rows),
            most_eligible=max(told.eligible, default=0),
            empty=empty,
        )

    def _find(self, packed: Iterable[bytes]) -> Numbers:
        joined = np.frombuffer(b"".join(packed), ">i8").astype(np.int64)
        return self.numbers.find(joined)

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


def _keys(rows: Rows) -> Keys:
    keys = read_packed_values("query", rows.query, _query_key)
    found = np.array([key or 0 for key in keys], np.uint64)
    for row, key in enumerate(keys):
        if key is None:
            found[row] = query_key("", _spell(rows.record_id[row]))
    return found


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


def _lengths(packed: Iterable[bytes]) -> Numbers:
    return np.fromiter(map(len, packed), np.int32) // _SITE_BYTES
