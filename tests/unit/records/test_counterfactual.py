from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec.structs import replace

from registry.errors import Refused
from registry.records.counterfactual import VALID_FOR, Inquiry
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
AUDITOR = Signer(
    name="auditor.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(bytes(32)),
)
INQUIRY = Inquiry(
    auditor=format_vkey(AUDITOR.verifier_key),
    audience="registry.example",
    issued_at=int(NOW.timestamp()),
    perturbation="name",
    sites=("0000000000001",),
    query="bread",
    filters={"requiresAuth": False},
)


def verify(inquiry, now=NOW, signed=None):
    sig = (signed or inquiry).signed(AUDITOR.private).sig
    replace(inquiry, sig=sig).verify_for("registry.example")
    inquiry.verify_question(now)


def test_what_is_signed_is_a_line_and_the_members_that_say_something():
    assert INQUIRY.statement == (
        b"fair-registry/counterfactual/v1\n"
        b'{"aud":"registry.example","auditor":"' + INQUIRY.auditor.encode() + b'",'
        b'"filters":{"requiresAuth":false},"iat":1795348800,"perturbation":"name",'
        b'"q":"bread","sites":["0000000000001"]}'
    )


@pytest.mark.parametrize("age", [-VALID_FOR, timedelta(), VALID_FOR])
def test_a_question_stands_for_ten_minutes_either_way(age):
    verify(INQUIRY, now=NOW + age)


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        pytest.param({"audience": "other.example"}, "/aud", id="of another log"),
        pytest.param({"issued_at": 0}, "/iat", id="long ago"),
        pytest.param({"query": None}, "/ranking", id="nothing asked"),
        pytest.param({"ranking": "0" * 26}, "/ranking", id="a ranking and a query"),
        pytest.param(
            {"ranking": "0" * 26, "query": None}, "/ranking", id="a ranking filtered"
        ),
    ],
)
def test_a_question_that_can_not_stand_is_refused(changes, pointer):
    with pytest.raises(Refused, match="counterfactual_invalid") as refused:
        verify(replace(INQUIRY, **changes))
    assert refused.value.problem.pointer == pointer


@pytest.mark.parametrize(
    "changes",
    [
        {"perturbation": "tier"},
        {"sites": ()},
        {"filters": {}},
        {"filters": {"requiresAuth": True}},
        {"cell": "u33d"},
        {"query": "bread "},
    ],
    ids=str,
)
def test_a_question_that_was_changed_is_refused(changes):
    with pytest.raises(Refused, match="counterfactual_invalid"):
        verify(replace(INQUIRY, **changes), signed=INQUIRY)
