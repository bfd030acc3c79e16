import contextlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.strict_members import (
    MAX_BYTES,
    MAX_DEPTH,
    optional,
    parse_object,
    require,
)

HOSTILE = {
    b"": "jose_json_malformed",
    b"[]": "jose_json_malformed",
    b"null": "jose_json_malformed",
    b"{} {}": "jose_json_malformed",
    b"{'a':1}": "jose_json_malformed",
    b'{"a":1,}': "jose_json_malformed",
    b'{"a":NaN}': "jose_json_malformed",
    b'{"a":-Infinity}': "jose_json_malformed",
    b'{"a":1e400}': "jose_json_malformed",
    b'{"a":1e16}': "jose_json_malformed",
    b'{"a":9007199254740992}': "jose_json_malformed",
    b'{"a":' + b"9" * 5000 + b"}": "jose_json_malformed",
    b'{"a":"\\ud800"}': "jose_json_malformed",
    b'{"\\udfff":1}': "jose_json_malformed",
    b'{"a":["\\u0000"]}': "jose_json_malformed",
    b'{"a":"\n"}': "jose_json_malformed",
    b'{"a":"\xff"}': "jose_json_malformed",
    b'{"a":1,"a":1}': "jose_json_duplicate_member",
    b'{"b":{"a":1,"\\u0061":2}}': "jose_json_duplicate_member",
    b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}": "jose_json_too_deep",
    b"[" * 60_000: "jose_json_too_deep",
    b'{"a":"' + b'\\"' * 30_000: "jose_json_malformed",
    b'{"a":"' + b"a" * MAX_BYTES + b'"}': "jose_json_too_large",
}


@pytest.mark.parametrize(("body", "code"), HOSTILE.items(), ids=range(len(HOSTILE)))
def test_ambiguous_or_abusive_json_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_object(body, "payload")
    assert caught.value.code == code


def test_brackets_in_strings_do_not_count_as_depth() -> None:
    members = {"a": '[[[[{{{{[[[["[[[[', "b\\": "{" * 50}
    assert parse_object(json.dumps(members).encode(), "payload") == members


def test_a_byte_order_mark_is_tolerated() -> None:
    assert parse_object(b'\xef\xbb\xbf{"a":1}', "payload") == {"a": 1}


def test_an_html_page_is_told_to_be_one() -> None:
    with pytest.raises(Refused, match="HTML page"):
        parse_object(b"\n<!doctype html><html></html>", "key set")


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=3,
)


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=3))
def test_sound_objects_come_back_as_written(members: dict[str, object]) -> None:
    assert parse_object(json.dumps(members).encode(), "payload") == members


@settings(max_examples=40, deadline=None)
@given(
    st.binary(max_size=60) | st.text('{}[]",:\\u01aeE.-', max_size=30).map(str.encode)
)
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(Refused):
        parse_object(body, "payload")


@pytest.mark.parametrize("value", [True, 1.0, "1", None, [], {}])
def test_only_a_whole_number_is_a_number(value: object) -> None:
    with pytest.raises(Refused) as caught:
        require({"seq": value}, "seq", int, "/at")  # type: ignore[dict-item]
    assert caught.value.code == "payload_member_invalid"
    assert caught.value.problem.pointer == "/at/seq"


def test_a_missing_member_is_named() -> None:
    with pytest.raises(Refused) as caught:
        require({}, "aud", str)
    assert caught.value.code == "payload_member_missing"
    assert caught.value.problem.pointer == "/aud"
    assert optional({}, "aud", str) is None


def test_null_is_not_the_same_as_absent() -> None:
    with pytest.raises(Refused):
        optional({"category": None}, "category", str)
