from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from registry.errors import Refused
from registry.records.attestation import Rescoring
from registry.records.record import parse_record, rescore_record
from registry.sites.identifier import make_ulid
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
AUDITOR = Signer(
    name="auditor.example", algorithm=NoteAlgorithm.ED25519, private=PRIVATE
)
RESCORING = Rescoring(
    auditor=format_vkey(AUDITOR.verifier_key),
    first_index=10,
    last_index=19,
    checked_count=4,
    mismatch_count=1,
)


REPORT = f"sha256:{'a' * 64}"


@pytest.mark.parametrize("report", [None, REPORT])
def test_an_attestation_survives_the_log(report):
    rescoring = replace(RESCORING, report=report).signed(PRIVATE)
    record = rescore_record(
        record_id=make_ulid(0, bytes(10)),
        at=datetime(2026, 11, 20, tzinfo=UTC),
        rescoring=rescoring,
    )
    logged = Rescoring.parse(parse_record(record.body))
    logged.verify()
    assert logged == rescoring


def test_the_signed_statement_is_as_documented():
    assert RESCORING.statement == (
        b'fair-registry/rescore/v1\n{"auditor":"' + RESCORING.auditor.encode() + b'",'
        b'"first":10,"last":19,"mismatches":1,"n":4}'
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"mismatch_count": 0},
        {"checked_count": 5},
        {"first_index": 11},
        {"last_index": 20},
        {"auditor": "auditor.example"},
        {"report": REPORT},
    ],
    ids=repr,
)
def test_an_edited_attestation_is_refused(changes):
    edited = replace(RESCORING.signed(PRIVATE), **changes)
    with pytest.raises(Refused):
        edited.verify()


def test_an_attestation_by_another_key_is_refused():
    other = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
    with pytest.raises(Refused) as refused:
        RESCORING.signed(other).verify()
    assert refused.value.code == "attestation_invalid"


@pytest.mark.parametrize("changes", [{"sig": "AA=="}, {"n": "4"}, {"first": None}])
def test_members_that_are_no_attestation_are_refused(changes):
    members = {**RESCORING.signed(PRIVATE).signed_members, **changes}
    with pytest.raises(Refused):
        Rescoring.parse(members)
