from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.tlog.merkle import (
    EMPTY_ROOT,
    inclusion_ranges,
    leaf_hash,
    node_hash,
    tree_root,
    verify_consistency,
    verify_inclusion,
)
from registry.tlog.refusals import ProofInvalid
from tests.unit.tlog.proofs import consistency_proof, inclusion_proof

# The definitions of RFC 6962 section 2.1, word for word and as slow as they stand there.


def oracle_split(n: int) -> int:
    k = 1
    while k * 2 < n:
        k *= 2
    return k


def oracle_root(leaves: list[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = oracle_split(len(leaves))
    left, right = oracle_root(leaves[:k]), oracle_root(leaves[k:])
    return sha256(b"\x01" + left + right).digest()


def oracle_path(m: int, leaves: list[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = oracle_split(len(leaves))
    if m < k:
        return [*oracle_path(m, leaves[:k]), oracle_root(leaves[k:])]
    return [*oracle_path(m - k, leaves[k:]), oracle_root(leaves[:k])]


def oracle_subproof(m: int, leaves: list[bytes], *, whole: bool) -> list[bytes]:
    if m == len(leaves):
        return [] if whole else [oracle_root(leaves)]
    k = oracle_split(len(leaves))
    if m <= k:
        deeper = oracle_subproof(m, leaves[:k], whole=whole)
        return [*deeper, oracle_root(leaves[k:])]
    deeper = oracle_subproof(m - k, leaves[k:], whole=False)
    return [*deeper, oracle_root(leaves[:k])]


def leaves_of(size: int) -> list[bytes]:
    return [leaf_hash(b"%d" % i) for i in range(size)]


@st.composite
def size_and_below(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(st.integers(1, 140))
    return size, draw(st.integers(0, size - 1))


def test_hashes_are_those_of_rfc_6962(vectors):
    known = vectors["rfc6962"]
    assert EMPTY_ROOT.hex() == known["empty_root"] == tree_root([]).hex()
    for entry, expected in known["leaf_of"].items():
        assert leaf_hash(entry.encode()).hex() == expected
    assert node_hash(b"N123", b"N456").hex() == known["node_of_N123_N456"]


def test_roots_of_the_published_trees(vectors):
    known = vectors["rfc6962"]
    leaves = [leaf_hash(bytes.fromhex(entry)) for entry in known["entries"]]
    roots = [tree_root(leaves[:size]).hex() for size in range(1, 9)]
    assert roots == known["roots"]


def test_published_inclusion_proof(vectors):
    known = vectors["rfc6962"]
    leaves = [leaf_hash(bytes.fromhex(entry)) for entry in known["entries"]]
    proof = inclusion_proof(leaves, known["inclusion"]["index"])
    assert [value.hex() for value in proof] == known["inclusion"]["proof"]


@pytest.mark.parametrize("number", [0, 1])
def test_published_consistency_proofs(vectors, number):
    known = vectors["rfc6962"]
    case = known["consistency"][number]
    entries = known["entries"][: case["new_size"]]
    leaves = [leaf_hash(bytes.fromhex(entry)) for entry in entries]
    proof = consistency_proof(leaves, case["old_size"])
    assert [value.hex() for value in proof] == case["proof"]
    verify_consistency(
        proof,
        old_size=case["old_size"],
        new_size=case["new_size"],
        old_root=bytes.fromhex(known["roots"][case["old_size"] - 1]),
        new_root=bytes.fromhex(known["roots"][case["new_size"] - 1]),
    )


@given(size_and_below())
def test_inclusion_agrees_with_the_naive_definition(case):
    size, index = case
    leaves = leaves_of(size)
    proof = inclusion_proof(leaves, index)
    root = tree_root(leaves)
    assert root == oracle_root(leaves)
    assert list(proof) == oracle_path(index, leaves)
    verify_inclusion(leaves[index], proof, index=index, size=size, root=root)


@given(size_and_below())
def test_consistency_agrees_with_the_naive_definition(case):
    new_size, below = case
    old_size = below + 1
    leaves = leaves_of(new_size)
    proof = consistency_proof(leaves, old_size)
    assert list(proof) == oracle_subproof(old_size, leaves, whole=True)
    verify_consistency(
        proof,
        old_size=old_size,
        new_size=new_size,
        old_root=tree_root(leaves[:old_size]),
        new_root=tree_root(leaves),
    )


@given(size_and_below(), st.data())
def test_an_inclusion_proof_proves_nothing_else(case, data):
    size, index = case
    leaves = leaves_of(size)
    proof = list(inclusion_proof(leaves, index))
    claim = {"index": index, "size": size, "root": tree_root(leaves)}
    leaf = leaves[index]
    match data.draw(st.sampled_from(["leaf", "index", "root", "proof", "longer"])):
        case "leaf":
            leaf = leaf_hash(b"forged")
        case "index":
            claim["index"] = (index + 1) % (size + 1)
        case "root":
            claim["root"] = leaf_hash(b"other root")
        case "proof":
            proof = [*proof[:-1], leaf_hash(b"forged")]
        case "longer":
            proof.append(leaf_hash(b"more"))
    with pytest.raises(ProofInvalid):
        verify_inclusion(leaf, proof, **claim)


@given(st.integers(2, 140), st.data())
def test_no_consistency_with_a_tree_that_changed_one_old_leaf(new_size, data):
    old_size = data.draw(st.integers(1, new_size - 1))
    changed = data.draw(st.integers(0, old_size - 1))
    old = leaves_of(old_size)
    new = leaves_of(new_size)
    new[changed] = leaf_hash(b"rewritten")
    with pytest.raises(ProofInvalid):
        verify_consistency(
            consistency_proof(new, old_size),
            old_size=old_size,
            new_size=new_size,
            old_root=tree_root(old),
            new_root=tree_root(new),
        )


HASH = bytes(32)


@pytest.mark.parametrize(
    ("leaf", "proof", "index", "size", "root"),
    [
        (HASH, [], 1, 1, HASH),
        (HASH, [], 0, 0, HASH),
        (HASH, [], -1, 1, HASH),
        (HASH[:31], [], 0, 1, HASH[:31]),
        (HASH, [HASH + b"\0"], 0, 2, node_hash(HASH, HASH + b"\0")),
        (HASH, [HASH], 0, 1, node_hash(HASH, HASH)),
        (HASH, [], 0, 2, HASH),
        (HASH, [HASH] * 65, 0, 2**64, HASH),
    ],
    ids=[
        "index at the size",
        "empty tree",
        "negative index",
        "short leaf",
        "long sibling",
        "proof for the only leaf",
        "proof missing",
        "proof too long",
    ],
)
def test_malformed_inclusion_claims_are_refused(leaf, proof, index, size, root):
    with pytest.raises(ProofInvalid):
        verify_inclusion(leaf, proof, index=index, size=size, root=root)


@pytest.mark.parametrize(
    ("proof", "old_size", "new_size", "old_root", "new_root"),
    [
        ([], 0, 3, EMPTY_ROOT, HASH),
        ([], 0, 0, EMPTY_ROOT, EMPTY_ROOT),
        ([HASH], 4, 3, HASH, HASH),
        ([HASH], 3, 3, HASH, HASH),
        ([], 3, 3, HASH, leaf_hash(b"")),
        ([], 2, 3, HASH, HASH),
        ([], 3, 5, HASH, HASH),
        ([HASH[:-1]], 2, 3, HASH, HASH),
        ([HASH] * 9, 2, 3, HASH, HASH),
    ],
    ids=[
        "from size 0",
        "both empty",
        "shrinking",
        "proof within one size",
        "two roots of one size",
        "no proof from a power of two",
        "no proof",
        "short hash",
        "proof too long",
    ],
)
def test_malformed_consistency_claims_are_refused(
    proof, old_size, new_size, old_root, new_root
):
    with pytest.raises(ProofInvalid):
        verify_consistency(
            proof,
            old_size=old_size,
            new_size=new_size,
            old_root=old_root,
            new_root=new_root,
        )


def test_a_tree_proves_consistent_with_itself():
    verify_consistency([], old_size=7, new_size=7, old_root=HASH, new_root=HASH)


def test_no_proof_is_made_for_a_leaf_outside_the_tree():
    with pytest.raises(ProofInvalid):
        inclusion_proof(leaves_of(3), 3)
    with pytest.raises(ProofInvalid):
        consistency_proof(leaves_of(3), 0)


def test_no_smaller_tree_extends_a_larger_one():
    """A registry that shrank its log signs a root above the old one, with a proof to it."""
    old_root, beside = leaf_hash(b"six leaves"), leaf_hash(b"beside")
    with pytest.raises(ProofInvalid, match="from size 6 to size 3"):
        verify_consistency(
            [old_root, beside],
            old_size=6,
            new_size=3,
            old_root=old_root,
            new_root=node_hash(old_root, beside),
        )


def test_hashes_of_other_lengths_are_no_consistency():
    """Two of them, side by side, are the same bytes as the right two."""
    leaves = leaves_of(7)
    first, second, *others = consistency_proof(leaves, 6)
    moved = [first[:31], second, *others]
    sizes = {"old_size": 6, "new_size": 7}
    joined = node_hash(second, first[:31])
    with pytest.raises(ProofInvalid, match="a hash has 32 bytes"):
        verify_consistency(moved, **sizes, old_root=joined, new_root=joined)


@pytest.mark.parametrize("index", [-1, 5])
def test_what_is_no_leaf_has_no_path(index):
    with pytest.raises(ProofInvalid, match=f"no leaf {index}"):
        inclusion_ranges(index, 5)
