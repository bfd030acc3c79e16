import contextlib
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import RegistryError
from registry.strict_json import join_pointer, parse_json
from tests.unit.work import assert_linear

HOSTILE = {
    "duplicate key": (b'{"a":1,"a":2}', "json_duplicate_key"),
    "nested duplicate key": (b'{"x":[{"a":1,"b":2,"a":3}]}', "json_duplicate_key"),
    "key twice by escape": (b'{"a":1,"\\u0061":2}', "json_duplicate_key"),
    "NaN": (b'{"a":NaN}', "json_number"),
    "Infinity": (b"[Infinity]", "json_number"),
    "-Infinity": (b"[-Infinity]", "json_number"),
    "1e400": (b"[1e400]", "json_number"),
    "large float": (b"[1e17]", "json_number"),
    "20-digit integer": (b"[12345678901234567890]", "json_number"),
    "2^53": (b"[9007199254740992]", "json_number"),
    "-2^53": (b"[-9007199254740992]", "json_number"),
    "5,000-digit integer": (b"[" + b"9" * 5_000 + b"]", "json_number"),
    "1 and 400 zeros": (b"[1" + b"0" * 400 + b"]", "json_number"),
    "high surrogate": (b'["\\ud800"]', "json_character"),
    "low surrogate": (b'{"a":"\\udc00"}', "json_character"),
    "surrogate in a key": (b'{"\\ud800":1}', "json_character"),
    "NUL value": (b'{"a":{"b":"x\\u0000"}}', "json_character"),
    "NUL key": (b'{"\\u0000":1}', "json_character"),
    "bad UTF-8": (b'["\xff"]', "json_encoding"),
    "overlong UTF-8": (b'["\xc0\xaf"]', "json_encoding"),
    "encoded surrogate": (b'["\xed\xa0\x80"]', "json_encoding"),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "json_encoding"),
    "UTF-16 without mark": ('{"a":1}'.encode("utf-16-le"), "json_encoding"),
    "depth 9": (b"[" * 9 + b"]" * 9, "json_too_deep"),
    "depth 8,000": (b"[" * 8_000 + b"]" * 8_000, "json_too_deep"),
    "object depth 3,000": (b'{"a":' * 3_000 + b"1" + b"}" * 3_000, "json_too_deep"),
    "trailing value": (b"{} {}", "json_syntax"),
    "comment": (b'{"a":1 /* why */}', "json_syntax"),
    "too large": (b'"' + b"a" * 20_000 + b'"', "json_too_large"),
    "empty": (b"", "json_syntax"),
    "white space": (b" \n\t", "json_syntax"),
    "only a mark": (b"\xef\xbb\xbf", "json_syntax"),
    "truncated": (b'{"a":', "json_syntax"),
    "unclosed string": (b'{"a', "json_syntax"),
    "ends in an escape": (b'["\\', "json_syntax"),
    "control character": (b'["a\nb"]', "json_syntax"),
    "single quotes": (b"{'a':1}", "json_syntax"),
    "lines of JSON": (b'{"a":1}\n{"a":2}\n', "json_syntax"),
    "trailing comma": (b"[1,]", "json_syntax"),
    "leading zero": (b"[01]", "json_syntax"),
    "unbalanced": (b"]]]]", "json_syntax"),
}


@pytest.mark.parametrize(("body", "code"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_json_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(RegistryError) as refusal:
        parse_json(body, max_depth=8, max_bytes=20_000)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b'\xef\xbb\xbf{"a":1}', {"a": 1}),
        (b"[" * 8 + b"]" * 8, [[[[[[[[]]]]]]]]),
        (b"[9007199254740991,-9007199254740991]", [2**53 - 1, -(2**53) + 1]),
        (b'["\\ud83e\\udd56"]', ["\U0001f956"]),
        (b'["[[[[[[[[[[", "\\"]]"]', ["[[[[[[[[[[", '"]]']),
        (b"-0.5e1", -5.0),
        (b'{"__proto__":{"a":null}}', {"__proto__": {"a": None}}),
    ],
)
def test_sound_json_is_read(body: bytes, value: object) -> None:
    assert parse_json(body, max_depth=8, max_bytes=20_000) == value


