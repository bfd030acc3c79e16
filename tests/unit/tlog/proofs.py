"""Proofs made of all leaves of a tree, as a log with few of them would."""

from collections.abc import Sequence

from registry.tlog.merkle import consistency_ranges, inclusion_ranges, tree_root


def inclusion_proof(leaf_hashes: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    ranges = inclusion_ranges(index, len(leaf_hashes))
    return tuple(tree_root(leaf_hashes[r.start : r.stop]) for r in ranges)


def consistency_proof(leaf_hashes: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """Prove that the first old_size leaves are a prefix of these; 0 < old_size."""
    ranges = consistency_ranges(old_size, len(leaf_hashes))
    return tuple(tree_root(leaf_hashes[r.start : r.stop]) for r in ranges)
