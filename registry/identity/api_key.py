"""API keys: secrets that an operator's agents show instead of signing.

They are 256 random bits, so their SHA-256 can be stored as it is: nobody guesses what
it is of. The prefix is for those who look for secrets in places where none should be.
"""

import hashlib

from registry.identity import base64url

RANDOM_BYTES = 32
_PREFIX = "frk_"


def spell_api_key(randomness: bytes) -> str:
    """randomness: RANDOM_BYTES bytes that nobody can guess."""
    if len(randomness) != RANDOM_BYTES:
        raise ValueError(f"an API key has {RANDOM_BYTES} bytes")
    return _PREFIX + base64url.encode(randomness)


def digest_api_key(text: str) -> bytes:
    """SHA-256 of a key in its one spelling, 32 bytes. Raises: ValueError."""
    if not text.startswith(_PREFIX):
        raise ValueError(f"must begin with {_PREFIX}")
    base64url.decode_exactly(text.removeprefix(_PREFIX), RANDOM_BYTES)
    return hashlib.sha256(text.encode("ascii")).digest()
