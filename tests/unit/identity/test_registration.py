import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Conflict, Refused, RegistryError
from registry.identity.statements.registration import (
    MAX_DOCUMENTS,
    DocumentClaim,
    parse_statement,
    verify_sequence,
    verify_statement,
)
from registry.strict_json import JsonValue

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
IAT = int(NOW.timestamp())
AUDIENCE = "https://registry.example"
KID = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
PAYLOAD: dict[str, JsonValue] = {
    "aud": AUDIENCE,
    "sub": "shop.example.com",
    "iat": IAT,
    "exp": IAT + 600,
    "jti": "A" * 43,
    "seq": 1,
    "act": "register",
    "docs": [{"url": "https://shop.example.com/agent.json", "sha256": "0" * 64}],
    "category": "books",
}
BARE: dict[str, JsonValue] = {
    name: value for name, value in PAYLOAD.items() if name not in {"docs", "category"}
}
STATEMENT = parse_statement(PAYLOAD)


def refusal_of(payload: dict[str, JsonValue]) -> tuple[str, str | None]:
    with pytest.raises(Refused) as caught:
        parse_statement(payload)
    return caught.value.code, caught.value.problem.pointer


def test_a_statement_is_read() -> None:
    assert STATEMENT.host.name == "shop.example.com"
    assert STATEMENT.host.registrable_domain == "example.com"
    assert STATEMENT.issued_at == NOW
    assert STATEMENT.expires_at == NOW + timedelta(minutes=10)
    assert STATEMENT.documents == (
        DocumentClaim(url="https://shop.example.com/agent.json", sha256="0" * 64),
    )
    assert STATEMENT.declarations.category == "books"


def test_documents_may_be_left_to_the_well_known_places() -> None:
    assert parse_statement(BARE).documents == ()
    assert parse_statement({**BARE, "docs": []}).documents == ()


def test_a_document_need_not_state_its_hash() -> None:
    payload: dict[str, JsonValue] = {
        **PAYLOAD,
        "docs": [{"url": "https://cdn.example.net/a.json"}],
    }
    assert parse_statement(payload).documents[0].sha256 is None


def test_members_that_no_act_knows_are_ignored() -> None:
    assert parse_statement({**PAYLOAD, "name": "My shop", "x": {}}) == STATEMENT


def test_rotation_names_the_next_key() -> None:
    statement = parse_statement({**BARE, "act": "rotate", "next_kid": KID})
    assert (statement.next_kid, statement.revoked_kid) == (KID, None)


def test_revocation_names_the_revoked_key() -> None:
    statement = parse_statement({**BARE, "act": "revoke", "revoked_kid": KID})
    assert (statement.next_kid, statement.revoked_kid) == (None, KID)


def test_withdrawal_needs_nothing_more() -> None:
    assert parse_statement({**BARE, "act": "withdraw"}).act == "withdraw"


@pytest.mark.parametrize(
    ("act", "member", "value"),
    [
        ("rotate", "docs", [{"url": "https://shop.example.com/a.json"}]),
        ("revoke", "category", "books"),
        ("withdraw", "docs", {}),
        ("withdraw", "next_kid", KID),
        ("register", "next_kid", KID),
        ("update", "revoked_kid", KID),
        ("rotate", "revoked_kid", KID),
    ],
)
def test_a_member_of_another_act_is_refused(
    act: str, member: str, value: JsonValue
) -> None:
    code = refusal_of({**BARE, "act": act, member: value})
    assert code == ("act_member_misplaced", f"/{member}")


@pytest.mark.parametrize(
    "members",
    [
        {"act": "rotate", "next_kid": KID},
        {"act": "revoke", "revoked_kid": KID},
        {"act": "withdraw"},
    ],
)
def test_payload_of_a_challenge_serves_every_act(members: dict[str, JsonValue]) -> None:
    statement = parse_statement({**BARE, "docs": [], **members})
    assert (statement.act, statement.documents) == (members["act"], ())


@pytest.mark.parametrize("name", ["aud", "sub", "iat", "exp", "jti", "seq", "act"])
def test_a_missing_member_is_refused(name: str) -> None:
    payload = {key: value for key, value in PAYLOAD.items() if key != name}
    assert refusal_of(payload) == ("payload_member_missing", f"/{name}")


@pytest.mark.parametrize(
    ("act", "name"), [("rotate", "next_kid"), ("revoke", "revoked_kid")]
)
def test_acts_on_keys_must_name_the_key(act: str, name: str) -> None:
    payload: dict[str, JsonValue] = {**BARE, "act": act}
    assert refusal_of(payload) == ("payload_member_missing", f"/{name}")
    payload[name] = "key-1"
    assert refusal_of(payload) == ("payload_member_invalid", f"/{name}")


