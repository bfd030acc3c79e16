"""Signatures of commands (WAB §8.8): HMAC-SHA256 over method and params."""

import hashlib
import hmac
from typing import Any

import rfc8785

from registry.errors import Unauthorized
from registry.interfaces.wab.refusals import COMMAND_SIGNATURE_WRONG

PREFIX = "sha256:"


def sign_command(secret: bytes, method: str, params: dict[str, Any]) -> str:
    signed = rfc8785.dumps({"method": method, "params": params})
    return PREFIX + hmac.digest(secret, signed, hashlib.sha256).hex()


def verify_signature(
    secret: bytes, method: str, params: dict[str, Any], signature: str
) -> None:
    """Raises: Unauthorized."""
    expected = sign_command(secret, method, params)
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise Unauthorized(COMMAND_SIGNATURE_WRONG, pointer="/signature")
