"""JSON Web Keys and key sets (RFC 7517, RFC 8037 §2, RFC 7518 §6.2).

A key set is read from the site that publishes it, so everything in it is foreign input.
Keys of other types or purposes are passed over (RFC 7517 §5); a key of ours that is
unsound refuses the set, and so does any secret: what was published is known to others.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.errors import Refused
from registry.identity import base64url, refusals
from registry.identity.json_fields import parse_object, pointing_at
from registry.identity.keys.public_keys import Algorithm, PublicKey
from registry.strict_json import JsonValue

MAX_KEYS = 16
_COORDINATE_BYTES = 32
# RSA's other private members never come without d; k is a symmetric key, priv RFC 9964's.
_SECRET_MEMBERS = ("d", "k", "priv")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    """Members of one type of key; `prefix` precedes the raw coordinates."""

    alg: Algorithm
    alg_names: tuple[str, ...]
    coordinates: tuple[str, ...]
    prefix: bytes


_SHAPES = {
    ("OKP", "Ed25519"): _Shape(
        alg="Ed25519", alg_names=("Ed25519", "EdDSA"), coordinates=("x",), prefix=b""
    ),
    ("EC", "P-256"): _Shape(
        alg="ES256", alg_names=("ES256",), coordinates=("x", "y"), prefix=b"\x04"
    ),
}


def parse_jwk(members: Mapping[str, JsonValue], at: str = "") -> PublicKey:
    """Parse one key. at: its JSON pointer. Raises: Refused."""
    _refuse_secrets(members, at)
    shape = _find_shape(members)
    if shape is None:
        raise Refused(refusals.KEY_UNSUPPORTED, pointer=at or None)
    coordinates = [_parse_coordinate(members, name, at) for name in shape.coordinates]
    with pointing_at(f"{at}/x"):
        return PublicKey(alg=shape.alg, raw=shape.prefix + b"".join(coordinates))


def parse_jwks(body: bytes) -> tuple[PublicKey, ...]:
    """Parse the distinct signing keys of the set, in its order; it may be empty.

    Raises: Refused.
    """
    document = parse_object(body, "key set")
    _refuse_secrets(document, "")
    entries = list(enumerate(_parse_entries(document)))
    for index, entry in entries:
        _refuse_secrets(entry, f"/keys/{index}")
    ours = (
        parse_jwk(entry, f"/keys/{index}")
        for index, entry in entries
        if _find_shape(entry) is not None
    )
    return tuple(dict.fromkeys(ours))


def jwks_document(keys: Iterable[PublicKey]) -> bytes:
    """Encode the file to publish: each key with `kid`, `alg` and `use`."""
    entries = [
        {**key.jwk, "kid": key.kid, "alg": key.alg, "use": "sig"} for key in keys
    ]
    return json.dumps({"keys": entries}, indent=2).encode("ascii") + b"\n"


def _parse_entries(document: Mapping[str, JsonValue]) -> list[dict[str, JsonValue]]:
    keys = document.get("keys")
    if not isinstance(keys, list):
        raise Refused(
            refusals.KEY_SET_MALFORMED,
            _describe_missing_keys(document),
            pointer="/keys",
        )
    if len(keys) > MAX_KEYS:
        raise Refused(
            refusals.KEY_SET_TOO_MANY, f"It holds {len(keys)} keys.", pointer="/keys"
        )
    entries: list[dict[str, JsonValue]] = []
    for index, entry in enumerate(keys):
        if not isinstance(entry, dict):
            detail = "A key must be a JSON object."
            raise Refused(refusals.KEY_SET_MALFORMED, detail, pointer=f"/keys/{index}")
        entries.append(entry)
    return entries


def _describe_missing_keys(document: Mapping[str, JsonValue]) -> str:
    if "kty" in document:
        return 'This is a single key; write {"keys": [ … ]} around it.'
    return "The member 'keys' must be an array."


def _refuse_secrets(members: Mapping[str, JsonValue], at: str) -> None:
    for name in _SECRET_MEMBERS:
        if name in members:
            detail = f"The member {name!r} holds a secret."
            raise Refused(refusals.KEY_SECRET, detail, pointer=f"{at}/{name}")


def _find_shape(members: Mapping[str, JsonValue]) -> _Shape | None:
    """Return the key's shape, None for another type or a purpose other than signing."""
    kty, crv = members.get("kty"), members.get("crv")
    if not isinstance(kty, str) or not isinstance(crv, str):
        return None
    shape = _SHAPES.get((kty, crv))
    if shape is None or members.get("use", "sig") != "sig":
        return None
    # A tuple: `alg` is foreign input and may be unhashable.
    return shape if members.get("alg", shape.alg) in shape.alg_names else None


def _parse_coordinate(members: Mapping[str, JsonValue], name: str, at: str) -> bytes:
    text = members.get(name)
    pointer = f"{at}/{name}"
    if not isinstance(text, str):
        detail = f"The member {name!r} must be a string."
        raise Refused(refusals.KEY_MALFORMED, detail, pointer=pointer)
    try:
        return base64url.decode_exactly(text, _COORDINATE_BYTES)
    except ValueError as error:
        detail = f"The member {name!r} {error}."
        raise Refused(refusals.KEY_MALFORMED, detail, pointer=pointer) from error
