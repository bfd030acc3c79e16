"""Numbers as the sentences of a report write them, and the sentences of no one metric.

A sentence never says more than the interval beside it: a difference that the interval
does not carry is called one that can be chance, whatever its size.
"""

import re

from registry.reports.estimate import Estimate
from registry.reports.report_terms import Algorithm, Terms
from registry.toml_table import read_table

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Z])|_")
_WORDS = read_table(__package__, "names.toml", dict[str, str])


def in_words(name: str) -> str:
    """Return a name in words: eligibleShare as "eligible share"."""
    return _WORDS.get(name) or _WORD.sub(" ", name).lower()


def format_percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def format_rate(share: float) -> str:
    """Format a share of what is rare."""
    return f"{100 * share:.2g}%"


def format_points(share: float) -> str:
    """Format a difference of shares, without a negative zero."""
    return f"{round(100 * share, 2) + 0.0:+.2f}"


def describe_gap(gap: Estimate) -> str:
    ends = f"{format_points(gap.low)} to {format_points(gap.high)}"
    return f"{format_points(gap.value)} points (95% interval {ends})"


def describe_limits(terms: Terms) -> list[str]:
    limits = []
    if terms.operator:
        limits.append(f"Only rankings for the operator {terms.operator!r} are in it.")
    if terms.category:
        limits.append(f"Only sites of the category {terms.category!r} are in it.")
    return limits


def describe_algorithm(algorithm: Algorithm) -> str:
    code = (
        f"its code is public at {algorithm.source_url}"
        if algorithm.source_url
        else "its code is not said to be public"
    )
    audits = (
        f"attested at {', '.join(algorithm.attestations)}"
        if algorithm.attestations
        else "no audit is attested"
    )
    return (
        f"Sites were ordered by policy {algorithm.policy_digest} as run by code "
        f"{algorithm.code_digest}; {code}; {audits}."
    )


def warn_of_chance(judged: int) -> str:
    return (
        f"Of {judged} comparisons the kind of site is judged. Shares and gaps hold of the "
        "sites in this window, which differ lastingly for many reasons; a finding speaks "
        "of the kind. At most one fair report in ten has any."
    )


def describe_no_findings(judged: int) -> str:
    """Return the head of a report without findings. judged: comparisons with a verdict."""
    if not judged:
        return "No finding: the window holds too little to judge any kind of site."
    return (
        "No finding: no kind of site is shown to be treated otherwise, in "
        f"{judged} comparisons. What size of difference would have shown stands beside "
        "each."
    )
