from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.tlog.edge import NodeHash, TreeEdge, edge_runs, rebuild_edge
from registry.tlog.merkle import EMPTY_ROOT, leaf_hash, tree_root
from registry.tlog.refusals import ProofInvalid
from registry.tlog.tiles import HashRun

LEAVES = [leaf_hash(b"%d" % i) for i in range(1_600)]


def test_the_small_log_has_its_published_roots(vectors, make_log):
    known = vectors["small_log"]
    assert make_log(1).levels[0][0].hex() == known["leaf_0"]
    assert make_log(3).edge.root().hex() == known["root_3"]
    assert make_log(5).edge.root().hex() == known["root_5"]


def test_a_tree_of_70000_has_its_published_root(vectors, log_70000):
    assert log_70000.edge.root().hex() == vectors["small_log"]["root_70000"]
    assert [len(hashes) for hashes in log_70000.levels] == [70_000, 273, 1]
    assert [len(hashes) for hashes in log_70000.edge.levels] == [112, 17, 1]


def test_an_empty_edge_has_the_empty_root():
    assert TreeEdge().root() == EMPTY_ROOT
    assert TreeEdge().append([]) == (TreeEdge(), [])


@given(st.lists(st.integers(0, 400), max_size=4))
def test_the_split_into_batches_leaves_no_trace(batches):
    edge, placed = TreeEdge(), []
    for batch in batches:
        edge, more = edge.append(LEAVES[edge.size : edge.size + batch])
        placed += more
    at_once, placed_at_once = TreeEdge().append(LEAVES[: sum(batches)])
    assert edge == at_once
    assert sorted(placed) == sorted(placed_at_once)
    assert edge.root() == tree_root(LEAVES[: sum(batches)])


def test_a_completed_tile_is_placed_one_level_up():
    edge, placed = TreeEdge().append(LEAVES[:255])
    assert placed == []
    edge, placed = edge.append(LEAVES[255:600])
    assert placed == [
        NodeHash(1, 0, tree_root(LEAVES[:256])),
        NodeHash(1, 1, tree_root(LEAVES[256:512])),
    ]
    _, placed = edge.append(LEAVES[600:768])
    assert placed == [NodeHash(1, 2, tree_root(LEAVES[512:768]))]


def test_a_completed_tile_of_level_1_rises_to_level_2(log_70000):
    _, placed = TreeEdge().append(log_70000.levels[0][:65_536])
    assert placed[-1] == NodeHash(2, 0, tree_root(log_70000.levels[1][:256]))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 65_536, 69_999])
def test_an_edge_can_be_rebuilt_at_any_size_and_grows_on(log_70000, size):
    edge = rebuild_edge(size, log_70000.read)
    edge, _ = edge.append(log_70000.levels[0][size:])
    assert edge == log_70000.edge


def test_an_edge_needs_a_run_from_each_level_that_has_an_incomplete_tile():
    assert edge_runs(70_000) == (
        HashRun(level=0, first=69_888, count=112),
        HashRun(level=1, first=256, count=17),
        HashRun(level=2, first=0, count=1),
    )
    assert edge_runs(256) == (HashRun(level=1, first=0, count=1),)
    assert edge_runs(0) == ()


@pytest.mark.parametrize(
    ("size", "levels"),
    [
        (1, ()),
        (0, ((),)),
        (1, ((LEAVES[0], LEAVES[1]),)),
        (256, ((),)),
        (1, ((LEAVES[0][:31],),)),
    ],
)
def test_hashes_that_do_not_make_the_size_are_refused(size, levels):
    with pytest.raises(ProofInvalid):
        TreeEdge(size=size, levels=levels)


def test_a_hash_of_another_length_is_not_appended():
    with pytest.raises(ProofInvalid):
        TreeEdge().append([b"short"])


def test_a_store_that_lost_hashes_does_not_give_an_edge(log_70000):
    with pytest.raises(ProofInvalid):
        rebuild_edge(70_000, lambda run: log_70000.read(run)[1:])


def naive_root(leaves):
    """RFC 6962 section 2.1, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    both = naive_root(leaves[:split]) + naive_root(leaves[split:])
    return sha256(b"\x01" + both).digest()


@given(st.integers(0, 1_600), st.integers(0, 1_600))
def test_an_edge_has_the_root_of_the_naive_definition(first, size):
    first = min(first, size)
    begun, _ = TreeEdge().append(LEAVES[:first])
    edge, _ = begun.append(LEAVES[first:size])
    assert edge.root() == naive_root(LEAVES[:size]) == tree_root(LEAVES[:size])
