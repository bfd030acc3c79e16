"""Documents signed as kind B, whose trust document is an envelope."""

from collections.abc import Mapping

import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.identity.keys.private_keys import public_key_of, sign
from registry.identity.statements.document_signature import _PREFIX, _base64
from registry.strict_json import JsonValue


def sign_envelope(
    payload: Mapping[str, JsonValue], key: Ed25519PrivateKey
) -> dict[str, JsonValue]:
    """Sign as kind B. payload: WAB's trust document with `expires_at`; sets `trust.pk`."""
    trust: dict[str, JsonValue] = {"pk": _PREFIX + _base64(public_key_of(key).raw)}
    signed: dict[str, JsonValue] = {**payload, "trust": trust}
    signature = _PREFIX + _base64(sign(key, rfc8785.dumps(signed)))
    return {"payload": signed, "signature": signature}
