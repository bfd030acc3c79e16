"""Daily exposure: what is told adds up, and what is withheld can't be computed from it."""

from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.reports.exposure_table import (
    FEWEST_SITES,
    MINIMUM,
    UNIT,
    DayCounts,
    SiteCounts,
    count_sites,
    encode_table,
    make_table,
    parse_table,
)
from registry.reports.window.columns import gather
from registry.reports.window.observation import ObservedRanking
from registry.sites.identifier import format_site_id, parse_site_id

DAY = date(2026, 11, 23)
NOTHING = (None, None, None, None)


def site(number, appearances, selections=0, *, apart=None, attention=0):
    apart = appearances if apart is None else apart
    return SiteCounts(number, appearances, attention, selections, apart, selections)


def table_of(sites, rankings=1000, erased=0, apart=None):
    apart = rankings - erased if apart is None else apart
    counts = DayCounts(rankings=rankings, erased=erased, apart=apart, sites=sites)
    return make_table(DAY, counts)


def by_site(table):
    return {parse_site_id(row.site): row for row in table.sites}


@st.composite
def days(draw):
    """Sites with appearances, selections and what is left without the largest operator."""
    rows = []
    for number in range(draw(st.integers(0, 12))):
        appearances = draw(st.integers(0, 40))
        selections = draw(st.integers(0, 40))
        rows.append(
            SiteCounts(
                number,
                appearances,
                appearances * 100,
                selections,
                draw(st.integers(0, appearances)),
                draw(st.integers(0, selections)),
            )
        )
    return [row for row in rows if row.appearances or row.selections]


@given(days())
def test_no_small_cell_is_told_and_no_sum_leads_to_one(rows):
    table = table_of(rows)
    shown, others = by_site(table), table.others
    for row in rows:
        is_told = row.site in shown
        assert not is_told or row.apart >= MINIMUM
        assert not is_told or shown[row.site].appearances == row.appearances
        selections = shown[row.site].selections if is_told else None
        assert selections is None or row.chosen_apart >= MINIMUM
    hidden = [row for row in rows if row.site not in shown and row.appearances]
    if others.appearances is not None:
        assert others.appearances == sum(row.appearances for row in hidden)
        assert others.attention == sum(row.attention for row in hidden)
        assert others.sites == len(hidden)
        if hidden:
            left = [row.apart for row in hidden if row.apart]
            assert len(left) >= FEWEST_SITES
            assert sum(left) >= MINIMUM
    if others.selections is not None:
        stated = {s for s, row in shown.items() if row.selections is not None}
        rest = [r for r in rows if r.site not in stated and r.selections]
        assert others.selections == sum(row.selections for row in rest)
        left = [row.chosen_apart for row in rest if row.chosen_apart]
        assert not rest or (len(left) >= FEWEST_SITES and sum(left) >= MINIMUM)
    assert parse_table(encode_table(table)) == table


def test_a_cell_alone_takes_the_smallest_others_with_it():
    """Else the one that is withheld is the sum."""
    table = table_of([site(1, 50), site(2, 30), site(3, 20), site(4, 3)])
    assert set(by_site(table)) == {1}
    assert (table.others.sites, table.others.appearances) == (3, 53)


def test_sums_are_withheld_where_nothing_is_left_to_join():
    table = table_of([site(1, 4), site(2, 3)])
    assert msgspec.structs.astuple(table.others) == NOTHING
    assert table.sites == ()


@pytest.mark.parametrize("erased", [0, 6])
def test_a_day_of_few_rankings_tells_nothing(erased):
    """One answer of seven sites would tell by the sum that it had seven."""
    small = table_of([site(n, 1) for n in range(20)], MINIMUM - 1 + erased, erased)
    assert (small.sites, msgspec.structs.astuple(small.others)) == ((), NOTHING)


def test_an_operator_who_asks_nearly_everything_sees_nothing_of_the_rest():
    """He can take his own off the table."""
    rows = [site(1, 500, apart=3), site(2, 500, apart=12), site(3, 9), site(4, 9)]
    rows += [site(5, 9)]
    assert set(by_site(table_of(rows))) == {2}
    apart = table_of(rows, rankings=1000, apart=MINIMUM - 1)
    assert msgspec.structs.astuple(apart.others) == NOTHING


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
    chosen = [(1, "anon", 4), (9, "a", 2)]
    rows = count_sites(observed.parts, [1, 2, 3], chosen, is_shared=True)
    whole = 1 + 1 / 1.584962500721156
    assert rows == [
        SiteCounts(1, 11, round(11 * UNIT / whole), 4, 11, 4),
        SiteCounts(2, 11, round(11 * UNIT * (1 - 1 / whole)), 0, 11, 0),
        SiteCounts(3, 1, UNIT, 0, 0, 0),
        SiteCounts(9, 0, 0, 2, 0, 0),
    ]
    alone = count_sites(observed.parts, [1, 2, 3], chosen, is_shared=False)
    assert [row.apart for row in alone] == [11, 11, 1, 0]


def played(own, others):
    """Return the table of a day. own: orders that an operator got; others: anonymous."""
    rankings = [ranking(n, order, "attacker") for n, order in enumerate(own)]
    rankings += [ranking(5000 + n, order) for n, order in enumerate(others)]
    ids = sorted({site for order in (*own, *others) for site in order})
    sites = count_sites(gather(rankings, []).parts, ids, [], is_shared=bool(others))
    apart = len(others) or len(own)
    counts = DayCounts(rankings=len(rankings), erased=0, apart=apart, sites=sites)
    return encode_table(make_table(DAY, counts))


@given(
    st.lists(st.permutations(range(8)).map(lambda s: s[:3]), min_size=30, max_size=60),
    st.integers(1, MINIMUM - 1),
    st.data(),
)
def test_an_attacker_with_all_but_nine_rankings_guesses_none_of_them(own, few, data):
    """He knows each answer of his own: whatever the others got, the table is the same."""
    answers = st.permutations(range(8)).map(lambda order: order[:3])
    worlds = [[data.draw(answers) for _ in range(few)] for _ in range(2)]
    assert played(own, worlds[0]) == played(own, worlds[1])


SOUND = table_of([site(1, 12, attention=3000), *[site(n, 5) for n in range(2, 6)]])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"version": "fair-registry-exposure/2"}, id="version"),
        pytest.param({"sites": SOUND.sites * 2}, id="a site twice"),
        pytest.param({"rankings": 3}, id="more appearances than rankings"),
        *(
            pytest.param(
                {"sites": [msgspec.structs.replace(SOUND.sites[0], **cell)]},
                id=f"{cell}",
            )
            for cell in (
                {"appearances": 9},
                {"selections": 3},
                {"attention": 12_001},
                {"appearances": -1},
                {"appearances": 2**60},
            )
        ),
    ],
)
def test_tables_that_no_registry_makes_are_refused(change):
    assert parse_table(encode_table(SOUND)) == SOUND
    with pytest.raises(Refused):
        parse_table(encode_table(msgspec.structs.replace(SOUND, **change)))


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", encode_table(SOUND) + b" "])
def test_other_bytes_are_refused(body):
    with pytest.raises(Refused):
        parse_table(body)
