"""HTTP message signatures (RFC 9421): what is signed of a message, and how it is told.

The fields are covered by their values, a member of a dictionary field by its own, and of
what is derived from a message, the authority or another that the caller names. Verifying
is strict: any spelling but the canonical one is refused.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from registry.errors import Refused
from registry.identity import private_keys
from registry.identity.keys import Algorithm, PublicKey, verify_signature
from registry.identity.private_keys import PrivateKey
from registry.identity.refusals import SIGNATURE_INVALID
from registry.identity.structured_fields import (
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

_FIX = "Sign the message anew as RFC 9421 says, with the key that keyid names."


@dataclass(frozen=True, slots=True)
class Component:
    """What a signature covers (§2): a field by its name in lower case, or @something.

    key: of the one member that is covered of a dictionary field. of_request: it belongs
    to the request that the signed response answers (`req`, §2.4).
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
    """derived: "@authority" and the like. fields: by their names in lower case.

    request: the one that a response answers.
    """

    derived: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)
    request: "Message | None" = None


def signature_base(
    message: Message, covered: Sequence[Component], parameters: Parameters
) -> bytes:
    """What is signed (§2.5). Raises: ValueError if the message lacks a component."""
    if len(set(covered)) < len(covered):
        raise ValueError("a component is covered twice")
    lines = [
        f"{serialize_item(one.item)}: {_value_of(message, one)}" for one in covered
    ]
    lines.append(f'"@signature-params": {_told(covered, parameters)}')
    return "\n".join(lines).encode("ascii")


def sign_message(
    message: Message,
    *,
    label: str,
    covered: Sequence[Component],
    parameters: Parameters,
    key: PrivateKey,
) -> dict[str, str]:
    """The fields Signature-Input and Signature (§4).

    Raises: ValueError if the message lacks a component.
    """
    signature = private_keys.sign(key, signature_base(message, covered, parameters))
    return {
        "Signature-Input": f"{label}={_told(covered, parameters)}",
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
    """The parameters of the one signature with this tag, which holds (§3.2).

    required: what it has to cover, or it says nothing. now: seconds since 1970. skew_s:
    by how much the signer's clock may be ahead.

    Raises: Refused(SIGNATURE_INVALID).
    """
    try:
        label, told = _find(message, tag)
        covered = [_component_of(item) for item in told.items]
        _verify_parameters(told.parameters, key, now, skew_s)
        _verify_covered(covered, required)
        base = signature_base(message, covered, told.parameters)
        signatures = parse_dictionary(message.fields.get("signature", ""))
        signature = parse_bytes(signatures.get(label, ""))
    except ValueError as error:
        raise Refused(SIGNATURE_INVALID, str(error), fix=_FIX) from error
    verify_signature(key, base, signature)
    return told.parameters


def find_parameters(message: Message, tag: str) -> Parameters:
    """Of the one signature with this tag; nothing of it is verified yet.

    Raises: Refused(SIGNATURE_INVALID).
    """
    try:
        return _find(message, tag)[1].parameters
    except ValueError as error:
        raise Refused(SIGNATURE_INVALID, str(error), fix=_FIX) from error


def content_digest(body: bytes) -> str:
    """The field of that name (RFC 9530 §2)."""
    return f"sha-256={serialize_bytes(hashlib.sha256(body).digest())}"


def _told(covered: Sequence[Component], parameters: Parameters) -> str:
    return serialize_list(InnerList(tuple(one.item for one in covered), parameters))


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
    signatures = {label: parse_list(told) for label, told in members.items()}
    tagged = [
        (label, told)
        for label, told in signatures.items()
        if told.parameters.get("tag") == tag
    ]
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
    for one in required:
        if one not in covered:
            raise ValueError(f"{serialize_item(one.item)} is not covered")


def _verify_parameters(
    parameters: Parameters, key: PublicKey, now: int, skew_s: int
) -> None:
    created, expires = parameters.get("created"), parameters.get("expires")
    if not isinstance(created, int) or not isinstance(expires, int):
        raise ValueError("created or expires is missing")  # noqa: TRY004 — of a text
    if not created - skew_s <= now < expires:
        raise ValueError(f"it holds from {created} to {expires}, and now is {now}")
    if parameters.get("keyid") != key.kid:
        raise ValueError("keyid names another key")
    if parameters.get("alg", ALGORITHMS[key.alg]) != ALGORITHMS[key.alg]:
        raise ValueError("the algorithm is another")
