import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import shake_256
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.errors import Refused
from registry.records.disclosure import (
    digest_disclosure,
    parse_disclosure,
    seal,
    verify_disclosure,
)
from tests.unit.records.encoded import encode_disclosure

# RFC 9901, section 4.2.3
PUBLISHED = "WyJfMjZiYzRMVC1hYzZxMktJNmNCVzVlcyIsICJmYW1pbHlfbmFtZSIsICJNw7ZiaXVzIl0"
PUBLISHED_DIGEST = "X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0"

VALUES = {
    "query": "vegan bakery",
    "location": "gcpv",
    "scores": [[9000, 8000, 7000, 6000, 5000, 78_000_000, 12345]],
}


def counted_bytes():
    """A stand-in for randomness: never the same bytes twice."""
    numbers = count()
    return lambda size: shake_256(b"%d" % next(numbers)).digest(size)


def base64url(data):
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def test_the_published_disclosure_has_its_published_digest():
    assert digest_disclosure(PUBLISHED) == PUBLISHED_DIGEST
    opening = verify_disclosure(PUBLISHED, [PUBLISHED_DIGEST])
    assert (opening.name, opening.value) == ("family_name", "Möbius")


def test_our_own_disclosures_are_compact_canonical_json():
    disclosure = encode_disclosure("salt", "location", {"b": 1, "a": None})
    array = urlsafe_b64decode(disclosure + "=" * (-len(disclosure) % 4))
    assert array == b'["salt","location",{"a":null,"b":1}]'


def test_every_sealed_value_opens_against_the_record():
    sealed = seal(VALUES, counted_bytes(), width=8)
    opened = [verify_disclosure(o.disclosure, sealed.digests) for o in sealed.openings]
    assert {opening.name: opening.value for opening in opened} == VALUES


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 8))
def test_the_number_of_digests_does_not_tell_how_many_values_there_were(number):
    values = {f"name{i}": "same value" for i in range(number)}
    sealed = seal(values, counted_bytes(), width=8)
    assert len(set(sealed.digests)) == 8
    assert list(sealed.digests) == sorted(sealed.digests)
    assert all(len(digest) == 43 for digest in sealed.digests)


def test_each_value_has_its_own_salt_of_128_bits():
    sealed = seal({"a": "same", "b": "same"}, counted_bytes(), width=2)
    salts = set()
    for opening in sealed.openings:
        padded = opening.disclosure + "=" * (-len(opening.disclosure) % 4)
        salt = json.loads(urlsafe_b64decode(padded))[0]
        assert len(urlsafe_b64decode(salt + "==")) == 16
        salts.add(salt)
    assert len(salts) == 2


def test_more_values_than_width_are_not_sealed():
    with pytest.raises(ValueError, match="do not fit"):
        seal(VALUES, counted_bytes(), width=2)


def test_a_fraction_is_not_sealed():
    with pytest.raises(Refused):
        seal({"scores": 0.5}, counted_bytes(), width=1)


def test_an_edited_disclosure_does_not_belong_to_the_record():
    sealed = seal({"query": "bakery"}, counted_bytes(), width=4)
    salt, name, _ = json.loads(urlsafe_b64decode(sealed.openings[0].disclosure + "=="))
    forged = encode_disclosure(salt, name, "butcher")
    with pytest.raises(Refused) as refused:
        verify_disclosure(forged, sealed.digests)
    assert refused.value.code == "disclosure_unknown"


def test_another_encoding_of_the_same_member_does_not_belong_to_the_record():
    compact = encode_disclosure("_26bc4LT-ac6q2KI6cBW5es", "family_name", "Möbius")
    with pytest.raises(Refused):
        verify_disclosure(compact, [PUBLISHED_DIGEST])


@pytest.mark.parametrize(
    "disclosure",
    [
        "",
        "WyJh",
        PUBLISHED + "=",
        PUBLISHED[:-1] + "1",
        PUBLISHED + "\u00e4",
        base64url(b"{}"),
        base64url(b'"text"'),
        base64url(b'["salt","name"]'),
        base64url(b'["salt","name",1,2]'),
        base64url(b'[1,"name",1]'),
        base64url(b'["salt",null,1]'),
        base64url(b"\xff"),
        base64url(b"[" * 50_000),
    ],
    ids=lambda text: repr(text[:24]),
)
def test_a_disclosure_of_another_form_is_refused(disclosure):
    with pytest.raises(Refused) as refused:
        parse_disclosure(disclosure)
    assert refused.value.code == "disclosure_malformed"
