"""A Merkle tree over a table of keys and values that follows it change by change.

A key lies in one of BUCKETS buckets. A bucket is its entries, keys ascending, each a key
of 8 bytes, big-endian, and behind it a value. A node is the number of entries below it, 4
bytes, big-endian, and a SHA-256: of 0x00 and the bucket, or of 0x01 and the two nodes
below. So a root says how many entries there are, a proof shows all entries of a bucket,
and who draws buckets has drawn from the whole table.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
import numpy.typing as npt

from registry.errors import Refused
from registry.tlog.refusals import PROOF_INVALID

DEPTH = 12
BUCKETS = 1 << DEPTH
KEY_BYTES = 8
_MIX = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio: spreads keys that are near
_SHIFT = 64 - DEPTH
_COUNT_BYTES = 4

Keys = npt.NDArray[np.uint64]
Values = npt.NDArray[np.uint8]


def bucket_of(key: int) -> int:
    return (key * _MIX & (1 << 64) - 1) >> _SHIFT


def _leaf(bucket: bytes, entry_bytes: int) -> bytes:
    count = len(bucket) // entry_bytes
    return count.to_bytes(_COUNT_BYTES) + sha256(b"\0" + bucket).digest()


def _join(left: bytes, right: bytes) -> bytes:
    count = (count_of(left) + count_of(right)) % (1 << 8 * _COUNT_BYTES)
    return count.to_bytes(_COUNT_BYTES) + sha256(b"\1" + left + right).digest()


def count_of(node: bytes) -> int:
    return int.from_bytes(node[:_COUNT_BYTES])


def _empty_nodes() -> tuple[bytes, ...]:
    """Return the nodes of an empty table; node n is above nodes 2n and 2n + 1."""
    node, nodes = _leaf(b"", 1), [b""]
    for depth in reversed(range(DEPTH + 1)):
        nodes[1:1] = [node] * (1 << depth)
        node = _join(node, node)
    return tuple(nodes)


_EMPTY = _empty_nodes()


@dataclass(frozen=True, slots=True, eq=False)
class KeyedTree:
    """value_bytes: of each value; one of zeros alone is none."""

    value_bytes: int
    buckets: tuple[bytes, ...] = (b"",) * BUCKETS
    nodes: tuple[bytes, ...] = _EMPTY

    @property
    def root(self) -> bytes:
        return self.nodes[1]

    def __len__(self) -> int:
        return count_of(self.root)

    @property
    def entry_bytes(self) -> int:
        return KEY_BYTES + self.value_bytes

    def updated(self, keys: Keys, values: Values) -> "KeyedTree":
        """Set values, or remove those of zeros. keys: distinct. values: a row each."""
        entries = _entries(keys, values)
        numbers = keys * np.uint64(_MIX) >> np.uint64(_SHIFT)
        order = np.lexsort((keys, numbers))
        dirty, firsts = np.unique(numbers[order], return_index=True)
        changes = np.split(entries[order], firsts[1:])
        buckets = list(self.buckets)
        for number, change in zip(dirty.tolist(), changes, strict=False):
            buckets[number] = self._merged(buckets[number], change)
        return self._with(tuple(buckets), dirty.tolist())

    def _merged(self, bucket: bytes, change: Values) -> bytes:
        if not bucket and change[:, KEY_BYTES:].any(axis=1).all():
            return change.tobytes()
        merged = {**_by_key(bucket, self), **_by_key(change.tobytes(), self)}
        return b"".join(entry for _, entry in sorted(merged.items()) if any(entry[8:]))

    def _with(self, buckets: tuple[bytes, ...], dirty: Iterable[int]) -> "KeyedTree":
        nodes = list(self.nodes)
        level = {BUCKETS + number for number in dirty}
        for number in level:
            nodes[number] = _leaf(buckets[number - BUCKETS], self.entry_bytes)
        while level and level != {1}:
            level = {number >> 1 for number in level}
            for number in level:
                nodes[number] = _join(nodes[2 * number], nodes[2 * number + 1])
        return KeyedTree(self.value_bytes, buckets, tuple(nodes))

    def changes_since(self, before: "KeyedTree") -> bytes:
        """Return entries that are new or other than before; zeros for those that went."""
        changed = []
        for old, new in zip(before.buckets, self.buckets, strict=True):
            if old != new:
                own, former = _by_key(new, self), _by_key(old, self)
                changed += [e for key, e in own.items() if former.get(key) != e]
                gone = former.keys() - own.keys()
                changed += [key + bytes(self.value_bytes) for key in gone]
        return b"".join(changed)

    def bucket_at(self, index: int) -> int:
        """Return the bucket with the entry of that index, counted through all from 0.

        index: below the number of entries.
        """
        node = 1
        while node < BUCKETS:
            left = count_of(self.nodes[2 * node])
            node, index = (
                (2 * node, index) if index < left else (2 * node + 1, index - left)
            )
        return node - BUCKETS

    def path(self, number: int) -> tuple[bytes, ...]:
        """Return the nodes beside the way from a bucket to the root."""
        below = [(BUCKETS + number) >> level for level in range(DEPTH)]
        return tuple(self.nodes[node ^ 1] for node in below)


def _by_key(entries: bytes, tree: KeyedTree) -> dict[bytes, bytes]:
    size = tree.entry_bytes
    rows = (entries[at : at + size] for at in range(0, len(entries), size))
    return {entry[:KEY_BYTES]: entry for entry in rows}


def _entries(keys: Keys, values: Values) -> Values:
    packed = keys.astype(">u8").view(np.uint8).reshape(len(keys), KEY_BYTES)
    return np.concatenate([packed, values], axis=1)


def read_bucket(
    root: bytes, number: int, bucket: bytes, path: Sequence[bytes], value_bytes: int
) -> dict[int, bytes]:
    """Return the values of a bucket of the table with that root, by key.

    Raises: Refused where it is not proven.
    """
    tree = KeyedTree(value_bytes)
    entries = _by_key(bucket, tree)
    keys = [int.from_bytes(key) for key in entries]
    if not (
        len(bucket) == len(entries) * tree.entry_bytes
        and keys == sorted(keys)
        and all(bucket_of(key) == number for key in keys)
        and [len(node) for node in path] == [len(root)] * DEPTH
        and _root_above(number, _leaf(bucket, tree.entry_bytes), path) == root
    ):
        raise Refused(PROOF_INVALID, f"bucket {number} is not that of the root")
    return {
        key: entry[KEY_BYTES:]
        for key, entry in zip(keys, entries.values(), strict=True)
    }


def _root_above(number: int, node: bytes, path: Sequence[bytes]) -> bytes:
    for level, other in enumerate(path):
        is_right = number >> level & 1
        node = _join(other, node) if is_right else _join(node, other)
    return node


def entries_before(number: int, path: Sequence[bytes]) -> int:
    """Return how many entries stand in buckets before it. path: proven."""
    return sum(count_of(node) for level, node in enumerate(path) if number >> level & 1)
