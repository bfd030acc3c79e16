"""Daily exposure: counts add up, and an asker who fills cells learns nothing of others.

The attacker knows the sites, the policy, each answer of his own and when somebody else
asked. He asks as often as he likes, by as many networks and keys as he likes.
"""

import random
from collections import Counter
from datetime import date
from hashlib import sha256
from math import hypot, sqrt
from statistics import mean, pstdev

import msgspec
import numpy as np
import pytest

from registry.errors import Refused
from registry.reports import exposure_table
from registry.reports.exposure_table import (
    FORMER_MINIMUM,
    MINIMUM,
    NOISE,
    UNIT,
    WITHOUT_NOISE,
    DayCounts,
    Noise,
    Remainder,
    SiteCounts,
    SiteRow,
    add_noise,
    count_sites,
    encode_table,
    make_table,
    parse_table,
)
from registry.sites.identifier import format_site_id, parse_site_id
from tests.unit.reports.observed import ObservedRanking, gather

DAY = date(2026, 11, 23)
KEY = bytes(32)


def ranking(number, sites, operator="anon"):
    order = tuple(map(format_site_id, sites))
    return ObservedRanking(
        id=f"01KA000000000000000000{number:04}",
        operator=operator,
        eligible=len(order),
        returned=order,
        eligible_sample=order,
    )


def test_counts_are_those_that_reports_count():
    """Attention of a ranking is one whole, by 1 / log2(1 + rank)."""
    rankings = [ranking(n, [1, 2]) for n in range(11)] + [
        ranking(11, [3], operator="a")
    ]
    observed = gather(rankings, [])
    whole = 1 + 1 / 1.584962500721156
    assert count_sites(observed.parts, [1, 2, 3], {1: 4, 9: 2}) == [
        SiteCounts(1, 11, round(11 * UNIT / whole), 4),
        SiteCounts(2, 11, round(11 * UNIT * (1 - 1 / whole)), 0),
        SiteCounts(3, 1, UNIT, 0),
        SiteCounts(9, 0, 0, 2),
    ]


def test_noise_is_normal_and_the_same_whenever_it_is_told():
    """Else somebody could take the mean of several answers."""
    counts = [SiteCounts(number, 1000, 40_000, 90) for number in range(4000)]
    answers = [add_noise(row, KEY) for row in counts]
    assert answers == [add_noise(row, KEY) for row in counts]
    assert answers != [add_noise(row, bytes(31) + b"1") for row in counts]
    for values, amount, spread in zip(
        list(zip(*answers, strict=True))[1:],
        counts[0][1:],
        msgspec.structs.astuple(NOISE),
        strict=True,
    ):
        assert mean(values) == pytest.approx(amount, abs=spread / 10)
        assert pstdev(values) == pytest.approx(spread, rel=0.05)


def test_a_row_does_not_tell_that_a_site_appeared():
    rows = (add_noise(SiteCounts(n, 1, UNIT, 1), KEY) for n in range(20_000))
    assert sum(row.appearances >= MINIMUM for row in rows) <= 5


CATEGORIES = ("bakery", "hotel", "clinic", "repair", "museum")
WEIGHTS = (8, 5, 4, 2, 1)
TRIALS = 200
PADDED = 1000
"""Rankings of the attacker in each category, so that each of its sites has a row."""


def cells_of(category, sites, *, chosen):
    """Return what one ranking adds to the cells of all sites: a row of three for each."""
    cells = np.zeros((len(CATEGORIES) * sites, 3))
    weights = 1 / np.log2(np.arange(2, sites + 2))
    own = slice(category * sites, (category + 1) * sites)
    cells[own, 0] = 1
    cells[own, 1] = UNIT * weights / weights.sum()
    cells[category * sites, 2] = chosen
    return cells


def residues(view, category, sites, key):
    """Return what is left of a day's cells once the attacker has taken his own off."""
    alone = sum(PADDED * cells_of(c, sites, chosen=0) for c in range(len(CATEGORIES)))
    day = np.rint(alone + cells_of(category, sites, chosen=1)).astype(int)
    counts = [SiteCounts(number, *row) for number, row in enumerate(day.tolist())]
    return np.array(view(counts, key)) - alone


def everybody(counts, key):
    table = make_table(DAY, DayCounts(PADDED * len(CATEGORIES) + 1, 0, counts), key)
    rows = {parse_site_id(row.site): row for row in table.sites}
    return [
        (row.appearances, row.attention, row.selections)
        for row in (rows[count.site] for count in counts)
    ]


