"""Cursors of listings that go from the newest date to the oldest."""

from datetime import date

from registry.interfaces.http.cursors import open_cursor, seal_cursor
from registry.interfaces.http.services import Services


def seal_date(services: Services, purpose: str, last: date) -> str:
    """last: of the page before."""
    now = services.chance.now()
    return seal_cursor(services.web_key, purpose, last.isoformat().encode(), now)


def open_date(services: Services, purpose: str, cursor: str | None) -> date | None:
    """None at the beginning. Raises: Refused."""
    if cursor is None:
        return None
    now = services.chance.now()
    state = open_cursor(services.web_key, purpose, cursor, now)
    return date.fromisoformat(state.decode())
