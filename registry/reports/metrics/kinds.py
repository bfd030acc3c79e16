"""Kinds of sites: what labels drawn by lot over the same sites say of a difference.

How sites fared is one question, whether their kind did is another: sites differ
lastingly for many reasons, and any labels part them somewhat. Labels are shuffled over
publishers, within categories; one error rate holds for a whole report.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from registry.reports.arrays import Floats
from registry.reports.estimate import Estimate, baseline_of, round_figure
from registry.reports.inference.permutation import (
    LabelTest,
    merge_publishers,
    permute_labels,
)
from registry.reports.metrics.measures import JUDGED
from registry.reports.report_survey import Basis, sites_of
from registry.reports.window.classes import UNKNOWN, Classes

KindReading = Literal["more", "less", "negligible", "notShown"]
"""Verdict on a kind of site, beyond the sites that happened to be in the window."""

Magnitude = Literal["negligible", "small", "large"]

ALARM_RATE = 0.1
"""Share of fair reports with any alarm, at the most."""

FAMILIES = 4
"""Tests that share the rate evenly: of size, independence and age, and that of ties."""

NEGLIGIBLE, LARGE = 0.02, 0.1
"""Shares of a kind's expected share, from which on a gap is small, and large."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindTest:
    """Test of a class in a measure. p_value: alone; adjusted: over the whole report.

    gap: beyond what its categories explain, between ends that 95% of drawn labels keep.
    detectable: the gap that would be shown four times in five; None where none would,
    as labels are too few or selections are none.
    """

    p_value: float
    adjusted: float
    gap: Estimate
    detectable: float | None


KindTests = Mapping[tuple[tuple[str, ...], int], KindTest]
"""Tests by the names that a class joins, and the measure."""

NO_TESTS: KindTests = {}


def judge_kinds(basis: Basis, classes: Classes) -> KindTests:
    """Return the tests of each class against the other declared ones.

    Labels of categories can not be shuffled within categories: these have none.
    """
    declared = basis.seen.copy()
    if UNKNOWN in classes.names:
        declared &= classes.code != classes.names.index(UNKNOWN)
    kinds = [members for members in classes.kinds.values() if UNKNOWN not in members]
    groups = [sites_of(classes, members)[declared] for members in kinds]
    sites = basis.survey.sites
    excess = [_excess(basis.amounts, measure)[declared] for measure in JUDGED]
    tested = permute_labels(
        *merge_publishers(
            np.stack(excess, axis=1),
            np.stack(groups, axis=1),
            sites.category[declared].astype(np.int64),
            sites.publisher[declared],
        ),
        basis.survey.generator(f"labels of {classes.dimension}"),
        level=ALARM_RATE / FAMILIES,
    )
    return {
        (members, measure): _kind_test(tested, (row, column), excess[column][own].sum())
        for row, (members, own) in enumerate(zip(kinds, groups, strict=True))
        for column, measure in enumerate(JUDGED)
        if own.any() and not own.all()
    }


def read_kind(reading: str, kind: KindTest | None, expected: float) -> KindReading:
    """Return the verdict on a kind.

    reading: of its sites. expected: the share that it is compared with. A gap of a kind
    is one only if its sites have it, too, whatever the undeclared ones are.
    """
    if kind is None:
        return "notShown"
    limit = NEGLIGIBLE * expected
    if -limit < kind.gap.low <= kind.gap.high < limit:
        return "negligible"
    direction: KindReading = "more" if kind.gap.value > 0 else "less"
    if kind.adjusted > ALARM_RATE or reading != direction:
        return "notShown"
    return "negligible" if abs(kind.gap.value) < limit else direction


def measure_gap(gap: float, expected: float) -> Magnitude:
    """Return how large a gap is beside the share that it is compared with."""
    if abs(gap) <= NEGLIGIBLE * expected:
        return "negligible"
    return "small" if abs(gap) <= LARGE * expected else "large"


def _excess(amounts: Floats, measure: int) -> Floats:
    """Return, by site, its share less that of the baseline."""
    received, baseline = amounts[measure], amounts[baseline_of(measure)]
    if not received.sum() > 0:
        return np.zeros(len(received))
    excess: Floats = received / received.sum() - baseline / baseline.sum()
    return excess


def _kind_test(tested: LabelTest, at: tuple[int, int], gap: float) -> KindTest:
    beyond, half = gap - tested.expected[at], tested.half_width[at]
    detectable = float(tested.detectable[at])
    return KindTest(
        p_value=round_figure(tested.p_values[at]),
        adjusted=round_figure(min(1.0, FAMILIES * float(tested.family[at]))),
        gap=Estimate.rounded(beyond, beyond - half, beyond + half),
        detectable=round_figure(detectable) if detectable <= 1 else None,
    )
