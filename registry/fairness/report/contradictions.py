"""On how many sites documents, registration and auditors contradict each other.

And what these sites got: they are classes of the tally like any other.
"""

from collections.abc import Iterator
from dataclasses import replace

from registry.fairness.labels import FIELDS
from registry.fairness.report.compare import Comparer
from registry.fairness.report.contested import ANY
from registry.fairness.report.estimate import round_figure
from registry.fairness.report.figures import Comparison, Contradiction, Contradictions
from registry.fairness.report.survey import Surveyed
from registry.fairness.report.wording import describe_contradictions


def tell_contradictions(surveyed: Surveyed, comparer: Comparer) -> Contradictions:
    """comparer: of the whole window."""
    contested = replace(comparer, p_values=None)
    found = Contradictions(
        registered=int(surveyed.registered.sum()),
        fields=tuple(_tell(name, surveyed, contested) for name in (ANY, *FIELDS)),
    )
    return replace(found, sentence=describe_contradictions(found))


def _tell(name: str, surveyed: Surveyed, contested: Comparer) -> Contradiction:
    told = surveyed.claims.values()
    sites = _count(name, (one.contradicted for one in told))
    registered = int(surveyed.registered.sum())
    found = Contradiction(
        name=name,
        sites=sites,
        stated_twice=_count(name, (one.stated_twice for one in told)),
        site_share=round_figure(sites / registered) if registered else 0.0,
    )
    if not sites:
        return found
    cells = contested.compare_kind(surveyed.contested, name).comparisons
    return replace(found, comparisons=tuple(map(_without_bounds, cells)))


def _count(name: str, fields: Iterator[tuple[str, ...]]) -> int:
    return sum(bool(one) if name == ANY else name in one for one in fields)


def _without_bounds(cell: Comparison) -> Comparison:
    """Nobody can say of which other sites tellers would differ if more of them spoke."""
    return replace(cell, share_bounds=None, gap_bounds=None)
