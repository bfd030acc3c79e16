"""Disclosures of chosen values."""

from registry.identity import base64url
from registry.records.canonical import JsonValue, canonical_json


def encode_disclosure(salt: str, name: str, value: JsonValue) -> str:
    """base64url of the array [salt, name, value]."""
    return base64url.encode(canonical_json([salt, name, value]))
