"""Promises and proofs of inclusion, checked without I/O."""

from registry.client.failures import ProofFailed
from registry.client.results import ProvenInclusion, RecordReceipt
from registry.errors import RegistryError
from registry.records.promise import parse_promise, verify_promise
from registry.tlog.note import parse_vkey
from registry.tlog.proof import parse_log_proof, verify_log_proof


def verify_receipt(receipt: RecordReceipt, promise_key: str) -> None:
    """Check the promise's signature over the leaf hash. Raises: ProofFailed."""
    promise = receipt.promise
    if promise is None:
        raise ProofFailed("the answer holds no promise; ask with detail=full")
    members = {
        "time": promise.time,
        "keyId": promise.key_id,
        "signature": promise.signature,
    }
    try:
        leaf, public = bytes.fromhex(receipt.leaf_hash), parse_vkey(promise_key).public
        verify_promise(parse_promise(members), leaf, public)
    except (RegistryError, ValueError) as error:
        raise ProofFailed(f"the promise does not hold: {error}") from error


def verify_inclusion_of(leaf_hash: str, proof: str, log_key: str) -> ProvenInclusion:
    """Check that the leaf stands below a checkpoint signed by the key.

    proof: a c2sp.org/tlog-proof@v1. Raises: ProofFailed.
    """
    try:
        parsed = parse_log_proof(proof.encode())
        key = parse_vkey(log_key)
        head = verify_log_proof(parsed, bytes.fromhex(leaf_hash), key)
    except (RegistryError, ValueError) as error:
        raise ProofFailed(f"the proof does not hold: {error}") from error
    return ProvenInclusion(
        leaf_index=parsed.index,
        tree_size=head.checkpoint.size,
        origin=head.checkpoint.origin,
    )
