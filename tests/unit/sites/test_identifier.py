import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.sites.identifier import (
    MAX_SITE_NUMBER,
    decode_base32,
    encode_base32,
    format_site_id,
    is_ulid,
    make_ulid,
    parse_site_id,
)


@given(st.integers(0, MAX_SITE_NUMBER))
def test_a_site_number_survives_its_spelling(number):
    assert parse_site_id(format_site_id(number)) == number


@given(st.integers(0, MAX_SITE_NUMBER), st.integers(0, MAX_SITE_NUMBER))
def test_spellings_sort_as_their_numbers(a, b):
    assert (format_site_id(a) < format_site_id(b)) == (a < b)


@pytest.mark.parametrize(
    ("number", "spelling"),
    [
        (0, "0000000000000"),
        (31, "000000000000Z"),
        (32, "0000000000010"),
        (MAX_SITE_NUMBER, "7ZZZZZZZZZZZZ"),
    ],
)
def test_site_ids_have_thirteen_characters(number, spelling):
    assert format_site_id(number) == spelling


@pytest.mark.parametrize(
    "text",
    [
        "",
        "000000000000",
        "00000000000000",
        "8000000000000",
        "ZZZZZZZZZZZZZ",
        "000000000000I",
        "000000000000L",
        "000000000000O",
        "000000000000U",
        "000000000000a",
        "-00000000000 ",
        "00000000000\u0660\u0661",
        "000000000000\n",
    ],
)
def test_what_spells_no_site_number_is_refused(text):
    with pytest.raises(ValueError, match=r"site id|base32"):
        parse_site_id(text)


def test_base32_refuses_letters_that_look_like_digits():
    with pytest.raises(ValueError, match="Crockford"):
        decode_base32("1O")


@given(
    st.integers(1, 20).flatmap(
        lambda n: st.integers(0, 32**n - 1).map(lambda v: (v, n))
    )
)
def test_base32_survives_both_ways(pair):
    number, length = pair
    assert decode_base32(encode_base32(number, length)) == number


def test_a_ulid_carries_its_milliseconds_first():
    ulid = make_ulid(1469918176385, bytes(10))
    assert ulid == "01ARYZ6S41" + "0" * 16
    assert is_ulid(ulid)


moments = st.integers(0, 2**48 - 1)
entropy = st.binary(min_size=10, max_size=10)


@given(moments, entropy, moments, entropy)
def test_ulids_sort_by_time_then_by_chance(ms, randomness, later_ms, other):
    first, second = make_ulid(ms, randomness), make_ulid(later_ms, other)
    assert (first < second) == ((ms, randomness) < (later_ms, other))
    assert is_ulid(first)
    assert is_ulid(second)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0" * 25,
        "0" * 27,
        "8" + "0" * 25,
        "7" + "0" * 24 + "U",
        "7" + "0" * 24 + "l",
        "0" * 25 + "\n",
    ],
)
def test_what_is_no_ulid_is_told_apart(text):
    assert not is_ulid(text)
