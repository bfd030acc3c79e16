"""Every case of the hostile table is the id of a test, and of one only."""

import re
from collections import Counter
from collections.abc import Iterator
from types import ModuleType

from tests.crawler import test_hostile_servers
from tests.unit.crawler import test_guard, test_hostile_json

TABLE = {
    "U": 61,  # URLs as they are written
    "A": 49,  # addresses
    "D": 11,  # the DNS
    "R": 13,  # redirects
    "B": 10,  # bodies
    "T": 18,  # time and TLS
    "P": 12,  # the protocol
    "J": 26,  # JSON
    "OK": 15,  # what must pass
}
ID = re.compile(r"([A-Z]+[0-9]+)-\S+")


def ids_in(module: ModuleType) -> Iterator[str]:
    for test in vars(module).values():
        for mark in getattr(test, "pytestmark", []):
            if mark.name == "parametrize":
                yield from (
                    getattr(argument, "id", None) or "" for argument in mark.args[1]
                )


def test_each_case_is_tested_once() -> None:
    modules = (test_guard, test_hostile_json, test_hostile_servers)
    named = (ID.fullmatch(item) for module in modules for item in ids_in(module))
    tested = Counter(item[1] for item in named if item)
    cases = {f"{row}{n}" for row, last in TABLE.items() for n in range(1, last + 1)}
    assert len(cases) == 215
    assert cases <= tested.keys()
    assert {case: times for case, times in tested.items() if times > 1} == {}
