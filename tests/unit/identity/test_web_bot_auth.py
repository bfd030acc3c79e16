import base64
import hashlib
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.private_keys import public_key_of
from registry.identity.requests.message_signature import Message, verify_message
from registry.identity.requests.structured_fields import Parameters, parse_dictionary
from registry.identity.requests.web_bot_auth import (
    DIRECTORY_COVERED,
    DIRECTORY_LIFETIME_S,
    DIRECTORY_PATH,
    DIRECTORY_TAG,
    REQUEST_LIFETIME_S,
    REQUEST_TAG,
    Draft,
    SignatureAgent,
    authority_of,
)
from tests.unit.identity.fixed_keys import fixed_key

ORIGIN = "https://registry.example"
KEY = fixed_key("Ed25519", "bot")
AGENTS = {draft: SignatureAgent(origin=ORIGIN, key=KEY, draft=draft) for draft in Draft}
(PUBLISHED,) = parse_jwks(AGENTS[Draft.IETF_00].directory)
NONCE = bytes(range(64))
NOW = 1_800_000_000

printable = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=60)
drafts = st.sampled_from(Draft)


def verify(
    headers: dict[str, str],
    authority: str,
    draft: Draft = Draft.IETF_00,
    *,
    now: int = NOW,
) -> Parameters:
    """As a site does that has read the directory. Raises: Refused."""
    return verify_message(
        Message(
            derived={"@authority": authority},
            fields={name.lower(): value for name, value in headers.items()},
        ),
        tag=REQUEST_TAG,
        required=AGENTS[draft].covered,
        key=PUBLISHED,
        now=now,
    )


@given(printable, drafts, st.integers(0, 10**12), st.binary(min_size=64, max_size=64))
def test_what_is_signed_verifies_with_the_key_of_the_directory(
    authority: str, draft: Draft, now: int, nonce: bytes
) -> None:
    headers = AGENTS[draft].sign_request(authority, now=now, nonce=nonce)
    parameters = verify(headers, authority, draft, now=now)
    assert parameters == {
        "created": now,
        "expires": now + REQUEST_LIFETIME_S,
        "keyid": public_key_of(KEY).kid,
        "alg": "ed25519",
        "nonce": base64url.encode(nonce),
        "tag": "web-bot-auth",
    }


@given(printable, printable, drafts)
def test_a_signature_for_one_host_says_nothing_to_another(
    signed_for: str, requested: str, draft: Draft
) -> None:
    headers = AGENTS[draft].sign_request(signed_for, now=NOW, nonce=NONCE)
    if signed_for == requested:
        requested += "x"
    with pytest.raises(Refused):
        verify(headers, requested, draft)


@given(st.data(), drafts)
def test_whatever_character_is_changed_nothing_verifies(
    data: st.DataObject, draft: Draft
) -> None:
    headers = AGENTS[draft].sign_request("shop.test", now=NOW, nonce=NONCE)
    name = data.draw(st.sampled_from(sorted(headers)))
    at = data.draw(st.integers(0, len(headers[name]) - 1))
    other = data.draw(st.characters(max_codepoint=0xFF))
    changed = headers[name][:at] + other + headers[name][at + 1 :]
    if changed == headers[name]:
        return
    with pytest.raises(Refused) as refused:
        verify({**headers, name: changed}, "shop.test", draft)
    assert refused.value.code == "signature_invalid"


@given(st.data(), drafts)
def test_whatever_is_left_out_nothing_verifies(
    data: st.DataObject, draft: Draft
) -> None:
    headers = AGENTS[draft].sign_request("shop.test", now=NOW, nonce=NONCE)
    name = data.draw(st.sampled_from(sorted(headers)))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(headers[name]))] * 2)))
    if start == end:
        return
    changed = headers[name][:start] + headers[name][end:]
    with pytest.raises(Refused):
        verify({**headers, name: changed}, "shop.test", draft)


def test_a_signature_of_another_key_is_refused() -> None:
    stranger = SignatureAgent(origin=ORIGIN, key=fixed_key("Ed25519", "stranger"))
    headers = stranger.sign_request("shop.test", now=NOW, nonce=NONCE)
    with pytest.raises(Refused, match="another key"):
        verify(headers, "shop.test")


def test_a_signature_holds_for_a_minute() -> None:
    headers = AGENTS[Draft.IETF_00].sign_request("shop.test", now=NOW, nonce=NONCE)
    verify(headers, "shop.test", now=NOW + 59)
    with pytest.raises(Refused):
        verify(headers, "shop.test", now=NOW + 60)


@pytest.mark.parametrize(
    ("draft", "agent", "covered"),
    [
        ("meunier-03", f'"{ORIGIN}"', '("@authority" "signature-agent")'),
        (
            "ietf-00",
            f'sig1="{ORIGIN}"',
            '("@authority" "signature-agent";key="sig1")',
        ),
        (
            "ietf-01",
            f'sig1="{ORIGIN}{DIRECTORY_PATH}"',
            '("@authority" "signature-agent";key="sig1")',
        ),
    ],
)
def test_each_draft_names_the_directory_in_its_way(
    draft: str, agent: str, covered: str
) -> None:
    headers = AGENTS[Draft(draft)].sign_request("shop.test", now=NOW, nonce=NONCE)
    assert headers["Signature-Agent"] == agent
    assert headers["Signature-Input"].startswith(f"sig1={covered};created={NOW};")


def test_the_directory_is_the_one_of_the_drafts_vector() -> None:
    """draft-ietf-webbotauth-httpsig-protocol-00, E.2.3, with the key of RFC 9421."""
    secret = base64url.decode("n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU")
    key = Ed25519PrivateKey.from_private_bytes(secret)
    agent = SignatureAgent(origin="https://signature-agent.test", key=key)
    assert agent.sign_directory(now=NOW)["Content-Digest"] == (
        "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:"
    )
    assert json.loads(agent.directory)["keys"][0] == {
        "kty": "OKP",
        "crv": "Ed25519",
        "kid": "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
        "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
        "use": "sig",
    }


def test_the_directory_proves_that_its_server_has_the_key() -> None:
    agent = AGENTS[Draft.IETF_00]
    headers = agent.sign_directory(now=NOW)
    digest = parse_dictionary(headers["Content-Digest"])["sha-256"]
    assert base64.b64decode(digest.strip(":")) == (
        hashlib.sha256(agent.directory).digest()
    )
    parameters = _verify_directory(headers, "registry.example")
    assert parameters["expires"] == NOW + DIRECTORY_LIFETIME_S
    with pytest.raises(Refused):
        _verify_directory(headers, "elsewhere.example")
    with pytest.raises(Refused):
        _verify_directory({**headers, "Content-Digest": "sha-256=:AAAA:"})


def _verify_directory(
    headers: dict[str, str], authority: str = "registry.example"
) -> Parameters:
    return verify_message(
        Message(
            fields={name.lower(): value for name, value in headers.items()},
            request=Message(derived={"@authority": authority}),
        ),
        tag=DIRECTORY_TAG,
        required=DIRECTORY_COVERED,
        key=public_key_of(KEY),
        now=NOW,
    )


@pytest.mark.parametrize(
    ("origin", "authority"),
    [
        ("https://registry.example", "registry.example"),
        ("https://Registry.Example", "registry.example"),
        ("https://registry.example:443", "registry.example"),
        ("https://registry.example:8443", "registry.example:8443"),
        ("https://[::1]:443", "[::1]"),
    ],
)
def test_an_authority_has_one_spelling(origin: str, authority: str) -> None:
    assert authority_of(origin) == authority
