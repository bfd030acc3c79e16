"""Reports whose forms are tested: small ones, one with names that mean harm."""

from dataclasses import replace
from functools import cache

import pytest

from registry.reports.build_report import build_report
from registry.reports.labels import Claims
from registry.reports.metrics.comparison import DIMENSIONS
from registry.reports.metrics.comparison_cells import Comparison
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Terms
from registry.reports.window.observation import SiteDisclosure
from tests.unit.reports.observed import gather
from tests.unit.reports.test_report import ALGORITHM, DISCLOSURES, WINDOW, by_lot

CLAIMS = {0: Claims(("size",), ("size",)), 1: Claims(("size", "commission"), ())}
"""Of the first site by its id the size is contested."""

HARMFUL = '=HYPERLINK("https://evil.example/","<script>alert(1)</script>")'


@cache
def fair() -> FairnessReport:
    return _report(DISCLOSURES)


@cache
def thin() -> FairnessReport:
    """Too few queries for any figure."""
    return _report(DISCLOSURES, count=3)


@cache
def harmful() -> FairnessReport:
    """Sites of a category, and an operator, that are named by an attacker."""
    named = [replace(disclosure, category=HARMFUL) for disclosure in DISCLOSURES]
    return _report(tuple(named), operator=HARMFUL)


REPORTS = [pytest.param(make, id=make.__name__) for make in (fair, thin, harmful)]


def chosen_of_micro(report: FairnessReport, measure: str = "selected") -> Comparison:
    """How often the smallest sites are chosen."""
    [result] = [
        cell
        for micro in report[DIMENSIONS][0].classes
        for cell in micro.comparisons
        if (micro.name, cell.measure) == ("micro", measure)
    ]
    return result


def _report(
    disclosures: tuple[SiteDisclosure, ...], *, count: int = 40, operator: str = ""
) -> FairnessReport:
    rankings = [replace(item, operator=operator) for item in by_lot(count)]
    registered = [
        replace(disclosure, registered_at=WINDOW.start_at) for disclosure in disclosures
    ]
    observed = gather(rankings, registered, operator)
    terms = Terms(window=WINDOW, operator=operator, replicates=2000)
    return build_report(observed, ALGORITHM, terms, claims=CLAIMS)
