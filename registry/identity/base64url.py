"""base64url as JOSE writes it (RFC 7515 §2): unpadded, one spelling for each value.

Two spellings of one value would be two tokens of one signature, so a lax decoder makes
every digest and every replay check worthless.
"""

import base64
import re

_ALPHABET = re.compile(r"[A-Za-z0-9_-]*")
_STANDARD_TO_URL = str.maketrans("+/", "-_")


def encode(raw: bytes) -> str:
    return encode_to_bytes(raw).decode("ascii")


def encode_to_bytes(raw: bytes) -> bytes:
    return base64.urlsafe_b64encode(raw).rstrip(b"=")


def decode(text: str) -> bytes:
    """Decode strictly. Raises: ValueError, its message a predicate about the text."""
    if not _ALPHABET.fullmatch(text):
        raise ValueError(_describe_foreign_character(text))
    if len(text) % 4 == 1:
        raise ValueError("is cut off: no base64url text has this length")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(raw) != text:
        raise ValueError("has unused bits set in its last character")
    return raw


def _describe_foreign_character(text: str) -> str:
    if any(character.isspace() for character in text):
        return "holds a space or a line break"
    if "=" in text:
        return "is padded with '='; base64url here has no padding"
    return "holds a character outside A-Z, a-z, 0-9, '-' and '_'"


def decode_exactly(text: str, byte_count: int) -> bytes:
    """Decode as `decode` does. Raises: ValueError also for another number of bytes."""
    raw = decode(text)
    if len(raw) != byte_count:
        raise ValueError(f"stands for {len(raw)} bytes where {byte_count} are needed")
    return raw


def decode_either(text: str) -> bytes:
    """Decode standard base64 or base64url, padded or not, as WAB documents mix them.

    Raises: ValueError as `decode` does.
    """
    bare = text[:-2] if text.endswith("==") else text.removesuffix("=")
    return decode(bare.translate(_STANDARD_TO_URL))
