"""A table's tree: its root follows changes, and proves nothing else than it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.tlog.keyed_tree import (
    BUCKETS,
    KeyedTree,
    bucket_of,
    count_of,
    entries_before,
    read_bucket,
)
from registry.tlog.keyed_tree import _leaf as leaf
from registry.tlog.keyed_tree import _root_above as root_above

VALUE_BYTES = 4
KEYS = st.integers(0, 2**64 - 1) | st.integers(0, 9)
TABLES = st.dictionaries(KEYS, st.integers(1, 2**32 - 1), max_size=30)


def tree_of(table, tree=None):
    keys = np.array(list(table), np.uint64)
    values = np.array(list(table.values()), ">u4").view(np.uint8)
    tree = tree or KeyedTree(VALUE_BYTES)
    return tree.updated(keys, values.reshape(len(table), VALUE_BYTES))


def read(tree, key, **lies):
    number = bucket_of(key)
    given_values = {
        "root": tree.root,
        "number": number,
        "bucket": tree.buckets[number],
        "path": tree.path(number),
        "value_bytes": VALUE_BYTES,
    }
    return read_bucket(**{**given_values, **lies})


@given(TABLES, TABLES, st.sets(KEYS))
def test_the_root_is_that_of_the_table_however_it_came_to_be(first, second, gone):
    table = {
        key: value for key, value in {**first, **second}.items() if key not in gone
    }
    former = tree_of(first)
    followed = tree_of(
        {**dict.fromkeys({*first, *gone} - {*table}, 0), **second}, former
    )
    followed = tree_of(dict.fromkeys(gone, 0), followed)
    assert followed.nodes == tree_of(table).nodes
    assert len(followed) == count_of(followed.root) == len(table)
    for key, value in table.items():
        assert int.from_bytes(read(followed, key)[key]) == value
    changes = np.frombuffer(followed.changes_since(former), np.uint8).reshape(-1, 12)
    keys = changes[:, :8].copy().view(">u8")[:, 0].astype(np.uint64)
    assert former.updated(keys, changes[:, 8:]).root == followed.root


def test_a_place_leads_to_the_bucket_of_its_entry_and_the_path_says_so():
    keys = [key for bucket in TREE.buckets for key in read_keys(bucket)]
    for place in (0, 1, 4_711, len(keys) - 1):
        number = TREE.bucket_at(place)
        first = entries_before(number, TREE.path(number))
        assert keys[place] == read_keys(TREE.buckets[number])[place - first]


def read_keys(bucket):
    return [int.from_bytes(bucket[at : at + 8]) for at in range(0, len(bucket), 12)]


TREE = tree_of({key: 1 + key for key in range(10_000)})
KEY = 77
BUCKET, PATH = TREE.buckets[bucket_of(KEY)], TREE.path(bucket_of(KEY))


@pytest.mark.parametrize(
    "lies",
    [
        {"bucket": BUCKET[12:]},
        {"bucket": BUCKET[:-1]},
        {"bucket": BUCKET[-12:] + BUCKET[:-12]},
        {"bucket": BUCKET + BUCKET[-12:]},
        {"bucket": BUCKET[:-1] + b"\xff"},
        {"number": bucket_of(KEY) ^ 1},
        {"number": bucket_of(KEY) + BUCKETS},
        {"path": PATH[:-1]},
        {"path": (*PATH, PATH[0])},
        {"path": (PATH[0] + PATH[1], *PATH[1:])},
        {"path": (bytes(36), *PATH[1:])},
        {"path": (b"\xff" * 36, *PATH[1:])},
        {"root": TREE.root[:-1] + b"x"},
        {"root": b"\xff\xff" + TREE.root[2:]},
    ],
    ids=str,
)
def test_a_lie_about_a_bucket_is_refused(lies):
    assert read(TREE, KEY)[KEY] == (1 + KEY).to_bytes(4)
    with pytest.raises(Refused):
        read(TREE, KEY, **lies)


@pytest.mark.parametrize(
    "bucket",
    [
        pytest.param(BUCKET[-12:] + BUCKET[:-12], id="out of order"),
        pytest.param(BUCKET + BUCKET[-12:], id="a site twice"),
        pytest.param(BUCKET[:-1], id="half an entry"),
        pytest.param(TREE.buckets[bucket_of(KEY) ^ 1], id="of another bucket"),
    ],
)
def test_a_table_with_such_a_bucket_proves_nothing(bucket):
    """Its root is committed to: who reads it otherwise finds another value of a site."""
    number = bucket_of(KEY)
    assert root_above(number, leaf(BUCKET, 12), PATH) == TREE.root
    with pytest.raises(Refused):
        read(TREE, KEY, bucket=bucket, root=root_above(number, leaf(bucket, 12), PATH))
