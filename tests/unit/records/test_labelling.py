"""An auditor's label, signed, on record and read back."""

from datetime import UTC, date, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from registry.errors import Refused
from registry.identity import base64url
from registry.records.canonical import canonical_json
from registry.records.labelling import Labelling, digest_source
from registry.records.record import label_record, parse_record
from registry.sites.identifier import format_site_id, make_ulid
from registry.sites.label import Label
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

PRIVATE = Ed25519PrivateKey.from_private_bytes(bytes(32))
AUDITOR = Signer(
    name="auditor.example", algorithm=NoteAlgorithm.ED25519, private=PRIVATE
)
SOURCE = "https://business-register.example/entries/7"
LABELLING = Labelling(
    auditor=format_vkey(AUDITOR.verifier_key),
    site_id=format_site_id(7),
    label=Label(
        size="large",
        independence="chain",
        chain="alder.example",
        commission_percent=12.5,
    ),
    observed_on=date(2026, 11, 20),
    stated_at=datetime(2026, 11, 21, 9, tzinfo=UTC),
    source_digest=digest_source(SOURCE),
)


def logged(labelling: Labelling = LABELLING) -> bytes:
    return label_record(
        record_id=make_ulid(0, bytes(10)),
        at=datetime(2026, 11, 21, 9, tzinfo=UTC),
        labelling=labelling.signed(PRIVATE),
    ).body


@pytest.mark.parametrize(
    "label", [LABELLING.label, Label(), Label(commission_percent=0.0)]
)
def test_a_label_survives_the_log(label: Label) -> None:
    changed = replace(LABELLING, label=label)
    parsed = Labelling.parse(parse_record(logged(changed)))
    parsed.verify()
    assert parsed == changed.signed(PRIVATE)


def test_the_source_is_on_record_by_its_digest_only() -> None:
    assert b"business-register" not in logged()


def test_the_signed_statement_is_as_documented() -> None:
    assert LABELLING.statement == (
        b'fair-registry/label/v1\n{"auditor":"' + LABELLING.auditor.encode() + b'",'
        b'"chain":"alder.example","commission":"12.5%","iat":1795251600,'
        b'"independence":"chain","observed":"2026-11-20","site":"0000000000007",'
        b'"size":"large","source":"' + LABELLING.source_digest.encode() + b'"}'
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"label": Label(size="micro")},
        {"site_id": format_site_id(8)},
        {"observed_on": date(2026, 11, 19)},
        {"stated_at": datetime(2026, 11, 21, 10, tzinfo=UTC)},
        {"source_digest": digest_source("hearsay")},
        {"auditor": "auditor.example"},
    ],
    ids=str,
)
def test_an_edited_label_is_refused(changes: dict[str, Any]) -> None:
    edited = replace(LABELLING.signed(PRIVATE), **changes)
    with pytest.raises(Refused):
        edited.verify()


def test_a_label_by_another_key_is_refused() -> None:
    other = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
    with pytest.raises(Refused) as refused:
        LABELLING.signed(other).verify()
    assert refused.value.code == "label_invalid"


@pytest.mark.parametrize(
    "changes",
    [
        {"sig": "AA=="},
        {"iat": "1"},
        {"iat": -1},
        {"iat": 10**12},
        {"iat": True},
        {"observed": "2026-13-01"},
        {"observed": "yesterday"},
        {"size": "huge"},
        {"size": 1},
        {"independence": "mostly"},
        {"independence": "independent"},
        {"chain": "Jane Doe"},
        {"chain": ""},
        {"commission": "5"},
        {"commission": ""},
        {"commission": 5},
        {"auditor": None},
        {"site": ["x"]},
    ],
    ids=str,
)
def test_members_that_are_no_label_are_refused(changes: dict[str, Any]) -> None:
    members = {**LABELLING.members, "sig": base64url.encode(bytes(64)), **changes}
    with pytest.raises(Refused) as refused:
        Labelling.parse(members)
    assert refused.value.code == "label_invalid"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("size", "huge"),
        ("independence", "mostly"),
        ("chain", "Jane Doe"),
        ("commission", "5.0%"),
        ("observed", "today"),
        ("source", "https://business-register.example/"),
        ("site", "7"),
        ("iat", -1),
        ("sig", "A"),
    ],
)
def test_no_such_label_record_is_read(member: str, value: object) -> None:
    text = logged()
    whole = dict(parse_record(text))
    whole[member] = value  # type: ignore[assignment]
    with pytest.raises(Refused) as refused:
        parse_record(canonical_json(whole))
    assert refused.value.problem.pointer == f"/{member}"


def test_record_of_an_independent_site_of_a_chain_is_refused() -> None:
    whole = {**parse_record(logged()), "independence": "independent"}
    with pytest.raises(Refused) as refused:
        parse_record(canonical_json(whole))
    assert refused.value.problem.pointer == "/chain"
