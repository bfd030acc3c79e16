"""Web Bot Auth: signed requests of a crawler, and the directory of its keys.

Follows draft-ietf-webbotauth-httpsig-protocol-00 of September 2026, and two others where
their Signature-Agent differs. Signed are the requested authority and the location of the
keys; a signature is valid for a minute.
"""

import json
from collections.abc import Sequence
from enum import StrEnum
from urllib.parse import urlsplit

from registry.identity import base64url
from registry.identity.keys.private_keys import PrivateKey, public_key_of
from registry.identity.keys.public_keys import PublicKey
from registry.identity.requests.message_signature import (
    ED25519,
    Component,
    Message,
    content_digest,
    sign_message,
)
from registry.identity.requests.structured_fields import Parameters, serialize_string

DIRECTORY_PATH = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"
REQUEST_TAG = "web-bot-auth"
DIRECTORY_TAG = "http-message-signatures-directory"
NONCE_BYTES = 64
REQUEST_LIFETIME_S = 60
DIRECTORY_LIFETIME_S = 7 * 86_400  # lists that quote it are renewed more often (C.8)

DELIVERY_TAG = "fair-registry-webhook"
DELIVERY_LIFETIME_S = 300
DELIVERY_COVERED = (
    Component("@method"),
    Component("@authority"),
    Component("@path"),
    Component("@query"),
    Component("content-digest"),
    Component("content-type"),
)
DIRECTORY_COVERED = (
    Component("@authority", of_request=True),
    Component("content-digest"),
)
_REQUEST_LABEL, _DIRECTORY_LABEL = "sig1", "binding"


class Draft(StrEnum):
    """Drafts, which differ in the value of Signature-Agent."""

    MEUNIER_03 = "meunier-03"  # draft-meunier-web-bot-auth-architecture: a bare origin
    IETF_00 = "ietf-00"  # a dictionary with our origin
    IETF_01 = "ietf-01"  # a dictionary with the URL of the directory; in the making


class SignatureAgent:
    """Signer of requests. covered: the components that each signature covers.

    directory: a key set (RFC 7517 §5) of the one key that signs.
    """

    def __init__(
        self, *, origin: str, key: PrivateKey, draft: Draft = Draft.IETF_00
    ) -> None:
        """Prepare the directory. origin: https, where it is served. key: Ed25519."""
        public = public_key_of(key)
        label = None if draft == Draft.MEUNIER_03 else _REQUEST_LABEL
        self.covered = (Component("@authority"), Component("signature-agent", label))
        self.directory = _encode_directory(public)
        self._authority = authority_of(origin)
        self._field = _signature_agent(origin, draft)
        self._key = key
        self._kid = public.kid

    def sign_request(self, authority: str, *, now: int, nonce: bytes) -> dict[str, str]:
        """Return the header fields for a request.

        authority: host, and port if not 443, in lower case. now: seconds since 1970.
        nonce: NONCE_BYTES random bytes.
        """
        message = Message(
            derived={"@authority": authority}, fields={"signature-agent": self._field}
        )
        signed = self._sign(
            *(message, self.covered, now),
            tag=REQUEST_TAG,
            lifetime_s=REQUEST_LIFETIME_S,
            nonce=nonce,
        )
        return {"Signature-Agent": self._field, **signed}

    def sign_delivery(
        self,
        authority: str,
        path: str,
        content: bytes,
        content_type: str,
        *,
        now: int,
        nonce: bytes,
    ) -> dict[str, str]:
        """Return the header fields of a webhook's delivery, as `sign_request` does.

        path: with its query. A receiver checks DELIVERY_COVERED.
        """
        name, _, query = path.partition("?")
        derived = {
            "@method": "POST",
            "@authority": authority,
            "@path": name,
            "@query": f"?{query}",
        }
        digest = content_digest(content)
        fields = {"content-digest": digest, "content-type": content_type}
        signed = self._sign(
            *(Message(derived=derived, fields=fields), DELIVERY_COVERED, now),
            tag=DELIVERY_TAG,
            lifetime_s=DELIVERY_LIFETIME_S,
            nonce=nonce,
        )
        return {"Content-Digest": digest, **signed}

    def sign_directory(self, *, now: int) -> dict[str, str]:
        """Return the header fields of the directory, which prove possession of its key.

        The authority is our own, whatever Host the request named: otherwise anybody
        could bind our key to a host of theirs. now: seconds since 1970.
        """
        digest = content_digest(self.directory)
        message = Message(
            fields={"content-digest": digest},
            request=Message(derived={"@authority": self._authority}),
        )
        signed = self._sign(
            *(message, DIRECTORY_COVERED, now),
            tag=DIRECTORY_TAG,
            lifetime_s=DIRECTORY_LIFETIME_S,
            label=_DIRECTORY_LABEL,
        )
        return {"Content-Digest": digest, **signed}

    def _sign(
        self,
        message: Message,
        covered: Sequence[Component],
        now: int,
        *,
        tag: str,
        lifetime_s: int,
        label: str = _REQUEST_LABEL,
        nonce: bytes = b"",
    ) -> dict[str, str]:
        once = {"nonce": base64url.encode(nonce)} if nonce else {}
        parameters: Parameters = {
            "created": now,
            "expires": now + lifetime_s,
            "keyid": self._kid,
            "alg": ED25519,
            **once,
            "tag": tag,
        }
        return sign_message(
            message, label=label, covered=covered, parameters=parameters, key=self._key
        )


def authority_of(origin: str) -> str:
    """Return an https origin's authority, lower case, without the default port (§2.2.3)."""
    return urlsplit(origin).netloc.lower().removesuffix(":443")


def _signature_agent(origin: str, draft: Draft) -> str:
    match draft:
        case Draft.MEUNIER_03:
            return serialize_string(origin)
        case Draft.IETF_00:
            return f"{_REQUEST_LABEL}={serialize_string(origin)}"
        case Draft.IETF_01:
            return f"{_REQUEST_LABEL}={serialize_string(origin + DIRECTORY_PATH)}"


def _encode_directory(key: PublicKey) -> bytes:
    """Encode a key set without `alg`: it would be a name that JOSE lacks (5.5.1)."""
    members = {
        "kty": key.jwk["kty"],
        "crv": key.jwk["crv"],
        "kid": key.kid,
        "x": key.jwk["x"],
        "use": "sig",
    }
    return json.dumps({"keys": [members]}, separators=(",", ":")).encode("ascii")
