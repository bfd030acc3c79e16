"""Catalogue of every kind of problem that the registry can name, by code.

The crawler's kinds appear in registrations; its package can't be imported here, so
they are a list, which a test holds against the crawler.
"""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from types import ModuleType

import msgspec

import registry.formats.refusals
import registry.identity.refusals
import registry.interfaces.http.refusals
import registry.interfaces.wab.refusals
import registry.records.refusals
import registry.reports.archive.refusals
import registry.reports.refusals
import registry.sites.gazetteer
import registry.sites.refusals
import registry.strict_json
import registry.tlog.refusals
import registry.usecases.refusals
from registry.errors import ProblemType

_MODULES: tuple[ModuleType, ...] = (
    registry.reports.archive.refusals,
    registry.reports.refusals,
    registry.records.refusals,
    registry.formats.refusals,
    registry.identity.refusals,
    registry.interfaces.http.refusals,
    registry.interfaces.wab.refusals,
    registry.sites.gazetteer,
    registry.sites.refusals,
    registry.strict_json,
    registry.tlog.refusals,
    registry.usecases.refusals,
)


def _declared(modules: Iterable[ModuleType]) -> Iterable[ProblemType]:
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, ProblemType):
                yield value


def _of_the_crawler() -> Iterable[ProblemType]:
    listed = files("registry.interfaces.web").joinpath("crawler_problems.json")
    return msgspec.json.decode(listed.read_bytes(), type=list[ProblemType])


PROBLEM_TYPES: Mapping[str, ProblemType] = {
    kind.code: kind for kind in (*_declared(_MODULES), *_of_the_crawler())
}
