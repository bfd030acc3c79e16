"""The compiled way and NumPy's come to the same bytes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from registry.compiled import library
from registry.compiled.library import find_library
from registry.index.columns import runs
from registry.index.columns.rows import Rows, join, rows_of, select
from registry.index.columns.runs import Runs, join_runs, starts_of
from registry.index.segments import inversion
from registry.index.segments.inversion import invert_compiled, invert_numpy
from registry.index.segments.lookup import Lookup
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile

needs_library = pytest.mark.skipif(
    find_library() is None, reason="the kernel is not compiled here"
)
MakeProfile = Callable[..., Profile]


def rows_with(lists: list[list[int]], seed: int = 1) -> Rows:
    """Rows that say the terms of these hashes."""
    impacts = np.random.default_rng(seed).integers(1, 256, sum(map(len, lists)))
    return replace(
        rows_of([], P),
        site_ids=np.arange(1, len(lists) + 1),
        starts=starts_of(np.array([len(own) for own in lists], np.int64)),
        hashes=np.array([item for own in lists for item in sorted(own)], np.uint64),
        impacts=impacts.astype(np.uint8),
    )


def many(rows: int, terms: int, item: int) -> list[list[int]]:
    rng = np.random.default_rng(rows)
    hashes = rng.integers(0, 2**64, terms, dtype=np.uint64).tolist()
    share = rng.zipf(1.3, (rows, item)) % terms
    return [[hashes[number] for number in set(own.tolist())] for own in share]


@needs_library
@pytest.mark.parametrize(
    ("lists", "block"),
    [
        pytest.param([], 4, id="no rows"),
        pytest.param([[]], 4, id="a row that says nothing"),
        pytest.param([[0]], 4, id="the hash zero"),
        pytest.param([[2**64 - 1, 0, 1]], 4, id="the least and the greatest hash"),
        pytest.param([[7]] * 9, 4, id="a term of all rows, in blocks that are not full"),
        pytest.param([[7]] + [[]] * 20 + [[7]], 4, id="a term of the first and the last"),
        pytest.param([[n << 52] for n in range(1000)], 16, id="hashes alike in most bits"),
        pytest.param([[n] for n in range(5000)], 16, id="hashes one after the other"),
        pytest.param(many(3000, 400, 12), 64, id="dense, frequent and rare terms"),
        pytest.param(many(999, 90_000, 40), 256, id="mostly rare terms"),
    ],
)  # fmt: skip
def test_compiled_inversion_equals_the_plain_one(
    lists: list[list[int]], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inversion, "_ROOM", 64)
    found_library = find_library()
    assert found_library is not None
    rows = rows_with(lists)
    compiled = invert_compiled(rows, block, found_library)
    plain = invert_numpy(rows, block)
    assert compiled.keys() == plain.keys()
    for name, expected in plain.items():
        result = compiled[name]
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape), name
        assert result.tobytes() == expected.tobytes(), name


def test_inversion_has_every_posting_of_every_row() -> None:
    lists = many(600, 200, 9)
    rows = rows_with(lists)
    result = invert_numpy(rows, 64)
    expected = {
        (int(hash_), row, int(impact))
        for row in range(len(rows))
        for hash_, impact in zip(
            rows.hashes[rows.starts[row] : rows.starts[row + 1]],
            rows.impacts[rows.starts[row] : rows.starts[row + 1]],
            strict=True,
        )
    }
    assert set(postings_of(result)) == expected
    assert (result["column_of"] >= 0).any()
    assert (result["column_of"] < 0).any()


@pytest.mark.parametrize("is_compiled", [True, False])
def test_rows_in_another_order_need_not_be_copied(
    is_compiled: bool, site: MakeProfile, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_compiled:
        monkeypatch.setattr(inversion, "find_library", lambda: None)
    terms = ((f"own {n}", f"of some {n % 50}", "of all") for n in range(600))
    rows = rows_of([site(n, site_terms=own) for n, own in enumerate(terms, 1)], P)
    order = np.random.default_rng(1).permutation(600)
    again = np.random.default_rng(2).permutation(600)
    copied = rows.take(order).take(again)
    ordered = rows.in_order(order).in_order(again)
    assert ordered.hashes is rows.hashes
    expected = inversion.inverted(copied, 64)
    for name, result in inversion.inverted(ordered, 64).items():
        assert result.tobytes() == expected[name].tobytes(), name
    for item in (ordered.take(np.arange(600)), join([ordered])):
        assert item.hashes.tolist() == copied.hashes.tolist()
        assert item.starts.tolist() == copied.starts.tolist()


def postings_of(result: dict[str, Any]) -> list[tuple[int, int, int]]:
    findings = []
    for term, hash_ in enumerate(result["hashes"].tolist()):
        if (column := result["column_of"][term]) >= 0:
            own = result["columns"][column]
            findings += [
                (hash_, row, int(own[row])) for row in np.flatnonzero(own).tolist()
            ]
            continue
        packed = result["postings"][result["starts"][term] : result["starts"][term + 1]]
        findings += [(hash_, item >> 8, item & 255) for item in packed.tolist()]
    return findings


# --- runs -----------------------------------------------------------------------------


LISTS = [[1, 2, 3], [], [4], [5, 6], [], [7, 8, 9, 10]]


def runs_of(lists: list[list[int]]) -> Runs[np.uint64]:
    lengths = np.array([len(own) for own in lists], np.int64)
    items = np.array([item for own in lists for item in own], np.uint64)
    return Runs.of(starts_of(lengths), items)


@pytest.mark.parametrize(
    "order",
    [
        pytest.param([], id="none"),
        pytest.param([1, 4], id="empty ones"),
        pytest.param([5, 0, 0, 3], id="some, one twice"),
        pytest.param([11, 6, 5, 0], id="of both parts"),
    ],
)
def test_runs_are_taken_in_the_order_asked_for(order: list[int]) -> None:
    both = join_runs([runs_of(LISTS), runs_of(LISTS[::-1])])
    lists = LISTS + LISTS[::-1]
    taken = both.take(np.array(order, np.int64))
    expected = [item for number in order for item in lists[number]]
    assert taken.packed().tolist() == expected
    assert [array.tolist() for array in map(taken.__getitem__, range(len(order)))] == [
        lists[number] for number in order
    ]
    for items in (1, 3, 100):
        pieces = [piece.tolist() for piece in taken.pieces(items)]
        assert [item for piece in pieces for item in piece] == expected


def test_runs_of_many_arrays_are_copied_into_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs, "ARRAYS_MAX", 3)
    few = join_runs([runs_of(LISTS)] * 3)
    many_ = join_runs([few, runs_of(LISTS)])
    assert (len(few.arrays), len(many_.arrays)) == (3, 1)
    assert many_.packed().tolist() == few.packed().tolist() + list(range(1, 11))


def test_selected_rows_are_those_of_all_parts(site: MakeProfile) -> None:
    profiles = [
        site(n, site_terms=("food", f"word{n}"), quality=n) for n in range(1, 9)
    ]
    whole = rows_of(profiles, P)
    parts = [rows_of(profiles[:3], P), rows_of([], P), rows_of(profiles[3:], P)]
    order = np.array([7, 0, 2, 2, 3])
    result, expected = select(parts, order), whole.take(order)
    assert result.site_ids.tolist() == [8, 1, 3, 3, 4]
    for name in ("quality", "starts", "hashes", "impacts", "vectors", "embeddings"):
        assert getattr(result, name).tolist() == getattr(expected, name).tolist()
    assert [result.bodies[n] for n in range(5)] == [
        expected.bodies[n] for n in range(5)
    ]
    assert join(parts).hashes.tolist() == whole.hashes.tolist()
    bare = select(parts, order, bare=True)
    assert (bare.quality.tolist(), len(bare.hashes)) == (result.quality.tolist(), 0)


# --- the library, and rows by a key ---------------------------------------------------


def test_a_library_of_other_sources_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(library, "digest_of_sources", lambda: "0" * 64)
    assert find_library.__wrapped__() is None


def test_rows_are_found_by_their_key() -> None:
    lookup = Lookup.of(np.array([5, 3, 5, 9]))
    assert lookup.find(np.array([5, 4, 3])).tolist() == [0, 2, 1]
    assert lookup.find(np.array([], np.int64)).tolist() == []
    assert Lookup.of(np.array([], np.int64)).find(np.array([1])).tolist() == []
