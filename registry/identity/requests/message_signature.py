"""HTTP message signatures (RFC 9421).

Covered are fields by their values, members of dictionary fields, and the derived
components that the caller supplies. Verification is strict: only the canonical
serialization is accepted.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from registry.errors import Refused
from registry.identity.keys import private_keys
from registry.identity.keys.private_keys import PrivateKey
from registry.identity.keys.public_keys import Algorithm, PublicKey, verify_signature
from registry.identity.refusals import SIGNATURE_INVALID
from registry.identity.requests.structured_fields import (
    InnerList,
    Item,
    Parameters,
    parse_bytes,
    parse_dictionary,
    parse_list,
    serialize_bytes,
    serialize_item,
    serialize_list,
)

ED25519 = "ed25519"
ALGORITHMS: Mapping[Algorithm, str] = {"Ed25519": ED25519, "ES256": "ecdsa-p256-sha256"}
"""The algorithms' names in the IANA registry of RFC 9421 §6.2."""

_FIX = "Sign the message again as RFC 9421 says, with the key that keyid names."


@dataclass(frozen=True, slots=True)
class Component:
    """Covered component (§2): a field by its name in lower case, or a derived @name.

    key: the covered member of a dictionary field. of_request: taken from the request that
    the signed response answers (`req`, §2.4).
    """

    name: str
    key: str | None = None
    of_request: bool = False

    @property
    def item(self) -> Item:
        parameters: dict[str, str | int | bool] = {}
        if self.of_request:
            parameters["req"] = True
        if self.key is not None:
            parameters["key"] = self.key
        return Item(self.name, parameters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request or response. derived: "@authority" and so on. fields: by lower-case name.

    request: the one that a response answers.
    """

    derived: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    request: "Message | None" = None


def signature_base(
    message: Message, covered: Sequence[Component], parameters: Parameters
) -> bytes:
    """Build the bytes to sign (§2.5). Raises: ValueError if a component is missing."""
    if len(set(covered)) < len(covered):
        raise ValueError("a component is covered twice")
    lines = [
        f"{serialize_item(component.item)}: {_value_of(message, component)}"
        for component in covered
    ]
    lines.append(f'"@signature-params": {_signature_params(covered, parameters)}')
    return "\n".join(lines).encode("ascii")


def sign_message(
    message: Message,
    *,
    label: str,
    covered: Sequence[Component],
    parameters: Parameters,
    key: PrivateKey,
) -> dict[str, str]:
    """Return the fields Signature-Input and Signature (§4).

    Raises: ValueError if the message lacks a component.
    """
    signature = private_keys.sign(key, signature_base(message, covered, parameters))
    return {
        "Signature-Input": f"{label}={_signature_params(covered, parameters)}",
        "Signature": f"{label}={serialize_bytes(signature)}",
    }


def verify_message(
    message: Message,
    *,
    tag: str,
    required: Collection[Component],
    key: PublicKey,
    now: int,
    skew_s: int = 0,
) -> Parameters:
    """Verify the only signature with this tag and return its parameters (§3.2).

    required: components that it must cover. now: seconds since 1970. skew_s: the
    tolerated lead of the signer's clock.

    Raises: Refused(SIGNATURE_INVALID).
    """
    with Refused.on(ValueError, SIGNATURE_INVALID, str, fix=_FIX):
        label, signed = _find(message, tag)
        covered = [_component_of(item) for item in signed.items]
        _verify_parameters(signed.parameters, key, now, skew_s)
        _verify_covered(covered, required)
        base = signature_base(message, covered, signed.parameters)
        signatures = parse_dictionary(message.fields.get("signature", ""))
        signature = parse_bytes(signatures.get(label, ""))
    verify_signature(key, base, signature)
    return signed.parameters


def find_parameters(message: Message, tag: str) -> Parameters:
    """Return the parameters of the only signature with this tag, unverified.

    Raises: Refused(SIGNATURE_INVALID).
    """
    with Refused.on(ValueError, SIGNATURE_INVALID, str, fix=_FIX):
        return _find(message, tag)[1].parameters


def content_digest(body: bytes) -> str:
    """Return the value of the Content-Digest field (RFC 9530 §2)."""
    return f"sha-256={serialize_bytes(hashlib.sha256(body).digest())}"


def _signature_params(covered: Sequence[Component], parameters: Parameters) -> str:
    items = tuple(component.item for component in covered)
    return serialize_list(InnerList(items, parameters))


def _value_of(message: Message, component: Component) -> str:
    source = message.request if component.of_request else message
    if source is None:
        raise ValueError("the signed message answers no request")
    values = source.derived if component.name.startswith("@") else source.fields
    if component.name not in values:
        raise ValueError(f"the message has no {component.name[:80]!a}")
    value = values[component.name]
    if component.key is not None:
        members = parse_dictionary(value)
        if component.key not in members:
            raise ValueError(f"{component.name} has no member {component.key[:80]!a}")
        value = members[component.key]
    # A line break would let one value pass for two components.
    if not (value.isascii() and value.isprintable()):
        raise ValueError(f"{component.name} holds more than printable ASCII")
    return value


def _find(message: Message, tag: str) -> tuple[str, InnerList]:
    members = parse_dictionary(message.fields.get("signature-input", ""))
    signatures = [(label, parse_list(member)) for label, member in members.items()]
    tagged = [pair for pair in signatures if pair[1].parameters.get("tag") == tag]
    if len(tagged) != 1:
        raise ValueError(f"{len(tagged)} signatures have the tag {tag}")
    return tagged[0]


def _component_of(item: Item) -> Component:
    key = item.parameters.get("key")
    component = Component(
        item.text,
        key=key if isinstance(key, str) else None,
        of_request=item.parameters.get("req") is True,
    )
    if list(component.item.parameters.items()) != list(item.parameters.items()):
        raise ValueError(f"{item.text[:80]!a} has parameters that are not known")
    return component


def _verify_covered(
    covered: Sequence[Component], required: Collection[Component]
) -> None:
    for component in required:
        if component not in covered:
            raise ValueError(f"{serialize_item(component.item)} is not covered")


def _verify_parameters(
    parameters: Parameters, key: PublicKey, now: int, skew_s: int
) -> None:
    created, expires = parameters.get("created"), parameters.get("expires")
    if not isinstance(created, int) or not isinstance(expires, int):
        raise ValueError("created or expires is missing")  # noqa: TRY004 — of a text
    if not created - skew_s <= now < expires:
        raise ValueError(f"it is valid from {created} to {expires}, and now is {now}")
    if parameters.get("keyid") != key.kid:
        raise ValueError("keyid names another key")
    if parameters.get("alg", ALGORITHMS[key.alg]) != ALGORITHMS[key.alg]:
        raise ValueError("the algorithm is another")
