"""Numbers of buckets and places, as anybody may write them into an address."""

import pytest

from registry.errors import Refused
from registry.interfaces.rest.sites.profile_proofs import view_generation
from registry.records.generation import Generation

HOSTILE = ("-1", "1,,2", "1.5", "x", "٣", " 1", "9" * 5_000, "1," * 100 + "1")


@pytest.mark.parametrize("numbers", ["4096", *HOSTILE])
@pytest.mark.parametrize("kind", ["sites", "words"])
def test_numbers_that_name_no_bucket_are_refused(kind: str, numbers: str) -> None:
    with pytest.raises(Refused):
        view_generation(Generation(policy="p"), **{kind: numbers})


@pytest.mark.parametrize("numbers", [str(2**63), *HOSTILE])
def test_numbers_that_name_no_place_are_refused(numbers: str) -> None:
    with pytest.raises(Refused):
        view_generation(Generation(policy="p"), places=numbers)


def test_places_beyond_the_last_site_are_left_out() -> None:
    assert view_generation(Generation(policy="p"), places="0,7").site_buckets == ()
