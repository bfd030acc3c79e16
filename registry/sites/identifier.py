"""Opaque identifiers.

A site's id is a random 63-bit number, spelled in 13 characters of Crockford base32
(no I, L, O, U), so that it carries no name, no order of registration and fits a bigint.
Records carry ULIDs: 48 bits of milliseconds and 80 random bits in 26 characters.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_TO_DIGITS = str.maketrans(ALPHABET, _DIGITS)
_BASE32 = re.compile(f"[{ALPHABET}]*")
SITE_ID_LENGTH = 13
ULID_LENGTH = 26
MAX_SITE_NUMBER = 2**63 - 1


def encode_base32(number: int, length: int) -> str:
    """Encode in `length` characters, 0 <= number < 32**length."""
    highest = (length - 1) // 2 * 10
    pairs = [_PAIRS[number >> shift & 1023] for shift in range(highest, -1, -10)]
    return "".join(pairs)[-length:]


def decode_base32(text: str) -> int:
    """Decode. Raises: ValueError on a character outside the alphabet."""
    if not _BASE32.fullmatch(text):
        raise ValueError(f"not Crockford base32: {text!r}")
    return int(text.translate(_TO_DIGITS) or "0", 32)


@lru_cache(maxsize=65_536)
def format_site_id(number: int) -> str:
    return encode_base32(number, SITE_ID_LENGTH)


def parse_site_id(text: str) -> int:
    """Parse a 63-bit number. Raises: ValueError."""
    if len(text) != SITE_ID_LENGTH:
        raise ValueError(f"a site id has {SITE_ID_LENGTH} characters")
    number = decode_base32(text)
    if number > MAX_SITE_NUMBER:
        raise ValueError("a site id is a 63-bit number")
    return number


def make_ulid(unix_ms: int, randomness: bytes) -> str:
    """Encode a ULID. randomness: 10 bytes."""
    number = (unix_ms << 80) | int.from_bytes(randomness, "big")
    return encode_base32(number, ULID_LENGTH)


def ulid_time(ulid: str) -> datetime:
    """Return the time that a ULID begins with. Raises: ValueError, OverflowError."""
    return datetime.fromtimestamp((decode_base32(ulid) >> 80) / 1000, UTC)


def is_ulid(text: str) -> bool:
    return (
        len(text) == ULID_LENGTH
        and text[0] in "01234567"
        and _BASE32.fullmatch(text) is not None
    )
