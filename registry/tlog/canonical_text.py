"""Canonical text forms that C2SP formats share: every value has exactly one.

A second form of the same signature or number would let one document pass for two.
"""

import re
from base64 import b64decode, b64encode

from registry.errors import ProblemType, Refused
from registry.tlog.merkle import HASH_BYTES

MAX_INT64 = 2**63 - 1

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


def format_base64(data: bytes) -> str:
    return b64encode(data).decode("ascii")


def parse_base64(text: str, kind: ProblemType) -> bytes:
    """Decode standard base64 (RFC 4648 section 4), padded, without stray bits."""
    with Refused.on(ValueError, kind, "not standard base64"):
        data = b64decode(text, validate=True)
    if format_base64(data) != text:
        raise Refused(kind, "base64 that is not canonical")
    return data


def parse_hash(text: str, kind: ProblemType) -> bytes:
    value = parse_base64(text, kind)
    if len(value) != HASH_BYTES:
        raise Refused(kind, f"a hash has {HASH_BYTES} bytes, not {len(value)}")
    return value


def parse_decimal(text: str, kind: ProblemType) -> int:
    """Parse 0 <= value < 2**63, without leading zeros."""
    if not _DECIMAL.fullmatch(text) or int(text) > MAX_INT64:
        raise Refused(kind, "not a decimal number below 2**63 without leading zeros")
    return int(text)