def owner_of_all(counts, key):
    """An attacker to whom every site belongs, and who sees each one's own days."""
    return [add_noise(row, key)[1:] for row in counts]


def success(view, sites, noise, seed=1):
    """Return the share of right guesses by the likeliest category, and of the usual."""
    dice = random.Random(seed)
    subjects = dice.choices(range(len(CATEGORIES)), WEIGHTS, k=TRIALS)
    spreads = np.maximum(msgspec.structs.astuple(noise), 1)
    guesses = [cells_of(c, sites, chosen=1) / spreads for c in range(len(CATEGORIES))]
    right = 0
    for day, category in enumerate(subjects):
        key = sha256(f"{seed} {day}".encode()).digest()
        seen = residues(view, category, sites, key) / spreads
        likely = [
            np.log(weight) + (seen * guess).sum() - (guess**2).sum() / 2
            for weight, guess in zip(WEIGHTS, guesses, strict=True)
        ]
        right += int(np.argmax(likely)) == category
    usual = Counter(subjects).most_common(1)[0][1]
    return right / TRIALS, usual / TRIALS


ATTACKS = pytest.mark.parametrize(
    ("view", "sites"),
    [(everybody, 1), (everybody, 20), (everybody, 100), (owner_of_all, 20)],
)


@ATTACKS
def test_who_fills_cells_guesses_no_better_than_by_frequencies(view, sites):
    share, usual = success(view, sites, NOISE)
    assert share <= usual + 2 * sqrt(usual * (1 - usual) / TRIALS)


@ATTACKS
def test_the_same_attacker_reads_exact_counts(view, sites, monkeypatch):
    monkeypatch.setattr(exposure_table, "NOISE", Noise(0, 0, 0))
    assert success(view, sites, Noise(0, 0, 0))[0] == 1


def test_the_bound_that_is_told_holds():
    """Whatever else he knows: so far apart are the days with and without a ranking."""
    spreads = msgspec.structs.astuple(NOISE)
    apart = {
        sites: hypot(*(cells_of(0, sites, chosen=1) / spreads).ravel())
        for sites in (1, 20, 100)
    }
    assert max(apart.values()) <= 0.25
    assert apart[20] <= 0.15


SOUND = make_table(
    DAY,
    DayCounts(1000, 0, [SiteCounts(n, 250 * n, 9000 * n, 3 * n) for n in range(1, 4)]),
    KEY,
)
FORMER = msgspec.structs.replace(
    SOUND,
    version=WITHOUT_NOISE,
    minimum=FORMER_MINIMUM,
    noise=msgspec.UNSET,
    sites=(SiteRow(format_site_id(1), 12, 3000, None),),
    others=Remainder(4, 20, 5000, 0),
)


def with_cell(table, **cell):
    row = msgspec.structs.replace(table.sites[0], **cell)
    return msgspec.structs.replace(table, sites=(row,))


@pytest.mark.parametrize(
    "table",
    [
        *(
            pytest.param(msgspec.structs.replace(SOUND, **change), id=f"{change}"[:40])
            for change in (
                {"version": WITHOUT_NOISE},
                {"version": "fair-registry-exposure/3"},
                {"minimum": 10},
                {"noise": Noise(0, 0, 0)},
                {"noise": msgspec.UNSET},
                {"sites": SOUND.sites * 2},
                {"others": FORMER.others},
                {"rankings": 3},
            )
        ),
        *(
            pytest.param(with_cell(table, **cell), id=f"{table.version[-1]} {cell}")
            for table, cell in (
                (SOUND, {"appearances": MINIMUM - 1}),
                (SOUND, {"attention": 10**6}),
                (SOUND, {"appearances": 2**60}),
                (FORMER, {"appearances": 9}),
                (FORMER, {"selections": 3}),
                (FORMER, {"attention": 12_001}),
                (FORMER, {"appearances": -1}),
            )
        ),
    ],
)
def test_tables_that_no_registry_makes_are_refused(table):
    for sound in (SOUND, FORMER):
        assert parse_table(encode_table(sound)) == sound
    with pytest.raises(Refused):
        parse_table(encode_table(table))


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", encode_table(SOUND) + b" "])
def test_other_bytes_are_refused(body):
    with pytest.raises(Refused):
        parse_table(body)
