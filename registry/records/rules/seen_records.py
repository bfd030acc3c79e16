"""Records that the rules remember: ids of the last minutes, selections of the last days.

The id of a record begins with the time at which it was made. As it has to agree with the
record's own time, and the log's time goes forward, a second record of one id can only
stand within minutes of the first: nothing older need be remembered.
"""

import msgspec

from registry.sites.identifier import decode_base32

ID_TOLERANCE_MIN = 2  # between the time in a record's id and the record's own
REMEMBERED_MIN = 2 * ID_TOLERANCE_MIN + 2
SELECTABLE_DAYS = 7
DAY_MIN = 24 * 60
_TIME_LENGTH = 10
_MINUTE_MS = 60_000


def minute_of_id(record_id: str) -> int:
    """Return the minute since 1970 in which a ULID was made."""
    return decode_base32(record_id[:_TIME_LENGTH]) // _MINUTE_MS


class SeenRecords(msgspec.Struct, kw_only=True):
    """ids: by the minute that they have, and whether the record is a ranking's.

    selected: rankings with a selection, by the day that their ids have.
    """

    ids: dict[int, dict[str, bool]] = {}
    selected: dict[int, set[str]] = {}

    def add(self, record_id: str, minute: int, *, is_ranking: bool) -> bool:
        """Return whether the id is new. minute: of the id."""
        ids = self.ids.get(minute)
        if ids is None:
            ids = self.ids[minute] = {}
        is_new = record_id not in ids
        ids.setdefault(record_id, is_ranking)
        return is_new

    def select(self, ranking_id: str) -> bool:
        """Return whether this is the ranking's first selection."""
        day = minute_of_id(ranking_id) // DAY_MIN
        selected = self.selected.setdefault(day, set())
        is_first = ranking_id not in selected
        selected.add(ranking_id)
        return is_first

    def is_ranking(self, ranking_id: str) -> bool | None:
        """Return None of a record that is too old to be remembered."""
        minute = minute_of_id(ranking_id)
        if self.ids and minute < max(self.ids) - REMEMBERED_MIN:
            return None
        return self.ids.get(minute, {}).get(ranking_id, False)

    def forget(self, minute: int) -> None:
        """Forget what no later record can repeat. minute: the newest of the log."""
        for old in [m for m in self.ids if m < minute - REMEMBERED_MIN]:
            del self.ids[old]
        newest = minute // DAY_MIN
        for old in [day for day in self.selected if day < newest - SELECTABLE_DAYS - 1]:
            del self.selected[old]
