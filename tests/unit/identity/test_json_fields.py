import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.identity.json_fields import (
    MAX_BYTES,
    MAX_DEPTH,
    optional,
    parse_object,
    require,
)

# The reading itself is `registry.strict_json`; here only what the callers rely on.
HOSTILE = {
    b"": "json_syntax",
    b"[]": "json_syntax",
    b"null": "json_syntax",
    b'{"a":1,"a":1}': "json_duplicate_key",
    b'{"a":' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}": "json_too_deep",
    b'{"a":"' + b"a" * MAX_BYTES + b'"}': "json_too_large",
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


@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=3))
def test_sound_objects_come_back_as_written(members: dict[str, object]) -> None:
    assert parse_object(json.dumps(members).encode(), "payload") == members


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
