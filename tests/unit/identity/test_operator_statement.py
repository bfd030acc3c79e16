"""What operators sign: parsed strictly, whatever comes."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.keys.private_keys import public_key_of
from registry.identity.statements.jws import (
    OPERATOR_TYP,
    parse_compact,
    sign_compact,
    verify_jws,
)
from registry.identity.statements.operator_statement import (
    MAX_NAME_LENGTH,
    Contact,
    OperatorStatement,
    parse_operator_statement,
)
from tests.unit.identity.fixed_keys import fixed_key

KEY = public_key_of(fixed_key("Ed25519", 1))
NEXT = public_key_of(fixed_key("ES256", 2))
CLAIMS = {"aud": "https://r.example", "sub": KEY.kid, "iat": 1, "exp": 601}
CONTACT = {"name": "Meridian", "contact": "mailto:ops@meridian.example"}
REGISTER = {**CLAIMS, "act": "register", "jwk": KEY.jwk, **CONTACT}


def parse(payload: dict[str, Any]) -> OperatorStatement:
    return parse_operator_statement(payload)


def test_registration_brings_the_key_and_what_is_said() -> None:
    parsed = parse({**REGISTER, "public": True, "api_key": True})
    assert (parsed.act, parsed.operator_id, parsed.key) == ("register", KEY.kid, KEY)
    assert parsed.contact == Contact(
        name=CONTACT["name"], contact=CONTACT["contact"], is_public=True
    )
    assert parsed.api_key is True


def test_rotation_brings_the_next_key() -> None:
    parsed = parse({**CLAIMS, "act": "rotate", "next_jwk": NEXT.jwk})
    assert (parsed.key, parsed.contact, parsed.api_key) == (NEXT, None, None)


@pytest.mark.parametrize("api_key", [True, False, None])
def test_update_may_be_about_the_api_key_alone(api_key: bool | None) -> None:
    payload = {**CLAIMS, "act": "update", "api_key": api_key}
    parsed = parse(
        {name: value for name, value in payload.items() if value is not None}
    )
    assert (parsed.contact, parsed.api_key) == (None, api_key)


@pytest.mark.parametrize("missing", ["name", "contact"])
def test_what_is_said_anew_is_said_whole(missing: str) -> None:
    contact = {name: value for name, value in CONTACT.items() if name != missing}
    with pytest.raises(Refused, match="payload_member_missing") as refused:
        parse({**CLAIMS, "act": "update", **contact, "public": True})
    assert refused.value.problem.pointer == f"/{missing}"


@pytest.mark.parametrize(
    ("act", "member"),
    [
        ("close", {"api_key": True}),
        ("close", {"name": "x"}),
        ("update", {"jwk": KEY.jwk}),
        ("update", {"next_jwk": NEXT.jwk}),
        ("rotate", {"name": "x"}),
        ("rotate", {"jwk": KEY.jwk}),
        ("register", {"next_jwk": NEXT.jwk}),
    ],
)
def test_member_belongs_to_its_act(act: str, member: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="operator_act_member_misplaced") as refused:
        parse({**CLAIMS, "act": act, **member})
    assert refused.value.problem.pointer == f"/{next(iter(member))}"


@pytest.mark.parametrize(
    "contact",
    [
        "mailto:ops@meridian.example",
        "mailto:agent.ops+registry@a-b.c.example",
        "https://meridian.example/contact",
        "https://meridian.example:8443/contact?to=ops",
    ],
)
def test_contact_is_an_address_or_a_page(contact: str) -> None:
    parsed = parse({**REGISTER, "contact": contact})
    assert parsed.contact is not None
    assert parsed.contact.contact == contact


@pytest.mark.parametrize(
    "contact",
    [
        pytest.param("", id="nothing"),
        pytest.param("ops@meridian.example", id="without a scheme"),
        pytest.param("http://meridian.example", id="not https"),
        pytest.param("mailto:ops", id="no host"),
        pytest.param("mailto:ops@localhost", id="no domain"),
        pytest.param("mailto:ops@meridian.example,other@x.example", id="two"),
        pytest.param("mailto:ops@meridian.example?subject=x", id="with fields"),
        pytest.param("mailto:%6Fps@meridian.example", id="escaped"),
        pytest.param("mailto:ops@meridian.example\r\nBcc: a@b.example", id="two lines"),
        pytest.param("javascript:alert(1)", id="script"),
        pytest.param("https://user:pass@meridian.example", id="credentials"),
        pytest.param("https://" + "a" * 3_000 + ".example", id="long"),
        pytest.param("mailto:" + "a" * 65 + "@meridian.example", id="long name"),
        pytest.param("mailto:a@" + "a." * 30_000 + "!", id="many labels"),
        pytest.param("data:text/html,x", id="data"),
        pytest.param("mailto:опс@meridian.example", id="not ASCII"),
    ],
)
def test_other_contacts_are_refused(contact: str) -> None:
    with pytest.raises(Refused, match="payload_member_invalid") as refused:
        parse({**REGISTER, "contact": contact})
    assert refused.value.problem.pointer == "/contact"


@pytest.mark.parametrize(
    "name", ["", " ", "a\nb", "a\x00", "x" * (MAX_NAME_LENGTH + 1), "\u202eevil"]
)
def test_name_is_one_printable_line(name: str) -> None:
    with pytest.raises(Refused, match="payload_member_invalid") as refused:
        parse({**REGISTER, "name": name})
    assert refused.value.problem.pointer == "/name"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from([*REGISTER, "public", "api_key", "next_jwk"]), _JSON
    )
)
def test_whatever_is_signed_is_parsed_or_refused(changed: dict[str, Any]) -> None:
    try:
        parse({**REGISTER, **changed})
    except Refused:
        return


def test_statement_of_a_site_is_not_one_of_an_operator() -> None:
    token = sign_compact(REGISTER, fixed_key("Ed25519", 1))
    with pytest.raises(Refused, match="typ_wrong"):
        parse_compact(token.encode(), typ=OPERATOR_TYP)


def test_key_in_the_payload_verifies_its_own_statement() -> None:
    token = sign_compact(REGISTER, fixed_key("Ed25519", 1), typ=OPERATOR_TYP)
    jws = parse_compact(token.encode(), typ=OPERATOR_TYP)
    key = parse(dict(jws.payload)).key
    assert key is not None
    verify_jws(jws, key)
