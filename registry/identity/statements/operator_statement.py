"""Signed statements of an operator of agents: register, update, rotate, close.

The key is the identity: the first statement brings it in its payload and is signed by
it, and its thumbprint is the operator's id for good. Whoever holds that key can show
anybody that the rankings counted under the id are his.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from registry.identity import refusals
from registry.identity.https_url import parse_https_url
from registry.identity.json_fields import optional, parse_line, require, require_parsed
from registry.identity.keys.jwk import parse_jwk
from registry.identity.keys.public_keys import PublicKey, parse_thumbprint
from registry.identity.statements.registered_claims import (
    StatementClaims,
    parse_act,
    parse_claims,
)
from registry.strict_json import JsonValue

Act = Literal["register", "update", "rotate", "close"]

MAX_NAME_LENGTH = 100
_CONTACT_MEMBERS = frozenset({"name", "contact", "public"})
_ACT_MEMBERS: Mapping[Act, frozenset[str]] = {
    "register": _CONTACT_MEMBERS | {"jwk", "api_key"},
    "update": _CONTACT_MEMBERS | {"api_key"},
    "rotate": frozenset({"next_jwk", "api_key"}),
    "close": frozenset(),
}
_parse_name = partial(parse_line, most=MAX_NAME_LENGTH)
_MAILTO = re.compile(
    r"mailto:[A-Za-z0-9._+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{1,63}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """The operator's own description of itself, unchecked.

    contact: a mailto: or https: URL. is_public: shown to others.
    """

    name: str
    contact: str
    is_public: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorStatement(StatementClaims):
    """A well-formed statement; neither time nor signature is checked yet.

    key: that of the registration, or the next one. contact: given at registration and
    where it changes. api_key: True asks for a new one, False for none any more.
    """

    operator_id: str
    act: Act
    key: PublicKey | None
    contact: Contact | None
    api_key: bool | None


def parse_operator_statement(payload: Mapping[str, JsonValue]) -> OperatorStatement:
    """Parse the payload of a statement. Raises: Refused."""
    claims = parse_claims(payload)
    act = parse_act(
        payload,
        _ACT_MEMBERS,
        refusals.OPERATOR_ACT_UNKNOWN,
        refusals.OPERATOR_ACT_MEMBER_MISPLACED,
    )
    return OperatorStatement(
        audience=claims.audience,
        issued_at=claims.issued_at,
        expires_at=claims.expires_at,
        operator_id=require_parsed(payload, "sub", parse_thumbprint),
        act=act,
        key=_parse_key(payload, act),
        contact=_parse_contact(payload, act),
        api_key=optional(payload, "api_key", bool),
    )


def _parse_key(payload: Mapping[str, JsonValue], act: Act) -> PublicKey | None:
    names: Mapping[Act, str] = {"register": "jwk", "rotate": "next_jwk"}
    if act not in names:
        return None
    name = names[act]
    return parse_jwk(require(payload, name, dict), f"/{name}")


def _parse_contact(payload: Mapping[str, JsonValue], act: Act) -> Contact | None:
    """Parse the whole description, which replaces the one before, or return None."""
    if act != "register" and not payload.keys() & _CONTACT_MEMBERS:
        return None
    return Contact(
        name=require_parsed(payload, "name", _parse_name),
        contact=require_parsed(payload, "contact", _parse_contact_url),
        is_public=optional(payload, "public", bool) or False,
    )


def _parse_contact_url(text: str) -> str:
    """Raises: ValueError."""
    if _MAILTO.fullmatch(text):
        return text
    try:
        return parse_https_url(text)
    except ValueError as error:
        rest = str(error).removeprefix("must ")
        raise ValueError(f"must be mailto: with an address, or {rest}") from error
