"""API keys: secrets that an operator's agents show instead of signing.

They are 256 random bits, so their SHA-256 can be stored as it is: nobody guesses the
key behind it. The prefix is for scanners that look for leaked secrets.
"""

import hashlib

from registry.identity import base64url

RANDOM_BYTES = 32
_PREFIX = "frk_"


def format_api_key(randomness: bytes) -> str:
    """Encode a new key from RANDOM_BYTES bytes that nobody can guess."""
    if len(randomness) != RANDOM_BYTES:
        raise ValueError(f"an API key has {RANDOM_BYTES} bytes")
    return _PREFIX + base64url.encode(randomness)


def digest_api_key(text: str) -> bytes:
    """Return the SHA-256 of a key in its canonical spelling, 32 bytes. Raises: ValueError."""
    if not text.startswith(_PREFIX):
        raise ValueError(f"must begin with {_PREFIX}")
    base64url.decode_exactly(text.removeprefix(_PREFIX), RANDOM_BYTES)
    return hashlib.sha256(text.encode("ascii")).digest()
