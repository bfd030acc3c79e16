"""Against the vectors of RFC 9421 and of the draft of Web Bot Auth."""

from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.private_keys import public_key_of
from registry.identity.requests.message_signature import (
    Component,
    Message,
    sign_message,
    signature_base,
    verify_message,
)
from registry.identity.requests.structured_fields import Parameters
from registry.identity.requests.web_bot_auth import DIRECTORY_COVERED
from tests.unit.identity.fixed_keys import fixed_key

# RFC 9421, Appendix B.1.4: test-key-ed25519
KEY = Ed25519PrivateKey.from_private_bytes(
    base64url.decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")
)
KID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
CREATED, EXPIRES = 1735689600, 4889289600

AUTHORITY = Component("@authority")


def test_the_vector_of_rfc_9421() -> None:
    """Appendix B.2.6."""
    covered = [
        Component(name)
        for name in (
            *("date", "@method", "@path", "@authority"),
            *("content-type", "content-length"),
        )
    ]
    parameters: Parameters = {"created": 1618884473, "keyid": "test-key-ed25519"}
    message = Message(
        derived={"@method": "POST", "@path": "/foo", "@authority": "example.com"},
        fields={
            "date": "Tue, 20 Apr 2021 02:07:55 GMT",
            "content-type": "application/json",
            "content-length": "18",
        },
    )
    expected = (
        '("date" "@method" "@path" "@authority" "content-type" "content-length")'
        ';created=1618884473;keyid="test-key-ed25519"'
    )
    assert signature_base(message, covered, parameters).decode() == "\n".join(
        [
            '"date": Tue, 20 Apr 2021 02:07:55 GMT',
            '"@method": POST',
            '"@path": /foo',
            '"@authority": example.com',
            '"content-type": application/json',
            '"content-length": 18',
            f'"@signature-params": {expected}',
        ]
    )
    assert sign_message(
        message, label="sig-b26", covered=covered, parameters=parameters, key=KEY
    ) == {
        "Signature-Input": f"sig-b26={expected}",
        "Signature": "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9"
        "EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
    }


@pytest.mark.parametrize(
    ("agent", "key", "nonce", "expires", "signature"),
    [
        pytest.param(
            'agent2="https://signature-agent.test"',
            "agent2",
            "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQt"
            "FioQb6E1YsauiA==",
            EXPIRES,
            "RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZ"
            "ACSanGdhEwYCCg==",
            id="ietf-00, E.2.1",
        ),
        pytest.param(
            'sig2="https://signature-agent.test"',
            "sig2",
            "n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQt"
            "FioQb6E1YsauiA==",
            EXPIRES,
            "CGokAoY/FrPpyuzTe1Fb2kLTAH9Idw6qSFd1+D77r1firsMRCxeuLu5e6O+ek3zQgDMAzjiX"
            "tLVfqE00xnABCQ==",
            id="ietf-01 in the making, E.2.1",
        ),
        pytest.param(
            '"https://signature-agent.test"',
            None,
            "e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0q"
            "VkU0mEeLElW1qg==",
            CREATED + 3600,
            "jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuH"
            "xUi/5Syp3rLWBA==",
            id="the bare string, E.2.2",
        ),
    ],
)
def test_the_vectors_of_web_bot_auth(
    agent: str, key: str | None, nonce: str, expires: int, signature: str
) -> None:
    message = Message(
        derived={"@authority": "example.com"}, fields={"signature-agent": agent}
    )
    covered = (AUTHORITY, Component("signature-agent", key))
    signed = sign_message(
        message,
        label="sig2",
        covered=covered,
        parameters={
            "created": CREATED,
            "keyid": KID,
            "alg": "ed25519",
            "expires": expires,
            "nonce": nonce,
            "tag": "web-bot-auth",
        },
        key=KEY,
    )
    assert signed["Signature"] == f"sig2=:{signature}:"
    parameters = verify_message(
        _received(message, signed),
        tag="web-bot-auth",
        required=covered,
        key=public_key_of(KEY),
        now=CREATED,
    )
    assert parameters["nonce"] == nonce


def test_the_vector_of_a_signed_directory() -> None:
    """draft-ietf-webbotauth-httpsig-protocol-00, E.2.3."""
    digest = "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    message = Message(
        fields={"content-digest": digest},
        request=Message(derived={"@authority": "signature-agent.test"}),
    )
    signed = sign_message(
        message,
        label="binding",
        covered=DIRECTORY_COVERED,
        parameters={
            "created": CREATED,
            "expires": EXPIRES,
            "keyid": KID,
            "tag": "http-message-signatures-directory",
        },
        key=KEY,
    )
    assert signed == {
        "Signature-Input": 'binding=("@authority";req "content-digest")'
        f';created={CREATED};expires={EXPIRES};keyid="{KID}"'
        ';tag="http-message-signatures-directory"',
        "Signature": "binding=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9z"
        "qGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:",
    }


PARAMETERS: Parameters = {
    "created": 100,
    "expires": 160,
    "keyid": KID,
    "alg": "ed25519",
    "tag": "t",
}
MESSAGE = Message(derived={"@authority": "shop.test"}, fields={"a": "1", "b": "2"})


def _received(message: Message, signed: dict[str, str]) -> Message:
    fields = {name.lower(): value for name, value in signed.items()}
    return replace(message, fields={**message.fields, **fields})


def _verify(
    message: Message, *, now: int = 100, required: tuple[Component, ...] = (AUTHORITY,)
) -> None:
    verify_message(message, tag="t", required=required, key=public_key_of(KEY), now=now)


