import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.records.canonical import canonical_json, parse_canonical

names = st.text("ab_0\u20ac\ufb33\U0001f600", max_size=4)
words = st.text('a"\\/\n\x00\x7f\u00e9\u2028\ufb33\U0001f600', max_size=6)
numbers = st.integers(-(2**53) + 1, 2**53 - 1)
values = st.recursive(
    st.none() | st.booleans() | numbers | words,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_every_value_comes_back(value):
    assert parse_canonical(canonical_json(value)) == value


@given(values)
def test_it_is_what_rfc_8785_asks_for(value):
    assert canonical_json(value) == rfc8785.dumps(value)


def test_names_are_sorted_by_utf_16_units():
    value = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3}
    expected = '{"\u20ac":3,"\U0001f600":2,"\ufb33":1}'
    assert canonical_json(value) == expected.encode()


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        float("nan"),
        [0.5],
        {"a": {"b": 1.5}},
        2**53,
        -(2**53),
        "\ud800",
        {"\udfff": 1},
        {1: "a"},
        b"bytes",
        {"a": {1, 2}},
    ],
    ids=repr,
)
def test_what_has_no_single_spelling_is_refused(value):
    with pytest.raises(Refused) as refused:
        canonical_json(value)
    assert refused.value.code == "record_not_canonical"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b" {}",
        b"{}\n",
        b"\xef\xbb\xbf{}",
        b"\xff",
        '{"a":1}'.encode("utf-16"),
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a": 1}',
        b'{"a":1.0}',
        b'{"a":1e2}',
        b'{"a":-0}',
        b'{"a":NaN}',
        b'{"a":9007199254740992}',
        b'{"a":"\\u0061"}',
        b'{"a":"\\/"}',
        b'{"a":"\\ud800"}',
        b"9" * 5000,
        b"[" * 60_000,
        b"[" * 30_000 + b"]" * 30_000,
    ],
    ids=lambda data: repr(data[:24]),
)
def test_any_other_spelling_is_refused(data):
    with pytest.raises(Refused):
        parse_canonical(data)
