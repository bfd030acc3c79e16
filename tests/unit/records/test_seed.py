from hashlib import sha256

import pytest

from registry.errors import Refused
from registry.records.seed import commit_secret, verify_reveal

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
