"""POST /v1/attestations, from outside."""

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.records.attestation import Rescoring
from registry.records.record import rescore_record
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.api.expect import Json
from tests.api.running import AUDITOR, RunningRegistry
from tests.db.scene import NOON

STRANGER = Signer(
    name="stranger.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"s" * 32),
)


def body(signer: Signer = STRANGER, audience: str | None = "registry.test") -> Json:
    """As an auditor would send it; of the stranger's the registry does not know."""
    rescoring = Rescoring(
        auditor=format_vkey(signer.verifier_key),
        audience=audience,
        first_index=0,
        last_index=0,
        checked_count=0,
        mismatch_count=0,
    )
    signed = rescoring.signed(signer.private)
    rescore_record(record_id="0" * 26, at=NOON, rescoring=signed)
    return signed.signed_members


def test_stranger_is_told_how_to_become_known(http: httpx.Client) -> None:
    refused = http.post("/v1/attestations", json=body())
    assert refused.status_code == 403
    problem = refused.json()
    assert problem["code"] == "auditor_unknown"
    assert problem["pointer"] == "/auditor"


def test_no_attestation_for_another_registry_is_put_on_record(
    registry: RunningRegistry,
) -> None:
    """Whoever read it in another log could tell here that all came out right."""
    http = registry.http
    for other in ("other.example", registry.origin, None):
        refused = http.post("/v1/attestations", json=body(AUDITOR, other))
        assert refused.status_code == 400
        code = "attestation_invalid" if other else "body_invalid"
        assert (refused.json()["code"], refused.json()["pointer"]) == (code, "/aud")
    answer = http.post(
        "/v1/attestations", json=body(AUDITOR, registry.settings.log_origin)
    )
    assert answer.status_code == 201, answer.text


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
