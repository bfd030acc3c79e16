"""A request that an operator signs (RFC 9421), instead of showing its API key.

Covered are the method, our authority, the path, the query and the body, so that the
signature is good for this request at this registry only; a nonce, which the registry
remembers until the signature has expired, makes it good for once.
"""

import hashlib
from dataclasses import dataclass

from registry.errors import Refused
from registry.identity.keys.private_keys import PrivateKey, public_key_of
from registry.identity.keys.public_keys import PublicKey
from registry.identity.refusals import REQUEST_DIGEST_WRONG, SIGNATURE_INVALID
from registry.identity.requests.message_signature import (
    ALGORITHMS,
    Component,
    Message,
    content_digest,
    find_parameters,
    sign_message,
    verify_message,
)
from registry.identity.requests.structured_fields import (
    parse_dictionary,
    serialize_bytes,
)

TAG = "fair-registry-operator"
"""Signatures with another tag are not for us, such as those of Web Bot Auth."""
LABEL = "operator"
MAX_LIFETIME_S = 300
MAX_SKEW_S = 60
MAX_NONCE_LENGTH = 64

_ALWAYS = tuple(map(Component, ("@method", "@authority", "@path", "@query")))
_DIGEST = Component("content-digest")


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedRequest:
    """A request to sign or verify. authority: ours. query: without the question mark.

    fields: `signature-input`, `signature` and `content-digest`, where they are given.
    """

    method: str
    authority: str
    path: str
    query: str
    fields: dict[str, str]
    body: bytes

    @property
    def message(self) -> Message:
        derived = {
            "@method": self.method,
            "@authority": self.authority,
            "@path": self.path,
            "@query": f"?{self.query}",
        }
        return Message(derived=derived, fields=self.fields)

    @property
    def required(self) -> tuple[Component, ...]:
        return (*_ALWAYS, _DIGEST) if self.body else _ALWAYS


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedNonce:
    """A nonce to remember until `expires`, in seconds since 1970, when its signature ends."""

    nonce: str
    expires: int


def is_for_us(signature_input: str) -> bool:
    return f'tag="{TAG}"' in signature_input


def sign_request(
    request: SignedRequest,
    key: PrivateKey,
    *,
    now: int,
    nonce: str,
    lifetime_s: int = 60,
) -> dict[str, str]:
    """Return the fields to send with the request. now: seconds since 1970."""
    public = public_key_of(key)
    digest = {"content-digest": content_digest(request.body)} if request.body else {}
    fields = {**request.fields, **digest}
    signed = sign_message(
        Message(derived=request.message.derived, fields=fields),
        label=LABEL,
        covered=request.required,
        parameters={
            "created": now,
            "expires": now + lifetime_s,
            "nonce": nonce,
            "keyid": public.kid,
            "alg": ALGORITHMS[public.alg],
            "tag": TAG,
        },
        key=key,
    )
    return {**digest, **signed}


def key_of(request: SignedRequest) -> str:
    """Return the thumbprint of the key that claims to have signed. Raises: Refused."""
    kid = find_parameters(request.message, TAG).get("keyid")
    if not isinstance(kid, str):
        raise Refused(SIGNATURE_INVALID, "keyid is missing")
    return kid


def verify_request(request: SignedRequest, key: PublicKey, *, now: int) -> UsedNonce:
    """Return the nonce to remember, so that the request is not replayed. Raises: Refused."""
    _verify_digest(request)
    parameters = verify_message(
        request.message,
        tag=TAG,
        required=request.required,
        key=key,
        now=now,
        skew_s=MAX_SKEW_S,
    )
    nonce = parameters.get("nonce")
    created, expires = parameters.get("created"), parameters.get("expires")
    if not isinstance(nonce, str) or not 0 < len(nonce) <= MAX_NONCE_LENGTH:
        detail = f"nonce must have 1 to {MAX_NONCE_LENGTH} characters"
        raise Refused(SIGNATURE_INVALID, detail)
    if not isinstance(created, int) or not isinstance(expires, int):
        raise Refused(SIGNATURE_INVALID, "created or expires is missing")
    if expires - created > MAX_LIFETIME_S:
        detail = f"it is valid for more than {MAX_LIFETIME_S} seconds"
        raise Refused(SIGNATURE_INVALID, detail)
    return UsedNonce(nonce=nonce, expires=expires)


def _verify_digest(request: SignedRequest) -> None:
    """Check the SHA-256 digest (RFC 9530); digests by other algorithms are ignored."""
    field = request.fields.get("content-digest")
    if field is None:
        if request.body:
            raise Refused(REQUEST_DIGEST_WRONG, "Content-Digest is missing")
        return
    with Refused.on(ValueError, REQUEST_DIGEST_WRONG, str):
        digest = parse_dictionary(field).get("sha-256")
    if digest != serialize_bytes(hashlib.sha256(request.body).digest()):
        raise Refused(REQUEST_DIGEST_WRONG)
