import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.tlog.checkpoint import sign_checkpoint
from registry.tlog.edge import rebuild_edge
from registry.tlog.merkle import verify_consistency, verify_inclusion
from registry.tlog.proof import (
    LogProof,
    consistency_runs,
    format_log_proof,
    inclusion_runs,
    parse_log_proof,
    prove_consistency,
    prove_inclusion,
    read_from_tiles,
    tiles_for,
    verify_entry_proof,
    verify_log_proof,
)
from registry.tlog.refusals import ProofInvalid
from registry.tlog.tiles import format_tile_path
from tests.unit.tlog.proofs import consistency_proof, inclusion_proof


@given(st.integers(1, 1_600), st.data())
def test_proofs_from_tiles_are_those_from_leaves(make_log, size, data):
    index = data.draw(st.integers(0, size - 1))
    log = make_log(1_600)
    leaves = log.levels[0][:size]
    inclusion = prove_inclusion(index, size, log.read)
    assert inclusion == inclusion_proof(leaves, index)
    consistency = prove_consistency(index + 1, size, log.read)
    assert consistency == consistency_proof(leaves, index + 1)


@given(st.integers(2, 70_000), st.data())
def test_proofs_across_three_tile_levels_verify(log_70000, size, data):
    index = data.draw(st.integers(0, size - 1))
    old_size = data.draw(st.integers(1, size))
    root = root_at(log_70000, size)
    verify_inclusion(
        log_70000.levels[0][index],
        prove_inclusion(index, size, log_70000.read),
        index=index,
        size=size,
        root=root,
    )
    verify_consistency(
        prove_consistency(old_size, size, log_70000.read),
        old_size=old_size,
        new_size=size,
        old_root=root_at(log_70000, old_size),
        new_root=root,
    )


def root_at(log, size):
    return rebuild_edge(size, log.read).root()


@pytest.mark.parametrize(("index", "size"), [(0, 1), (256, 600), (69_999, 70_000)])
def test_a_proof_can_be_made_of_a_few_fetched_tiles(log_70000, index, size):
    tiles = tiles_for(inclusion_runs(index, size), size)
    assert len(tiles) <= 4
    fetched = {tile: b"".join(log_70000.read(tile.run)) for tile in tiles}
    proof = prove_inclusion(index, size, read_from_tiles(fetched, size))
    assert proof == prove_inclusion(index, size, log_70000.read)


def test_a_consistency_proof_can_be_made_of_fetched_tiles(log_70000):
    tiles = tiles_for(consistency_runs(600, 70_000), 70_000)
    served = log_70000.serve()
    fetched = {tile: served[format_tile_path(tile)] for tile in tiles}
    proof = prove_consistency(600, 70_000, read_from_tiles(fetched, 70_000))
    assert proof == prove_consistency(600, 70_000, log_70000.read)


def test_no_proof_is_made_beyond_the_tree(make_log):
    log = make_log(5)
    with pytest.raises(ProofInvalid):
        prove_inclusion(5, 5, log.read)
    with pytest.raises(ProofInvalid):
        prove_consistency(0, 5, log.read)


@pytest.fixture
def log(make_log):
    return make_log(5)


@pytest.fixture
def proof(log, log_signer):
    return LogProof(
        index=2,
        hashes=prove_inclusion(2, 5, log.read),
        checkpoint=sign_checkpoint(log.checkpoint, log_signer),
    )


def test_a_proof_document_stands_alone(log, proof, log_signer):
    parsed = parse_log_proof(format_log_proof(proof))
    assert parsed == proof
    verified = verify_log_proof(parsed, log.levels[0][2], log_signer.verifier_key)
    assert verified.checkpoint == log.checkpoint


def test_a_proof_document_has_its_published_form(proof):
    lines = format_log_proof(proof).decode().split("\n")
    assert lines[:2] == ["c2sp.org/tlog-proof@v1", "index 2"]
    assert [len(line) for line in lines[2:6]] == [44, 44, 44, 0]
    assert lines[6:8] == ["registry.example/audit", "5"]


def test_extra_data_comes_back(proof):
    extended = LogProof(
        index=proof.index,
        hashes=proof.hashes,
        checkpoint=proof.checkpoint,
        extra=b"context",
    )
    document = format_log_proof(extended)
    assert b"\nextra Y29udGV4dA==\nindex 2\n" in document
    assert parse_log_proof(document) == extended


def test_a_proof_of_another_entry_is_refused(log, proof, log_signer):
    with pytest.raises(ProofInvalid):
        verify_log_proof(proof, log.levels[0][3], log_signer.verifier_key)


def test_a_proof_under_an_unsigned_checkpoint_is_refused(log, proof, witness_signer):
    with pytest.raises(Refused):
        verify_log_proof(proof, log.levels[0][2], witness_signer.verifier_key)


HEAD = b"c2sp.org/tlog-proof@v1\n"
HASH = b"k67NAgtBBFNmzxEbqH1khylxXpEJE3fozrdydodE0Do=\n"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"index 0\n\ncheckpoint",
        b"c2sp.org/tlog-proof@v2\nindex 0\n\n",
        HEAD + b"\nindex 0\n\n",
        HEAD + b"index 0",
        HEAD + b"index 0\n",
        HEAD + b"0\n\n",
        HEAD + b"index 00\n\n",
        HEAD + b"index\n\n",
        HEAD + b"index -1\n\n",
        HEAD + b"index 9223372036854775808\n\n",
        HEAD + HASH + b"index 0\n\n",
        HEAD + b"index 0\nextra AAAA\n\n",
        HEAD + b"extra AA\nindex 0\n\n",
        HEAD + b"extra AAAA\nextra AAAA\nindex 0\n\n",
        HEAD + b"index 0\nAAAA\n\n",
        HEAD + b"index 0\n" + HASH.replace(b"=", b"") + b"\n",
        HEAD + b"index 0\n" + HASH * 64 + b"\n",
        HEAD + b"index 0\n\xc3\xa4\n\n",
        HEAD.replace(b"\n", b"\r\n") + b"index 0\r\n\r\n",
    ],
)
def test_a_proof_document_of_another_form_is_refused(data):
    with pytest.raises(Refused) as refused:
        parse_log_proof(data)
    assert refused.value.code == "log_proof_malformed"


@pytest.fixture
def document(proof):
    return format_log_proof(proof)


def test_an_entry_proves_itself_with_its_document_alone(log, document, log_signer):
    index, head = verify_entry_proof(document, log.entries[2], log_signer.verifier_key)
    assert (index, head.checkpoint) == (2, log.checkpoint)


def test_another_entry_is_not_proven(log, document, log_signer):
    for entry in (log.entries[3], b"", log.entries[2] + b" "):
        with pytest.raises(ProofInvalid):
            verify_entry_proof(document, entry, log_signer.verifier_key)


def test_a_proof_without_the_required_witnesses_is_refused(
    log, document, log_signer, witness_signer
):
    keys = [witness_signer.verifier_key]
    with pytest.raises(Refused) as refused:
        verify_entry_proof(
            document, log.entries[2], log_signer.verifier_key, keys, quorum=1
        )
    assert refused.value.code == "log_unwitnessed"
