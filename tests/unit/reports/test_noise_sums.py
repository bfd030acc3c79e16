"""Sums of noise: fair tables have none that is far from zero, and drifts do."""

from hashlib import sha256
from statistics import fmean, pvariance

import pytest

from registry.auditor.reports.noise_sums import NoiseSums
from registry.reports.exposure_table import (
    MINIMUM,
    NOISE,
    UNIT,
    SiteCounts,
    SiteRow,
    add_noise,
)
from registry.sites.identifier import format_site_id

COUNTS = (1, 60, 150, 199, 200, 230, 320, 500, 5_000)
"""Appearances a day: far below the least that has a row, near it, and far above."""


def row_of(own, day, *, more=0, weight=0):
    """The row of a site as a registry publishes it, or with something more in it."""
    noisy = add_noise(own, sha256(b"%d" % day).digest())
    amounts = (noisy.appearances + more, noisy.attention + weight, noisy.selections)
    shown = amounts[0] >= MINIMUM
    return SiteRow(format_site_id(own.site), *amounts) if shown else None


def added(days, sites=range(1), counts=COUNTS, *, erased=0, row=row_of, **lie):
    """The sums of some days, of sites that all are of one kind."""
    sums = NoiseSums()
    for site in sites:
        appearances = counts[site % len(counts)]
        own = SiteCounts(site, appearances, appearances * UNIT // 4)
        subjects = (f"site {site}", "sites of micro")
        for day in range(days):
            sums.add(subjects, row(own, day, **lie), own, erased)
    return sums


def test_fair_tables_have_no_sum_that_is_far():
    sums = added(40, range(180))
    assert [*sums.differences()] == []
    assert len(sums.terms) > 500


@pytest.mark.parametrize("appearances", COUNTS[1:])
def test_noise_is_no_drift_though_small_rows_are_left_out(appearances):
    """Of 60 appearances a day only the luckiest are seen, and are no accusation."""
    sums = added(4_000, range(1), (appearances,))
    for name, word in (("appearances", "more"), ("attention", "less")):
        terms = sums.terms["site 0", name, word]
        assert abs(fmean(terms)) < 5 / len(terms) ** 0.5
        assert len(terms) < 40 or 0.8 < pvariance(terms) < 1.25
    lacking = sums.terms["site 0", "appearances", "less"]
    assert not lacking or fmean(lacking) < 5 / len(lacking) ** 0.5


@pytest.mark.parametrize(
    ("lie", "subject", "text"),
    [
        ({"more": 2 * NOISE.appearances}, "site 0", "have more appearances"),
        ({"more": -2 * NOISE.appearances}, "site 0", "have less appearances"),
        ({"weight": 2 * NOISE.attention}, "site 0", "have more attention"),
        ({"weight": -2 * NOISE.attention}, "site 0", "have less attention"),
    ],
)
@pytest.mark.parametrize("appearances", [320, 5_000])
def test_a_drift_within_the_noise_of_each_row_is_found(lie, subject, text, appearances):
    first, *_ = added(30, range(1), (appearances,), **lie).differences()
    assert first.startswith("site 0: ")
    assert text in first


@pytest.mark.parametrize("more", [NOISE.appearances // 2, -NOISE.appearances // 2])
def test_a_drift_of_a_kind_is_found_that_no_site_shows(more):
    differences = [*added(30, range(40), (5_000,), more=more).differences()]
    assert [line.partition(":")[0] for line in differences] == ["sites of micro"]


def test_rows_that_are_left_out_day_after_day_are_found():
    """Each alone could have had so little noise."""
    sums = added(12, range(1), (320,), row=lambda *_: None)
    difference, _ = sums.differences()
    assert "12 cells together have less appearances" in difference


def test_what_was_erased_since_is_no_drift():
    """The table counted twenty rankings a day more than the archive has still."""
    lie = {"more": 100, "weight": 100 * UNIT}
    assert [*added(30, range(9), (5_000,), erased=100, **lie).differences()] == []
    assert [*added(30, range(9), (5_000,), erased=10, **lie).differences()]
