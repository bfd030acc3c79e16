"""Erasable members of a record: the disclosures of SD-JWT (RFC 9901 section 4.2).

The record carries digests, the openings lie in a table from which they can be erased.
An independent 128-bit salt each keeps a digest from being guessed back to its value, and
decoys keep the number of digests from telling which members there were.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from registry.audit.canonical import JsonValue, canonical_json
from registry.audit.refusals import DISCLOSURE_MALFORMED, DISCLOSURE_UNKNOWN
from registry.errors import Refused
from registry.identity import base64url

SALT_BYTES = 16
_DECOY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A disclosed member. disclosure: its encoded form, the one that is hashed."""

    name: str
    value: JsonValue
    disclosure: str

    @property
    def digest(self) -> str:
        return digest_disclosure(self.disclosure)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedOpening(Opening):
    """One that was made here. salt: 16 bytes. spelled: the value's canonical JSON."""

    salt: bytes
    spelled: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """digests: sorted, decoys among them; openings: in the order of the values."""

    digests: tuple[str, ...]
    openings: tuple[SealedOpening, ...]


def encode_disclosure(salt: str, name: str, value: JsonValue) -> str:
    """base64url of the array [salt, name, value]."""
    return base64url.encode(canonical_json([salt, name, value]))


def digest_disclosure(disclosure: str) -> str:
    """base64url(SHA-256) over the disclosure's own characters, never a re-encoding."""
    return base64url.encode(sha256(disclosure.encode()).digest())


def seal(
    values: Mapping[str, JsonValue],
    random_bytes: Callable[[int], bytes],
    width: int,
) -> Sealed:
    """width: the fixed number of digests, at least len(values).

    random_bytes: cryptographically secure; called once for each digest.
    """
    if len(values) > width:
        raise ValueError(f"{len(values)} values do not fit into {width} digests")
    openings = tuple(
        _seal(random_bytes(SALT_BYTES), name, value) for name, value in values.items()
    )
    decoys = [_decoy(random_bytes(_DECOY_BYTES)) for _ in range(width - len(values))]
    digests = sorted([*(opening.digest for opening in openings), *decoys])
    return Sealed(digests=tuple(digests), openings=openings)


def parse_disclosure(disclosure: str) -> Opening:
    """Raises: Refused."""
    try:
        array: JsonValue = json.loads(base64url.decode(disclosure).decode())
    except (ValueError, RecursionError) as exc:
        raise Refused(DISCLOSURE_MALFORMED, "not base64url of JSON") from exc
    match array:
        case [str(), str() as name, value]:
            return Opening(name=name, value=value, disclosure=disclosure)
        case _:
            raise Refused(DISCLOSURE_MALFORMED, "not an array of salt, name and value")


def verify_disclosure(disclosure: str, sd_digests: Collection[str]) -> Opening:
    """The member it discloses of the record with these digests. Raises: Refused."""
    opening = parse_disclosure(disclosure)
    if opening.digest not in sd_digests:
        raise Refused(DISCLOSURE_UNKNOWN)
    return opening


def _seal(salt: bytes, name: str, value: JsonValue) -> SealedOpening:
    spelled = canonical_json(value)
    disclosure = encode_disclosure(base64url.encode(salt), name, msgspec.Raw(spelled))
    return SealedOpening(
        name=name, value=value, disclosure=disclosure, salt=salt, spelled=spelled
    )


def _decoy(randomness: bytes) -> str:
    return base64url.encode(sha256(randomness).digest())
