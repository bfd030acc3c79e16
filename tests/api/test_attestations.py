"""POST /v1/attestations, from outside."""

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.records.attestation import Rescoring
from registry.records.record import rescore_record
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.api.expect import Json
from tests.db.scene import NOON

STRANGER = Signer(
    name="stranger.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"s" * 32),
)


def body() -> Json:
    """As an auditor whom the registry does not know would send it."""
    rescoring = Rescoring(
        auditor=format_vkey(STRANGER.verifier_key),
        first_index=0,
        last_index=0,
        checked_count=0,
        mismatch_count=0,
    )
    signed = rescoring.signed(STRANGER.private)
    rescore_record(record_id="0" * 26, at=NOON, rescoring=signed)
    return signed.signed_members


def test_stranger_is_told_how_to_become_known(http: httpx.Client) -> None:
    refused = http.post("/v1/attestations", json=body())
    assert refused.status_code == 403
    problem = refused.json()
    assert problem["code"] == "auditor_unknown"
    assert problem["pointer"] == "/auditor"


@pytest.mark.parametrize(
    "change",
    [
        {"n": -1},
        {"last": 2**53},
        {"first": "0"},
        {"sig": "A" * 85},
        {"auditor": "x" * 257},
        {"report": "sha256:no"},
        {"more": 1},
    ],
    ids=str,
)
def test_malformed_attestation_is_refused(http: httpx.Client, change: Json) -> None:
    refused = http.post("/v1/attestations", json={**body(), **change})
    assert refused.status_code == 400