URL = "https://shop.example.com/"
INVALID: list[tuple[str, JsonValue, str, str]] = [
    ("aud", [AUDIENCE], "payload_member_invalid", "/aud"),
    ("sub", 7, "payload_member_invalid", "/sub"),
    ("sub", "co.uk", "public_suffix", "/sub"),
    ("sub", "com", "public_suffix", "/sub"),
    ("sub", "127.0.0.1", "ip_literal", "/sub"),
    ("sub", "shop.test", "special_tld", "/sub"),
    ("sub", "Shop.example.com", "sub_spelling", "/sub"),
    ("sub", "bücher.example.com", "sub_spelling", "/sub"),
    ("act", "delete", "act_unknown", "/act"),
    ("act", True, "payload_member_invalid", "/act"),
    ("iat", True, "payload_member_invalid", "/iat"),
    ("iat", "1", "payload_member_invalid", "/iat"),
    ("iat", 1.5, "payload_member_invalid", "/iat"),
    ("iat", -1, "payload_member_invalid", "/iat"),
    ("exp", 2**53 - 1, "payload_member_invalid", "/exp"),
    ("jti", "", "payload_member_invalid", "/jti"),
    ("jti", "A" * 22, "payload_member_invalid", "/jti"),
    ("jti", "A" * 42 + "B", "payload_member_invalid", "/jti"),
    ("seq", True, "payload_member_invalid", "/seq"),
    ("seq", -1, "payload_member_invalid", "/seq"),
    ("seq", 1.0, "payload_member_invalid", "/seq"),
    ("seq", 2**53, "payload_member_invalid", "/seq"),
    ("docs", {}, "payload_member_invalid", "/docs"),
    ("docs", None, "payload_member_invalid", "/docs"),
    ("docs", [URL], "payload_member_invalid", "/docs/0"),
    ("docs", [{}], "payload_member_missing", "/docs/0/url"),
    ("docs", [{"url": 7}], "payload_member_invalid", "/docs/0/url"),
    (
        "docs",
        [{"url": f"{URL}{index}"} for index in range(MAX_DOCUMENTS + 1)],
        "payload_member_invalid",
        "/docs",
    ),
    (
        "docs",
        [{"url": URL}, {"url": URL}],
        "payload_member_invalid",
        "/docs/1/url",
    ),
    (
        "docs",
        [{"url": URL, "sha256": "A" * 64}],
        "payload_member_invalid",
        "/docs/0/sha256",
    ),
    (
        "docs",
        [{"url": URL, "sha256": None}],
        "payload_member_invalid",
        "/docs/0/sha256",
    ),
]


@pytest.mark.parametrize(
    ("name", "value", "code", "pointer"), INVALID, ids=lambda value: str(value)[:40]
)
def test_a_member_of_wrong_form_is_refused(
    name: str, value: JsonValue, code: str, pointer: str
) -> None:
    assert refusal_of({**PAYLOAD, name: value}) == (code, pointer)


@pytest.mark.parametrize(
    "url",
    [
        "http://shop.example.com/",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://localhost/",
        "https://[::1]/",
        "https://user:password@shop.example.com/",
        "https://shop.example.com\\@evil.example.net/",
        "https://shop.example.com/#fragment",
        "https://shop.example.com/a b",
        "https://shop.example.com/\n",
        "https://shop.example.com:0/",
        "https://shop.example.com:65536/",
        "https://shop.example.com:/",
        "https://bücher.example.com/",
        "//shop.example.com/",
        URL + "a" * 2048,
    ],
)
def test_a_document_needs_a_plain_https_url(url: str) -> None:
    payload: dict[str, JsonValue] = {**PAYLOAD, "docs": [{"url": url}]}
    assert refusal_of(payload) == ("payload_member_invalid", "/docs/0/url")


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example.com",
        "HTTPS://Shop.Example.com/A",
        "https://shop.example.com:8443/agent.json?v=1&x=[a]",
        "https://xn--bcher-kva.example/%7Euser/@scope/(a)!$'*+,;=",
    ],
)
def test_ordinary_https_urls_are_accepted(url: str) -> None:
    payload: dict[str, JsonValue] = {**PAYLOAD, "docs": [{"url": url}]}
    assert parse_statement(payload).documents[0].url == url


def test_hosts_for_tests_need_the_switch() -> None:
    payload: dict[str, JsonValue] = {**PAYLOAD, "sub": "shop.test"}
    assert parse_statement(payload, test_hosts=True).host.name == "shop.test"


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8)


