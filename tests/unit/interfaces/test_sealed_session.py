"""Session tokens: opaque, bound, and of no other registry."""

from datetime import UTC, datetime, timedelta

import pytest

from registry.errors import Unauthorized
from registry.interfaces.wab.sealed_session import (
    PREFIX,
    Session,
    open_session,
    seal_session,
)

KEY, NOW, NETWORK = b"k" * 32, datetime(2026, 11, 24, tzinfo=UTC), "192.0.2.1"
SESSION = Session(
    id="ab" * 16,
    expires_at=NOW + timedelta(hours=1),
    permissions=frozenset({"readContent"}),
    api_key=b"d" * 32,
    signs=True,
)
TOKEN = seal_session(KEY, SESSION, NETWORK)


def test_what_was_sealed_is_opened() -> None:
    assert open_session(KEY, TOKEN, NETWORK, NOW) == SESSION


def test_a_token_tells_the_agent_nothing() -> None:
    assert TOKEN.startswith(PREFIX)
    for part in ("readContent", "192.0.2.1", "d" * 8):
        assert part not in TOKEN


@pytest.mark.parametrize(
    ("key", "network", "later", "code"),
    [
        (b"o" * 32, NETWORK, 0, "session_invalid"),
        (KEY, "192.0.2.2", 0, "session_invalid"),
        (KEY, "", 0, "session_invalid"),
        (KEY, NETWORK, 3600, "session_ended"),
        (KEY, NETWORK, 10**6, "session_ended"),
    ],
)
def test_elsewhere_or_later_it_is_refused(
    key: bytes, network: str, later: int, code: str
) -> None:
    with pytest.raises(Unauthorized) as refused:
        open_session(key, TOKEN, network, NOW + timedelta(seconds=later))
    assert refused.value.code == code


@pytest.mark.parametrize(
    "token",
    [
        *("", PREFIX, "sess", TOKEN[5:], TOKEN[:-1], TOKEN + "A", TOKEN * 2),
        *("sess_!", "sess_\0", "sess_" + "A" * 21, "sess_" + "=" * 40, TOKEN.upper()),
    ],
)
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthorized):
        open_session(KEY, token, NETWORK, NOW)


def test_secrets_differ_by_session_and_key() -> None:
    other = Session(id="cd" * 16, expires_at=NOW)
    secrets = {SESSION.secret(KEY), other.secret(KEY), SESSION.secret(b"o" * 32)}
    assert len(secrets) == 3
