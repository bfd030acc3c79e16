"""Agreement of an archive with the log: its window whole, and nothing else.

Entries come in the order of the log and are held against rows in the order of the
archive, one of each at a time. Remembered are the choices that wait for their record,
and the sixteen bytes of each ranking's id.
"""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

import msgspec
import numpy as np

from registry.records.disclosure import digest_disclosure, parse_disclosure
from registry.reports.archive.agreement import MAX_SENTENCES, Agreement
from registry.reports.archive.archive_rows import OPENED, ArchivedRanking, read_logged
from registry.reports.archive.row_check import differences_of
from registry.sites.identifier import decode_base32, parse_site_id

_BY_TREE = ("label", "registration")
"""Kinds of which an archive has what its tree holds: no matter is what came later."""
_KINDS = [
    f'"kind":"{kind}"'.encode() for kind in ("ranking", "selection", "erase", *_BY_TREE)
]
_ID_BYTES = 16


class _Entry(msgspec.Struct):
    """Members of a record that matter, whatever its kind."""

    kind: str
    t: str
    ranking: str = ""
    site: str | None = None
    sd: list[str] = msgspec.field(default_factory=list, name="_sd")
    v: int = 1
    index: int = 0
    last: int | None = None


_read_entry = msgspec.json.Decoder(_Entry).decode
_Choice = tuple[int, int | None, str | None]  # leaf of the record, site, disclosure


@dataclass(slots=True, kw_only=True)
class RankingAgreement(Agreement):
    """Agreement of rankings, choices and openings with their records.

    start, end: minutes of the window. size: leaves that the archive was made from.
    sites: that it names. rankings, choices, openings: how many were compared.
    """

    start: str
    end: str
    size: int
    sites: int
    rows: Iterator[ArchivedRanking]
    rankings: int = 0
    choices: int = 0
    openings: int = 0
    _row: ArchivedRanking | None = None
    _last: int = -1
    _awaited: dict[str, _Choice] = field(default_factory=dict)
    _stray: list[tuple[int, str]] = field(default_factory=list)
    _ids: bytearray = field(default_factory=bytearray)
    _closed: "array[int]" = field(default_factory=lambda: array("q"))
    _erased: list[tuple[int, int]] = field(default_factory=list)

    def visit(self, index: int, entry: bytes) -> None:
        """Raises: Refused, where the archive can't be read."""
        if not any(kind in entry for kind in _KINDS):
            return
        record = _read_entry(entry)
        if record.kind == "ranking":
            self._visit_ranking(index, entry, record.t)
        elif record.kind == "selection" and self._is_inside(record.t):
            self._visit_choice(index, record)
        elif record.kind == "erase" and index < self.size:
            last = record.index if record.last is None else record.last
            self._erased.append((record.index, last))
        elif record.kind in _BY_TREE and index >= self.size and record.t < self.end:
            behind = "stands behind the archive's tree"
            self.differ(f"entry {index}, a {record.kind} of {record.t}, {behind}")

    def finish(self) -> None:
        """Note what is left, once the log is read to its end."""
        while self._next() is not None:
            self._report_invented()
        for ranking, (index, *_) in self._awaited.items():
            choice = f"the archive has a choice from {ranking} as entry {index}"
            self.differ(f"{choice}, and the log has no such choice there")
        self._look_at_stray()
        self._look_at_closed()

    def _visit_ranking(self, index: int, entry: bytes, minute: str) -> None:
        while (row := self._next()) is not None and row.leaf_index < index:
            self._report_invented()
        is_here = row is not None and row.leaf_index == index
        if not self._is_inside(minute):
            if is_here:
                self._report_invented()
        elif row is None or not is_here:
            self.differ(f"entry {index}, a ranking of {minute}, is not in the archive")
        else:
            self._row = None
            self._compare(row, entry)

    def _compare(self, row: ArchivedRanking, entry: bytes) -> None:
        self.rankings += 1
        logged = read_logged(entry)
        for difference in differences_of(row, logged, self.sites):
            self.differ(f"ranking {logged.id} at entry {row.leaf_index}: {difference}")
        self._ids += _bytes_of(logged.id)
        if row.selection_index is not None:
            disclosure = row.chosen_disclosure()
            self._awaited[logged.id] = (row.selection_index, row.chosen, disclosure)
        self.openings += len(OPENED) - len(row.unopened)
        is_opened = row.answer_salt is not None or logged.n is not None
        if row.unopened or not is_opened:
            self._closed.append(row.leaf_index)

    def _visit_choice(self, index: int, choice: _Entry) -> None:
        awaited = self._awaited.get(choice.ranking)
        if awaited is None or awaited[0] != index:
            self._stray.append((index, choice.ranking))
            return
        del self._awaited[choice.ranking]
        self.choices += 1
        if not _is_choice(choice, awaited):
            self.differ(
                f"the choice at entry {index} is of another site in the archive"
            )

    def _look_at_stray(self) -> None:
        """Choices that the archive lacks; those from earlier rankings are no matter."""
        ids = np.frombuffer(self._ids, f"S{_ID_BYTES}")
        own = [_bytes_of(ranking) for _, ranking in self._stray]
        are_there = np.isin(np.array(own, f"S{_ID_BYTES}"), ids)
        for is_there, (index, ranking) in zip(are_there, self._stray, strict=True):
            if is_there:
                choice = f"entry {index}, a choice from {ranking}"
                self.differ(f"{choice}, is not in the archive")

    def _look_at_closed(self) -> None:
        """Note what is not opened and not erased on record."""
        closed = np.frombuffer(self._closed, np.int64)
        erased = np.zeros(len(closed), np.bool_)
        for first, last in self._erased:
            begin, end = np.searchsorted(closed, (first, last + 1))
            erased[begin:end] = True
        for index in closed[~erased][:MAX_SENTENCES].tolist():
            leaf = f"the ranking at entry {index} is not opened whole"
            self.differ(f"{leaf}, and no record says that it was erased")

    def _next(self) -> ArchivedRanking | None:
        """The first row that is not compared yet."""
        if self._row is None and (row := next(self.rows, None)) is not None:
            if row.leaf_index <= self._last:
                self.differ(f"row {row.leaf_index} is out of the log's order")
            self._row, self._last = row, row.leaf_index
        return self._row

    def _report_invented(self) -> None:
        row, self._row = self._row, None
        if row is not None:
            ranking = f"the archive has a ranking {row.id} as entry {row.leaf_index}"
            self.differ(f"{ranking}, and the log has none of the window there")

    def _is_inside(self, minute: str) -> bool:
        """Minutes of one form stand in the order of their texts."""
        return self.start <= minute < self.end


def _is_choice(logged: _Entry, archived: _Choice) -> bool:
    """Return whether it is what the log has; one that is not disclosed names no site."""
    _, site, disclosure = archived
    chosen = logged.site
    if logged.v > 1:
        if disclosure is None:
            return site is None
        is_logged = digest_disclosure(disclosure) in logged.sd
        value = parse_disclosure(disclosure).value if is_logged else None
        if not isinstance(value, Mapping):
            return False
        chosen = cast("str | None", value.get("site"))
    return site == (None if chosen is None else parse_site_id(chosen))


def _bytes_of(ulid: str) -> bytes:
    return decode_base32(ulid).to_bytes(_ID_BYTES, "big")
