"""What is compiled and NumPy add up dealt attention to the same last bit."""

from collections.abc import Sequence

import numpy as np
import pytest

from registry.compiled.library import find_library
from registry.fairness.window.adding import (
    Addition,
    Group,
    Lists,
    Portions,
    Units,
    add_compiled,
    add_plainly,
)

MEASURES, UNITS, SITES = 4, 7, 50


def added(additions: Sequence[Addition], groups: Sequence[Group]) -> list[np.ndarray]:
    """What stands in the sums afterwards, compiled and in NumPy, and what was seen."""
    library = find_library()
    if library is None:
        pytest.skip("nothing is compiled here")
    told = []
    for compiled in (True, False):
        ours = [one._replace(sums=one.sums.copy()) for one in groups]
        mine = [
            one if one.seen is None else one._replace(seen=one.seen.copy())
            for one in additions
        ]
        if compiled:
            add_compiled(library, mine, ours)
        else:
            for one in mine:
                add_plainly(one, ours)
        told.append(
            [one.sums.tobytes() for one in ours]
            + [one.seen.tobytes() for one in mine if one.seen is not None]
        )
    assert told[0] == told[1]
    return ours


def drawn(rng: np.random.Generator, lengths: Sequence[int]) -> Lists:
    counts = np.array(lengths, np.int32)
    return Lists(
        np.arange(len(counts)),
        counts,
        rng.integers(0, SITES, int(counts.sum())).astype(np.int32),
    )


def group(rng: np.random.Generator, width: int, *, percent: bool = False) -> Group:
    return Group(
        code=rng.integers(0, width, SITES),
        sums=rng.random((UNITS, MEASURES, width)),
        percent=rng.random(SITES) * 100 if percent else None,
    )


LENGTHS = [
    pytest.param([], id="no lists"),
    pytest.param([0, 0], id="empty lists"),
    pytest.param([20] * 300, id="of one length"),
    pytest.param([3, 0, 1, 130, 64, 65, 0, 20], id="of all lengths"),
]


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("by_item", [False, True])
def test_both_add_up_to_the_same_last_bit(lengths: list[int], *, by_item: bool) -> None:
    rng = np.random.default_rng(len(lengths))
    one, other = drawn(rng, lengths), drawn(rng, lengths[:-1])
    depth = max(lengths, default=0)
    table = rng.random((depth + 1) * depth)
    even = rng.random(len(lengths)) * (rng.random(len(lengths)) < 0.5)
    of_items = rng.integers(0, UNITS, len(one.sites)) if by_item else None
    additions = [
        Addition(
            one,
            Units(rng.integers(0, UNITS, len(lengths)), of_items),
            {
                0: Portions(table, one.counts.astype(np.int64) * depth, 1),
                2: Portions(even, np.arange(len(lengths)), 0),
            },
        ),
        Addition(
            other,
            Units(rng.integers(0, UNITS, len(other.counts))),
            {1: Portions(np.ones(1), np.zeros(len(other.counts), np.int64), 0)},
            seen=np.zeros(3 * SITES, np.bool_),
            seen_at=rng.integers(0, 3, len(other.counts)) * SITES,
        ),
    ]
    groups = [group(rng, 30), group(rng, 1, percent=True), group(rng, 600)]
    added(additions, groups)


def test_a_measure_that_is_not_dealt_out_stays_as_it_is() -> None:
    rng = np.random.default_rng(1)
    lists, before = drawn(rng, [5, 5]), group(rng, 3)
    dealt = {2: Portions(np.ones(1), np.zeros(2, np.int64), 0)}
    (after,) = added([Addition(lists, Units(np.array([0, 6])), dealt)], [before])
    assert (after.sums[:, [0, 1, 3]] == before.sums[:, [0, 1, 3]]).all()
    assert after.sums[[0, 6], 2].sum() == pytest.approx(
        before.sums[[0, 6], 2].sum() + 10
    )


def test_of_nothing_nothing_is_added() -> None:
    before = group(np.random.default_rng(2), 3)
    (after,) = added([], [before])
    assert (after.sums == before.sums).all()