def _signed(*, label: str = "s", **changes: str | int | None) -> Message:
    """MESSAGE with a signature; None leaves a parameter out."""
    expected = {**PARAMETERS, **changes}
    parameters = {name: value for name, value in expected.items() if value is not None}
    signed = sign_message(
        MESSAGE,
        label=label,
        covered=(AUTHORITY, Component("a")),
        parameters=parameters,
        key=KEY,
    )
    return _received(MESSAGE, signed)


@pytest.mark.parametrize("now", [100, 159])
def test_a_signature_holds_from_its_creation_to_its_end(now: int) -> None:
    _verify(_signed(), now=now)


@pytest.mark.parametrize("now", [99, 160])
def test_a_signature_holds_at_no_other_time(now: int) -> None:
    with pytest.raises(Refused, match="valid from"):
        _verify(_signed(), now=now)


def test_a_signature_may_leave_its_algorithm_to_the_key() -> None:
    _verify(_signed(alg=None))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"created": None}, "missing"),
        ({"expires": None}, "missing"),
        ({"expires": "160"}, "missing"),
        ({"keyid": None}, "another key"),
        ({"keyid": KID[:-1] + "V"}, "another key"),
        ({"alg": "hmac-sha256"}, "algorithm"),
        ({"tag": None}, "0 signatures"),
        ({"tag": "u"}, "0 signatures"),
    ],
)
def test_a_signature_with_other_parameters_is_refused_though_it_was_made(
    changes: dict[str, str | int | None], expected: str
) -> None:
    with pytest.raises(Refused, match=expected) as refused:
        _verify(_signed(**changes))
    assert refused.value.code == "signature_invalid"


def test_a_field_that_is_covered_can_not_change_and_another_can() -> None:
    sound = _signed()
    _verify(replace(sound, fields={**sound.fields, "b": "3"}))
    with pytest.raises(Refused):
        _verify(replace(sound, fields={**sound.fields, "a": "3"}))


def test_a_signature_has_to_cover_what_is_asked() -> None:
    _verify(_signed(), required=(AUTHORITY, Component("a")))
    with pytest.raises(Refused, match='"b" is not covered'):
        _verify(_signed(), required=(AUTHORITY, Component("b")))
    with pytest.raises(Refused, match="is not covered"):
        _verify(_signed(), required=(Component("@authority", of_request=True),))


def test_a_request_and_its_response_are_not_mistaken_for_each_other() -> None:
    of_request = Component("@authority", of_request=True)
    with pytest.raises(ValueError, match="answers no request"):
        signature_base(MESSAGE, [of_request], {})
    answer = Message(request=MESSAGE)
    assert signature_base(answer, [of_request], {}).startswith(
        b'"@authority";req: shop.test\n'
    )
    with pytest.raises(ValueError, match="has no '@authority'"):
        signature_base(answer, [AUTHORITY], {})


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param({"signature-input": ""}, "no member", id="no input"),
        pytest.param({"signature": ""}, "no member", id="no signature"),
        pytest.param({"signature": "u=:YQ==:"}, "byte sequence", id="another label"),
        pytest.param({"signature": "s=:YQ==:"}, "1 bytes", id="a short signature"),
        pytest.param({"signature": 's="YQ=="'}, "byte sequence", id="a string"),
        pytest.param({"signature-input": 's="t"'}, "no list", id="input is no list"),
        pytest.param(
            {"signature-input": 's=("@authority" "@authority");X'},
            "covered twice",
            id="a component twice",
        ),
        pytest.param(
            {"signature-input": 's=("@authority" "c");X'}, "has no 'c'", id="not there"
        ),
        pytest.param(
            {"signature-input": 's=("@authority" "@method");X'},
            "has no '@method'",
            id="not derived",
        ),
        pytest.param(
            {"signature-input": 's=("@authority" "a";key="k");X'},
            "no member",
            id="a member of what is no dictionary",
        ),
        pytest.param(
            {"signature-input": 's=("@authority" "a";bs);X'},
            "not known",
            id="an unknown parameter",
        ),
        pytest.param(
            {"signature-input": 's=("@authority" "a";key=1);X'},
            "not known",
            id="a key that is a number",
        ),
        pytest.param(
            {"signature-input": 's=("@authority");X, u=("@authority");X'},
            "2 signatures",
            id="two with the tag",
        ),
    ],
)
def test_what_can_not_be_read_is_refused(fields: dict[str, str], expected: str) -> None:
    sound = _signed()
    parameters = sound.fields["signature-input"].partition(")")[2].removeprefix(";")
    changed = {name: text.replace("X", parameters) for name, text in fields.items()}
    with pytest.raises(Refused, match=expected) as refused:
        _verify(replace(sound, fields={**sound.fields, **changed}))
    assert refused.value.code == "signature_invalid"


@pytest.mark.parametrize("value", ["1\n2", "1\r", "\x00", "é", "\u2028"])
def test_a_value_that_could_pass_for_two_lines_is_not_signed(value: str) -> None:
    with pytest.raises(ValueError, match="printable"):
        signature_base(Message(fields={"a": value}), [Component("a")], {})


def test_a_key_of_the_other_kind_verifies_nothing_here() -> None:
    key = fixed_key("ES256")
    signed = sign_message(
        MESSAGE,
        label="s",
        covered=(AUTHORITY,),
        parameters={**PARAMETERS, "keyid": public_key_of(key).kid, "alg": "ed25519"},
        key=key,
    )
    with pytest.raises(Refused, match="algorithm"):
        verify_message(
            _received(MESSAGE, signed),
            tag="t",
            required=(),
            key=public_key_of(key),
            now=100,
        )