@given(
    st.dictionaries(
        st.sampled_from([*PAYLOAD, "location", "next_kid", "size"]),
        SCALARS | st.lists(SCALARS, max_size=2),
        max_size=3,
    )
)
def test_any_payload_is_read_or_refused(changes: dict[str, JsonValue]) -> None:
    with contextlib.suppress(Refused):
        parse_statement({**PAYLOAD, **changes})


# Time, audience and sequence


def verification_code(**changes: datetime | str) -> str:
    with pytest.raises(Refused) as caught:
        verify_statement(
            replace(STATEMENT, **changes),  # type: ignore[arg-type]
            audience=AUDIENCE,
            now=NOW,
        )
    return caught.value.code


def test_a_fresh_statement_verifies() -> None:
    assert verify_statement(STATEMENT, audience=AUDIENCE, now=NOW) is STATEMENT


@pytest.mark.parametrize(
    "audience", ["https://registry.example/", "https://other.example", "", "registry"]
)
def test_a_statement_for_another_registry_is_refused(audience: str) -> None:
    assert verification_code(audience=audience) == "aud_wrong"


@pytest.mark.parametrize("seconds", [0, -1, 601, 10**9])
def test_the_lifetime_is_positive_and_at_most_ten_minutes(seconds: int) -> None:
    expires_at = NOW + timedelta(seconds=seconds)
    assert verification_code(expires_at=expires_at) == "lifetime_invalid"


@pytest.mark.parametrize(
    ("now_offset_s", "code"),
    [
        (-61, "statement_from_future"),
        (660, "statement_expired"),
        (10**6, "statement_expired"),
    ],
)
def test_more_than_a_minute_of_clock_difference_is_refused(
    now_offset_s: int, code: str
) -> None:
    now = NOW + timedelta(seconds=now_offset_s)
    with pytest.raises(Refused) as caught:
        verify_statement(STATEMENT, audience=AUDIENCE, now=now)
    assert caught.value.code == code


@pytest.mark.parametrize("now_offset_s", [-60, 0, 659])
def test_a_minute_of_clock_difference_is_allowed(now_offset_s: int) -> None:
    now = NOW + timedelta(seconds=now_offset_s)
    assert verify_statement(STATEMENT, audience=AUDIENCE, now=now) is STATEMENT


def test_times_at_the_end_of_the_calendar_are_refused_not_raised() -> None:
    end: dict[str, JsonValue] = {**PAYLOAD, "iat": 253402214399, "exp": 253402214400}
    with pytest.raises(Refused) as caught:
        verify_statement(parse_statement(end), audience=AUDIENCE, now=NOW)
    assert caught.value.code == "statement_from_future"


@pytest.mark.parametrize("last_seq", [1, 2, 2**53 - 1])
def test_a_seq_that_does_not_increase_is_refused(last_seq: int) -> None:
    with pytest.raises(Conflict) as caught:
        verify_sequence(STATEMENT, last_seq=last_seq, now=NOW)
    assert caught.value.code == "seq_not_increasing"


@pytest.mark.parametrize("last_seq", [None, 0])
def test_a_higher_seq_verifies(last_seq: int | None) -> None:
    assert verify_sequence(STATEMENT, last_seq=last_seq, now=NOW) is STATEMENT


IN_A_DAY_MS = int((NOW + timedelta(days=1)).timestamp() * 1000)


@pytest.mark.parametrize(
    ("seq", "last_seq"),
    [
        (1_000_001, 1),
        (IN_A_DAY_MS, None),
        (IN_A_DAY_MS, 7),
        (IN_A_DAY_MS + 1_000_000, IN_A_DAY_MS),
    ],
)
def test_a_seq_may_count_statements_or_milliseconds(
    seq: int, last_seq: int | None
) -> None:
    statement = replace(STATEMENT, seq=seq)
    assert verify_sequence(statement, last_seq=last_seq, now=NOW) is statement


@pytest.mark.parametrize(
    ("seq", "last_seq"),
    [
        (2**53 - 1, None),
        (2**53 - 1, 1),
        (IN_A_DAY_MS + 1, None),
        (IN_A_DAY_MS + 1, 7),
        (IN_A_DAY_MS + 1_000_001, IN_A_DAY_MS),
    ],
)
def test_a_seq_that_would_use_up_the_later_ones_is_refused(
    seq: int, last_seq: int | None
) -> None:
    with pytest.raises(Refused) as caught:
        verify_sequence(replace(STATEMENT, seq=seq), last_seq=last_seq, now=NOW)
    assert caught.value.code == "seq_out_of_reach"


def test_every_refusal_tells_the_way_out() -> None:
    for name, value, _, _ in INVALID:
        with pytest.raises(RegistryError) as caught:
            parse_statement({**PAYLOAD, name: value})
        assert caught.value.problem.fix
