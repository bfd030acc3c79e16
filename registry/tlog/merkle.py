"""The Merkle tree of RFC 6962 section 2.1 and the proofs of RFC 9162 section 2.1.

A proof is a list of roots of subtrees. Which subtrees those are depends on nothing but
numbers, so the `*_ranges` functions name them as ranges of leaves; their roots may then
come from leaf hashes in memory (here) or from stored tiles (`proof`).
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from registry.tlog.refusals import ProofInvalid

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    return sha256(b"\x00" + entry).digest()


def leaf_hashes(entries: Iterable[bytes]) -> tuple[bytes, ...]:
    """Hash all entries; inlined, as a verifier spends most of its time here."""
    return tuple([sha256(b"\x00" + entry).digest() for entry in entries])


def node_hash(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def tree_root(leaf_hashes: Sequence[bytes]) -> bytes:
    """Hash pairs level by level; an odd last node rises as it is.

    This gives the tree that RFC 6962 splits at the largest power of two below n.
    """
    if not leaf_hashes:
        return EMPTY_ROOT
    level = leaf_hashes
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else ()
        pairs = zip(level[::2], level[1::2], strict=False)
        above = [sha256(b"\x01" + left + right).digest() for left, right in pairs]
        level = [*above, *odd]
    return level[0]


def inclusion_ranges(index: int, size: int) -> tuple[range, ...]:
    """Return the subtrees beside a leaf's path, from its sibling up to the root's child."""
    if not 0 <= index < size:
        raise ProofInvalid(f"a tree of size {size} has no leaf {index}")
    low, high, ranges = 0, size, []
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            ranges.append(range(middle, high))
            high = middle
        else:
            ranges.append(range(low, middle))
            low = middle
    return tuple(reversed(ranges))


def consistency_ranges(old_size: int, new_size: int) -> tuple[range, ...]:
    """Return the subtrees that make both roots (SUBPROOF of RFC 9162 section 2.1.4.1)."""
    _check_sizes(old_size, new_size)
    low, high, ranges = 0, new_size, []
    while high != old_size:
        middle = low + _split(high - low)
        if old_size <= middle:
            ranges.append(range(middle, high))
            high = middle
        else:
            ranges.append(range(low, middle))
            low = middle
    # A subtree that begins at 0 is the whole old tree: the verifier has its root.
    if low > 0:
        ranges.append(range(low, high))
    return tuple(reversed(ranges))


def verify_inclusion(
    leaf: bytes, proof: Sequence[bytes], *, index: int, size: int, root: bytes
) -> None:
    """Verify as in RFC 9162 section 2.1.3.2. leaf: a leaf hash. Raises: ProofInvalid."""
    _check_hashes(leaf, root, *proof)
    if not 0 <= index < size:
        raise ProofInvalid(f"a tree of size {size} has no leaf {index}")
    reached = leaf
    for left, sibling in zip(_sides(index, size - 1, len(proof)), proof, strict=True):
        reached = node_hash(sibling, reached) if left else node_hash(reached, sibling)
    if reached != root:
        raise ProofInvalid(f"leaf {index} does not lead to the root of size {size}")


def verify_consistency(
    proof: Sequence[bytes],
    *,
    old_size: int,
    new_size: int,
    old_root: bytes,
    new_root: bytes,
) -> None:
    """Verify as in RFC 9162 section 2.1.4.2; size 0 is refused, as it proves nothing.

    Raises: ProofInvalid.
    """
    _check_hashes(old_root, new_root, *proof)
    _check_sizes(old_size, new_size)
    if old_size == new_size:
        if proof or old_root != new_root:
            raise ProofInvalid("trees of one size must be the same tree")
        return
    if not proof:
        raise ProofInvalid("a proof between two sizes is not empty")
    # The path begins at the largest subtree that ends where the old tree ends: the old
    # tree itself where its size is a power of two, and then the proof leaves it out.
    power_of_two = old_size & (old_size - 1) == 0
    path = [old_root, *proof] if power_of_two else proof
    shift = _trailing_ones(old_size - 1)
    first, last = (old_size - 1) >> shift, (new_size - 1) >> shift
    old = new = path[0]
    sides = _sides(first, last, len(path) - 1)
    for left, sibling in zip(sides, path[1:], strict=True):
        if left:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
        else:
            new = node_hash(new, sibling)
    if (old, new) != (old_root, new_root):
        raise ProofInvalid(f"size {new_size} does not extend size {old_size}")


def check_hash(value: bytes) -> bytes:
    """Return the hash. Raises: ProofInvalid unless it has 32 bytes."""
    if len(value) != HASH_BYTES:
        raise ProofInvalid(f"a hash has {HASH_BYTES} bytes, not {len(value)}")
    return value


def _split(size: int) -> int:
    """Return the largest power of two below size, size > 1."""
    return 1 << ((size - 1).bit_length() - 1)


def _trailing_ones(number: int) -> int:
    return (~number & (number + 1)).bit_length() - 1


def _sides(position: int, last: int, count: int) -> list[bool]:
    """Return, for each of count proof hashes, if it is to the left of the path.

    position: of the path's first node among nodes 0..last of its height (fn and sn in
    RFC 9162). Raises: ProofInvalid unless count is the height that is left.
    """
    sides = []
    for _ in range(count):
        if last == 0:
            raise ProofInvalid("the proof is longer than the tree is high")
        left = position & 1 == 1 or position == last
        sides.append(left)
        if left:  # a last node without sibling rises until it becomes a right one
            while not position & 1:
                position, last = position >> 1, last >> 1
        position, last = position >> 1, last >> 1
    if last != 0:
        raise ProofInvalid("the proof is shorter than the tree is high")
    return sides


def _check_hashes(*values: bytes) -> None:
    for value in values:
        check_hash(value)


def _check_sizes(old_size: int, new_size: int) -> None:
    if not 0 < old_size <= new_size:
        raise ProofInvalid(f"no tree grows from size {old_size} to size {new_size}")
