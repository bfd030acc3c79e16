from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256

import pytest

from registry.errors import Refused
from registry.records.seed import (
    PAGES_FOR,
    REVEAL_AFTER,
    commit_secret,
    digest_request,
    has_pages,
    verify_reveal,
)

SECRET = sha256(b"day secret").digest()


def test_the_secret_that_was_committed_to_is_accepted():
    commitment = commit_secret(SECRET)
    assert commitment == sha256(SECRET).hexdigest()
    assert verify_reveal(SECRET, commitment) == SECRET


@pytest.mark.parametrize("secret", [bytes(32), SECRET[:31], SECRET + b"\0", b""])
def test_any_other_secret_is_refused(secret):
    with pytest.raises(Refused) as refused:
        verify_reveal(secret, commit_secret(SECRET))
    assert refused.value.code == "seed_reveal_invalid"


def test_a_secret_short_enough_to_be_guessed_is_not_committed_to():
    with pytest.raises(ValueError, match="32 bytes"):
        commit_secret(b"short")


@pytest.mark.parametrize(
    ("minutes", "paged"), [(-1, True), (0, True), (29, True), (30, False), (60, False)]
)
def test_pages_end_well_before_the_secret_is_public(minutes, paged):
    midnight = datetime(2026, 11, 21, tzinfo=UTC)
    for hours in (0, 1, 20):
        asked_at = midnight - timedelta(hours=hours, minutes=1)
        assert has_pages(asked_at, midnight + timedelta(minutes=minutes)) is paged
    assert PAGES_FOR < REVEAL_AFTER


ASKED_AT = datetime(2026, 11, 24, 9, 20, tzinfo=UTC)


def test_one_request_has_one_digest_an_hour():
    """Nothing finer is left for the registry to choose: no id, no minute."""
    digests = {
        digest_request("bread", "u33d", {"category": "bakery"}, at)
        for at in (
            ASKED_AT,
            ASKED_AT.replace(minute=59, second=59, microsecond=999_999),
            ASKED_AT.astimezone(timezone(timedelta(hours=5))),
        )
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    "query",
    [
        ("cake", None, {}, ASKED_AT),
        ("bread", "u33d", {}, ASKED_AT),
        ("bread", None, {"country": "JO"}, ASKED_AT),
        ("bread", None, {}, ASKED_AT + timedelta(hours=1)),
        ("bread", None, {}, ASKED_AT + timedelta(days=1)),
    ],
)
def test_another_request_has_another_digest(query):
    assert digest_request(*query) != digest_request("bread", None, {}, ASKED_AT)
