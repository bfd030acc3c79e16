"""Ranking ids: a public half, and a half that only the asker has.

The id in an answer is `<ULID>.<secret>`. The ULID names the record in the public log;
the secret proves that its holder got the answer. It is an HMAC of the ULID, so nothing
is stored and any web process can check it.
"""

import hashlib
import hmac

from registry.errors import Forbidden, NotFound
from registry.identity import base64url
from registry.sites.identifier import is_ulid
from registry.usecases.refusals import RANKING_NOT_YOURS, RANKING_UNKNOWN

SECRET_BYTES = 15  # 20 characters of base64url


def make_receipt(key: bytes, record_id: str) -> str:
    return f"{record_id}.{_secret(key, record_id)}"


def record_id_of(ranking_id: str) -> str:
    """The public half. Raises: NotFound if it has not the form of one."""
    record_id = ranking_id.partition(".")[0]
    if not is_ulid(record_id):
        raise NotFound(RANKING_UNKNOWN, pointer="/rankingId")
    return record_id


def holds_receipt(key: bytes, ranking_id: str) -> bool:
    record_id, _, secret = ranking_id.partition(".")
    expected = _secret(key, record_id)
    return hmac.compare_digest(expected.encode(), secret.encode())


def verify_receipt_id(key: bytes, ranking_id: str) -> str:
    """The public half. Raises: NotFound, Forbidden."""
    record_id = record_id_of(ranking_id)
    if not holds_receipt(key, ranking_id):
        raise Forbidden(RANKING_NOT_YOURS, pointer="/rankingId")
    return record_id


def _secret(key: bytes, record_id: str) -> str:
    tag = hmac.digest(key, b"ranking\0" + record_id.encode(), hashlib.sha256)
    return base64url.encode(tag[:SECRET_BYTES])
