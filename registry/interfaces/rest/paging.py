"""Listings page by page, and the cursors that lead from one page to the next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

import msgspec
from litestar.params import QueryParameter

from registry.errors import Refused
from registry.interfaces.http.cursors import open_cursor, seal_cursor
from registry.interfaces.http.refusals import CURSOR_INVALID
from registry.interfaces.http.services import Services

DEFAULT_LIMIT, MAX_LIMIT = 30, 100

Limit = Annotated[
    int, QueryParameter(ge=1, le=MAX_LIMIT, description="Most rows of the page")
]
Cursor = Annotated[
    str | None, QueryParameter(max_length=1000, description="nextCursor of a page")
]
Row = TypeVar("Row")
Place = TypeVar("Place")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[Row, Place]):
    """purpose: the call and its filters; no other listing takes its cursors.

    place_of: where the next page begins, behind the row that is the last of this one.
    """

    purpose: str
    place: type[Place]
    place_of: Callable[[Row], Place]

    def begin(self, services: Services, cursor: str | None) -> Place | None:
        """Open the cursor; None at the beginning. Raises: Refused."""
        if cursor is None:
            return None
        return open_place(services, self.purpose, cursor, self.place)

    def page(
        self, services: Services, rows: Sequence[Row], limit: int
    ) -> tuple[Sequence[Row], str | None]:
        """Return at most `limit` rows, and the cursor of what follows.

        found: one more than `limit`, where there are so many.
        """
        if len(rows) <= limit:
            return rows, None
        shown = rows[:limit]
        return shown, seal_place(services, self.purpose, self.place_of(shown[-1]))


def open_place(
    services: Services, purpose: str, cursor: str, kind: type[Place]
) -> Place:
    """Return the position that `seal_place` put into the cursor.

    Raises: Refused, also if an earlier version sealed it in another shape.
    """
    state = open_cursor(services.web_key, purpose, cursor, services.clock())
    try:
        return msgspec.json.decode(state, type=kind)
    except msgspec.DecodeError as error:
        raise Refused(CURSOR_INVALID, pointer="cursor") from error


def seal_place(services: Services, purpose: str, place: object) -> str:
    """The cursor of a page that begins there."""
    state = msgspec.json.encode(place)
    return seal_cursor(services.web_key, purpose, state, services.clock())