def test_a_comment_is_named_as_the_fault() -> None:
    with pytest.raises(RegistryError, match="comment"):
        parse_json(b'{"a": /* x */ 1}', max_depth=8, max_bytes=100)


@pytest.mark.parametrize("unit", [b'"\\"', b"[", b"[],", b'"'])
def test_the_depth_scan_takes_linear_time(unit: bytes) -> None:
    def read(times: int) -> None:
        with pytest.raises(RegistryError):
            parse_json(unit * times + b'"', max_depth=8, max_bytes=10**7)

    read(100_000)  # a scan that starts again at each quote would not come back
    assert_linear(read, 2_000)


def _depth_of(text: str) -> int:
    """Of the brackets outside of strings, one character after the other."""
    depth = deepest = 0
    is_string = False
    for character in text:
        if character == '"':
            is_string = not is_string
        elif not is_string and character in "[]{}":
            depth += 1 if character in "[{" else -1
            deepest = max(deepest, depth)
    return deepest


@given(st.text('"[]{}a', max_size=40))
def test_nothing_deep_outside_of_strings_is_parsed(text: str) -> None:
    try:
        parse_json(text.encode(), max_depth=3, max_bytes=100)
    except RegistryError as refused:
        if refused.code == "json_too_deep":
            assert _depth_of(text) > 3
    else:
        assert _depth_of(text) <= 3


@pytest.mark.parametrize("text", ["[[[]]]", '["[[[["]', '[""]', '["[",""]', '["]]]]"]'])
def test_brackets_in_strings_do_not_count(text: str) -> None:
    assert parse_json(text.encode(), max_depth=3, max_bytes=100) == json.loads(text)


_numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e15, 1e15)
_texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
_values = st.recursive(
    st.none() | st.booleans() | _numbers | _texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(_texts, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(_values, st.booleans())
def test_what_is_written_is_what_is_read(value: object, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    assert parse_json(body, max_depth=50, max_bytes=100_000) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    with contextlib.suppress(RegistryError):
        parse_json(body, max_depth=8, max_bytes=100)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a":[{},{"b":[[]]}]}', "/a/1/b"),
        ('{"a":1,"b":["[",["{",[]]]}', "/b/1/1"),
        ('[{"a~/b\\u00e9":{"":{}}}]', "/0/a~0~1bé/"),
        ('[{"\\u0000\\ud800":{"a":[]}}]', "/0/\ufffd\ufffd/a"),
        ("[[[[[[", "/0/0/0"),
        ('{"a\0":{{{{{', "/a\ufffd//"),
    ],
)
def test_what_is_too_deep_is_pointed_at(text: str, pointer: str) -> None:
    with pytest.raises(RegistryError) as refused:
        parse_json(text.encode(), max_depth=3, max_bytes=100)
    assert (refused.value.code, refused.value.problem.pointer) == (
        "json_too_deep",
        pointer,
    )


_names = st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9
)
_nested = st.recursive(
    st.text(max_size=2).filter(str.isprintable),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=4)
    ),
    max_leaves=30,
)


@given(_nested, st.integers(1, 4))
def test_pointers_lead_to_a_container_that_is_too_deep(value: Any, depth: int) -> None:
    try:
        parse_json(json.dumps(value).encode(), max_depth=depth, max_bytes=100_000)
    except RegistryError as refused:
        steps = (refused.problem.pointer or "").split("/")[1:]
        assert len(steps) == depth
        for step in steps:
            name = step.replace("~1", "/").replace("~0", "~")
            value = value[int(name) if isinstance(value, list) else name]
        assert isinstance(value, list | dict)


@pytest.mark.parametrize("length", range(290, 310))
def test_a_pointer_is_not_cut_within_an_escape(length: int) -> None:
    pointer = join_pointer("", "x" * (length - 1) + "~~/")
    assert re.fullmatch(r"(?:[^~]|~[01])*", pointer)
    assert len(pointer) <= 300
