import base64
import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.keys.dns_record import (
    WabRecord,
    choose_record,
    parse_pins,
    parse_wab_records,
)
from registry.identity.keys.private_keys import generate_private_key, public_key_of
from registry.sites.host import Host, parse_host
from tests.unit.identity.fixed_keys import fixed_key

KEY = public_key_of(fixed_key("Ed25519"))
PK = base64.b64encode(KEY.raw).decode()
ENDPOINT = "https://shop.example.com/agent-bridge.json"


def test_a_full_record_is_read() -> None:
    text = (
        f"v=wab1; endpoint={ENDPOINT}; pk=ed25519:{PK}; "
        f"fingerprint=sha256:{'AB' * 32}; capability_ttl=3600; status=paused;"
    )
    assert parse_wab_records([text]) == (
        WabRecord(
            version=1,
            endpoint=ENDPOINT,
            key=KEY,
            fingerprint="ab" * 32,
            capability_ttl_s=3600,
            status="paused",
        ),
    )


def test_a_path_may_stand_for_the_endpoint() -> None:
    (record,) = parse_wab_records(["v=wab1;path=/.well-known/wab.json;new=field"])
    assert record == WabRecord(version=1, path="/.well-known/wab.json")


@pytest.mark.parametrize("pk", [PK, PK.rstrip("="), base64url.encode(KEY.raw)])
def test_either_base64_is_read_in_pk(pk: str) -> None:
    (record,) = parse_wab_records([f"v=wab1; path=/; pk=ed25519:{pk}"])
    assert record.key == KEY


def test_the_highest_version_wins() -> None:
    texts = ["v=wab1; nonsense", f"v=wab2; endpoint={ENDPOINT}", "v=wab1; path=/"]
    assert [record.version for record in parse_wab_records(texts)] == [2]


def test_two_records_of_one_version_let_keys_overlap() -> None:
    assert len(parse_wab_records([f"v=wab1; path=/; pk=ed25519:{PK}"] * 2)) == 2


def test_other_records_are_passed_over() -> None:
    assert parse_wab_records([]) == ()
    assert parse_wab_records(["v=spf1 -all", "", ";;", "site-verification=x"]) == ()


APEX = parse_host("shop.test", test_hosts=True)
BELOW = parse_host("api.shop.test", test_hosts=True)


def chosen(*texts: str, host: Host = APEX) -> str:
    record = choose_record(parse_wab_records(texts), host)
    return f"{record.endpoint_on(host)} {record.status}" if record else "none"


def test_the_record_speaks_for_its_domain_whatever_it_names() -> None:
    assert chosen("v=wab1; path=/x.json") == "https://shop.test/x.json active"
    elsewhere = "https://cdn.example.com/x.json"
    assert chosen(f"v=wab1; endpoint={elsewhere}; path=/y") == f"{elsewhere} active"


def test_the_record_speaks_for_a_host_below_only_by_its_very_name() -> None:
    named = "https://API.shop.test/x.json"
    assert chosen(f"v=wab1; endpoint={named}", host=BELOW) == f"{named} active"
    for text in (
        "v=wab1; path=/x.json",
        "v=wab1; endpoint=https://shop.test/x.json",
        "v=wab1; endpoint=https://api.shop.test.evil.net/x.json",
        "v=wab1; endpoint=https://x.api.shop.test/x.json",
    ):
        assert chosen(text, host=BELOW) == "none"


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_of_several_records_the_most_active_is_followed_in_any_order(
    order: tuple[int, ...],
) -> None:
    texts = [
        "v=wab1; path=/a; status=paused",
        "v=wab1; path=/b; status=deprecated",
        "v=wab1; path=/d; status=active",
        "v=wab1; path=/c",
    ]
    assert chosen(*(texts[n] for n in order)) == "https://shop.test/c active"


def test_a_paused_record_still_holds_its_key() -> None:
    (record,) = parse_wab_records([f"v=wab1; path=/; pk=ed25519:{PK}; status=paused"])
    assert record.key == KEY


IDENTITY = base64.b64encode(b"\x01" + bytes(31)).decode()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"v=wab1;manifest={ENDPOINT};pk=ed25519:{PK}", "'manifest='"),
        (f"v=wab1; well-known={ENDPOINT}", "'well-known='"),
        (f"v=wab1; url={ENDPOINT}; version=1.0", "'url='"),
        (f"v=WAB1; url={ENDPOINT}; version=1.0", "lower case"),
        (f"v=WAB1; url={ENDPOINT}; version=1.0", "'url=' stands where 'endpoint='"),
        (f"v=wab1;manifest={ENDPOINT};pk=ed25519:{PK}", "where 'endpoint=' is needed"),
        (f"v=wab1; well-known={ENDPOINT}", "where 'endpoint=' is needed"),
        ("v=wab1; well-known=/.well-known/wab.json", "where 'path=' is needed"),
        ("v=wab1;manifest=/agent-bridge.json;pk=x", "where 'path=' is needed"),
        (f"v=wab; endpoint={ENDPOINT}", "begin with 'v=wab1'"),
        (f"endpoint={ENDPOINT}; v=wab1", "begin with 'v=wab1'"),
        ("v=wab1", "neither"),
        ("v=wab1; path=/; path=/x", "twice"),
        ("v=wab1; endpoint=http://shop.example.com/", "https"),
        ("v=wab1; path=agent.json", "path"),
        ("v=wab1; path=//evil.example.net\\", "path"),
        ("v=wab1; path=/; pk=", "ed25519:"),
        (f"v=wab1; path=/; pk={PK}", "ed25519:"),
        ("v=wab1; path=/; pk=ed25519:AAAA", "not encoded"),
        ("v=wab1; path=/; pk=ed25519:*", "outside"),
        (f"v=wab1; path=/; pk=ed25519:{IDENTITY}", "anybody can sign"),
        ("v=wab1; path=/; fingerprint=sha256:ab", "fingerprint"),
        ("v=wab1; path=/; capability_ttl=-1", "capability_ttl"),
        ("v=wab1; path=/; status=on", "status"),
    ],
)
def test_a_non_conforming_record_is_diagnosed(text: str, reason: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_wab_records([text])
    assert caught.value.code == "wab_record_malformed"
    assert reason in caught.value.problem.detail


def test_pins_are_read() -> None:
    other = public_key_of(generate_private_key("ES256"))
    texts = [f"v=ar1; kid={KEY.kid}", f"v=ar1;kid={other.kid};", "v=spf1 -all"]
    assert parse_pins(texts) == {KEY.kid, other.kid}
    assert parse_pins([]) == frozenset()


@pytest.mark.parametrize(
    "text",
    ["v=ar1", "v=ar1; kid=abc", f"v=AR1; kid={KEY.kid}", f"kid={KEY.kid}; v=ar1"],
)
def test_a_malformed_pin_is_refused_and_never_ignored(text: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_pins([f"v=ar1; kid={KEY.kid}", text])
    assert caught.value.code == "pin_record_malformed"


PARTS = st.sampled_from(
    ["v=wab1", "v=ar1", "v", "=", ";", "path=/", "pk=", "kid=", "é"]
)


@given(st.lists(st.lists(PARTS, max_size=5).map(";".join) | st.text(max_size=20)))
def test_any_records_are_read_or_refused(texts: list[str]) -> None:
    for parse in (parse_wab_records, parse_pins):
        with contextlib.suppress(Refused):
            parse(texts)
