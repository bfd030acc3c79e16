"""Catalogue of every kind of problem that the registry can name, by code.

The crawler's kinds appear in registrations; its code can't be imported here, but its table
can be read.
"""

from collections.abc import Mapping

from registry.errors import ProblemType, read_problem_types

_PACKAGES = (
    "registry",
    "registry.reports.archive",
    "registry.reports",
    "registry.records",
    "registry.formats",
    "registry.identity",
    "registry.interfaces.http",
    "registry.interfaces.wab",
    "registry.sites",
    "registry.tlog",
    "registry.usecases",
    "crawler",
)

PROBLEM_TYPES: Mapping[str, ProblemType] = {
    kind.code: kind
    for package in _PACKAGES
    for kind in read_problem_types(package).values()
}
