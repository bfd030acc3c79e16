"""Nonces: 256 random bits in 43 characters of base64url."""

from registry.identity import base64url

NONCE_BYTES = 32


def format_nonce(randomness: bytes) -> str:
    """Encode NONCE_BYTES bytes that nobody can guess."""
    if len(randomness) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
    return base64url.encode(randomness)


def parse_nonce(text: str) -> str:
    """Check the form of a nonce and return it. Raises: ValueError, as base64url does."""
    base64url.decode_exactly(text, NONCE_BYTES)
    return text
