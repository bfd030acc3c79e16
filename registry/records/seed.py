"""The day's tie-break secret, committed to before the day and revealed after it.

The commitment is SHA-256 of the secret, in hex. It keeps the registry from choosing a
secret after it has seen the questions; the reveal lets anyone recompute every tie.
"""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from registry.errors import Refused
from registry.records.canonical import JsonValue, canonical_json
from registry.records.refusals import SEED_REVEAL_INVALID

SECRET_BYTES = 32
PAGES_FOR = timedelta(minutes=30)  # after a day's end, further pages of its answers
REVEAL_AFTER = timedelta(hours=1)  # the day's end, so that no page uses a known secret


def has_pages(at: datetime, now: datetime) -> bool:
    """Return whether an answer of that instant may still have a further page."""
    return (now - PAGES_FOR).astimezone(UTC).date() <= at.astimezone(UTC).date()


def commit_secret(secret: bytes) -> str:
    """secret: 32 random bytes; fewer could be guessed from the commitment."""
    if len(secret) != SECRET_BYTES:
        raise ValueError(f"a day's secret has {SECRET_BYTES} bytes")
    return sha256(secret).hexdigest()


def verify_reveal(secret: bytes, commitment: str) -> bytes:
    """The secret, if the commitment is to it. Raises: Refused."""
    if len(secret) != SECRET_BYTES or commit_secret(secret) != commitment:
        raise Refused(SEED_REVEAL_INVALID)
    return secret


def digest_request(
    query: JsonValue, cell: JsonValue, filters: JsonValue, searched_at: datetime
) -> bytes:
    """Return the 32 bytes of a request that its tie seed depends on.

    The values are those of the disclosures; searched_at is cut to the hour (UTC), since of
    a finer instant the registry could choose one among many.
    """
    hour = searched_at.astimezone(UTC).isoformat()[:13]
    members = {"filters": filters, "hour": hour, "location": cell, "query": query}
    return sha256(canonical_json(members)).digest()
