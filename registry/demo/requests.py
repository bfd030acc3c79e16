"""Requests of agents in the demo, some with a place; one is nonsense.

They stand in requests.toml.
"""

from typing import Any

from registry.toml_table import read_table

Request = dict[str, Any]

_TABLES = read_table(__package__, "requests.toml", dict[str, Any])
OWN: Request = _TABLES["own"]
NONSENSE: Request = _TABLES["nonsense"]
SHOWN: tuple[Request, ...] = (*_TABLES["shown"], OWN)
OTHERS: tuple[Request, ...] = tuple(_TABLES["others"])
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CITIES = tuple(dict.fromkeys(own["city"] for own in OTHERS if "city" in own))


def _on_another_day(request: Request, number: int) -> Request:
    """Ask on a day of the week, and from elsewhere: number steps on among the cities."""
    later = {**request, "q": f"{request['q']} on {DAYS[number]}"}
    if "city" in request:
        step = CITIES.index(request["city"]) + number + 1
        later["city"] = CITIES[step % len(CITIES)]
    return later


WEEK: tuple[Request, ...] = (
    *OTHERS,
    *(_on_another_day(request, day) for day in range(len(DAYS)) for request in OTHERS),
)
"""Requests that are only counted; agents report what they chose of each. A report tells nothing
that rests on fewer than thirty queries, so one day of a town says little."""


def choose(position: int, results: int) -> int | None:
    """Choose a result as the demo's agent does: mostly the first, at times none.

    position: of the request; results: how many there are.
    """
    wish = (0, 0, 1, 0, None, 0, 2)[(position + position // len(OTHERS)) % 7]
    return wish if wish is not None and wish < results else None
