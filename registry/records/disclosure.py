"""Erasable members of a record: the disclosures of SD-JWT (RFC 9901 section 4.2).

The record carries digests, the openings lie in a table from which they can be erased.
An independent 128-bit salt each keeps a digest from being guessed back to its value, and
decoys keep the number of digests from telling which members there were.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from registry.errors import Refused
from registry.identity import base64url
from registry.records.canonical import JsonValue, canonical_json
from registry.records.refusals import DISCLOSURE_MALFORMED, DISCLOSURE_UNKNOWN

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
class Sealed:
    """digests: sorted, decoys among them; openings: in the order of the values."""

    digests: tuple[str, ...]
    openings: tuple[Opening, ...]


def digest_disclosure(disclosure: str) -> str:
    """base64url(SHA-256) over the disclosure's own characters, never a re-encoding."""
    return base64url.encode(sha256(disclosure.encode()).digest())


def join_disclosure(salt: bytes, name: str, value: bytes) -> bytes:
    """Return a disclosure. salt: spelled in base64url. value: JSON."""
    array = b'["%b",%b,%b]' % (salt, canonical_json(name), value)
    return base64url.encode_to_bytes(array)


class SealedValues(NamedTuple):
    """disclosures, salts: in the order of the values. digests: as in `Sealed`."""

    disclosures: Sequence[bytes]
    salts: Sequence[bytes]
    digests: Sequence[bytes]


def seal_encoded(
    values: Mapping[str, bytes], random_bytes: Callable[[int], bytes], width: int
) -> SealedValues:
    """values: canonical JSON. width: the fixed number of digests, at least len(values).

    random_bytes: cryptographically secure; called once.
    """
    count = len(values)
    if count > width:
        raise ValueError(f"{count} values do not fit into {width} digests")
    salted = SALT_BYTES * count
    chance = random_bytes(salted + _DECOY_BYTES * (width - count))
    salts = [chance[at : at + SALT_BYTES] for at in range(0, salted, SALT_BYTES)]
    encode = base64url.encode_to_bytes
    disclosures = [
        join_disclosure(encode(salt), name, value)
        for salt, (name, value) in zip(salts, values.items(), strict=True)
    ]
    decoys = range(salted, len(chance), _DECOY_BYTES)
    hashed = [*disclosures, *[chance[at : at + _DECOY_BYTES] for at in decoys]]
    digests = sorted([encode(sha256(disclosure).digest()) for disclosure in hashed])
    return SealedValues(disclosures, salts, digests)


def seal(
    values: Mapping[str, JsonValue], random_bytes: Callable[[int], bytes], width: int
) -> Sealed:
    """See `seal_encoded`."""
    encoded = {name: canonical_json(value) for name, value in values.items()}
    sealed = seal_encoded(encoded, random_bytes, width)
    openings = (
        Opening(name=name, value=values[name], disclosure=disclosure.decode())
        for name, disclosure in zip(values, sealed.disclosures, strict=True)
    )
    digests = tuple(digest.decode() for digest in sealed.digests)
    return Sealed(digests=digests, openings=tuple(openings))


def parse_disclosure(disclosure: str) -> Opening:
    """Raises: Refused."""
    with Refused.on(
        (ValueError, RecursionError), DISCLOSURE_MALFORMED, "not base64url of JSON"
    ):
        array: JsonValue = json.loads(base64url.decode(disclosure).decode())
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
