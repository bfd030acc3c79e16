"""Every kind of problem that the registry can name, by its code.

Codes of the crawler are told in registrations; its package can't be imported here, so
a test holds their list against this one.
"""

from collections.abc import Iterable, Mapping
from types import ModuleType

import registry.audit.refusals
import registry.formats.refusals
import registry.identity.refusals
import registry.interfaces.http.refusals
import registry.sites.gazetteer
import registry.sites.refusals
import registry.tlog.refusals
import registry.usecases.decide_registration
import registry.usecases.refusals
import registry.usecases.report
from registry.errors import ProblemType

_MODULES: tuple[ModuleType, ...] = (
    registry.audit.refusals,
    registry.formats.refusals,
    registry.identity.refusals,
    registry.interfaces.http.refusals,
    registry.sites.gazetteer,
    registry.sites.refusals,
    registry.tlog.refusals,
    registry.usecases.decide_registration,
    registry.usecases.refusals,
    registry.usecases.report,
)


def _kinds(modules: Iterable[ModuleType]) -> Mapping[str, ProblemType]:
    return {
        value.code: value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, ProblemType)
    }


PROBLEM_TYPES = _kinds(_MODULES)
