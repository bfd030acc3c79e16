"""Every problem code is one kind of problem, and has its page."""

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

import httpx
import pytest

import crawler
import registry
from registry.errors import ProblemType, RegistryError, read_problem_types
from registry.interfaces.http.problems import STATUS
from registry.interfaces.web.catalogue import PROBLEM_TYPES
from tests.api.running import RunningRegistry


@cache
def declared() -> tuple[tuple[str, ProblemType], ...]:
    """Each kind of problem and its module; all modules are imported for it."""
    return tuple(_declared())


def _declared() -> Iterator[tuple[str, ProblemType]]:
    for package in (registry, crawler):
        for result in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not result.name.endswith("__main__"):
                module = importlib.import_module(result.name)
                kinds = [*vars(module).values()]
                if result.name.endswith(".refusals"):
                    kinds += read_problem_types(str(module.__package__)).values()
                for value in kinds:
                    if isinstance(value, ProblemType):
                        yield result.name, value


def test_a_code_means_one_thing() -> None:
    meanings: dict[str, set[ProblemType]] = {}
    for _, kind in declared():
        meanings.setdefault(kind.code, set()).add(kind)
    assert {code: kinds for code, kinds in meanings.items() if len(kinds) > 1} == {}


def test_every_kind_is_in_the_catalogue() -> None:
    missing = {name for name, kind in declared() if kind.code not in PROBLEM_TYPES}
    assert missing == set(), "add the module to registry.interfaces.web.catalogue"
    assert {kind.code for _, kind in declared()} == PROBLEM_TYPES.keys()


def test_every_kind_says_what_to_do() -> None:
    for _, kind in declared():
        assert kind.title.strip(), kind
        assert len(kind.fix.strip()) > 10, kind


def test_every_error_has_a_status() -> None:
    leaves = [subclass for subclass in RegistryError.__subclasses__() if subclass.__module__ == "registry.errors"]  # fmt: skip
    assert {leaf: STATUS.get(leaf) for leaf in leaves if leaf not in STATUS} == {}


@pytest.fixture(scope="module")
def http(registry: RunningRegistry) -> httpx.Client:
    return registry.http


def test_every_code_has_its_page(http: httpx.Client) -> None:
    for code, kind in PROBLEM_TYPES.items():
        page = http.get(f"/problems/{code}")
        assert page.status_code == 200, code
        assert page.headers["Content-Type"].startswith("text/html")
        assert code in page.text
        assert kind.title.split()[0] in page.text
