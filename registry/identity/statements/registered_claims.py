"""Registered claims of a signed statement (RFC 7519 §4.1): aud, sub, iat, exp.

The subject is a host, or an operator (`operator_statement`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from registry.errors import ProblemType, Refused
from registry.identity import refusals
from registry.identity.json_fields import invalid_member, pointing_at, require
from registry.sites.host import Host, parse_host
from registry.strict_json import JsonValue

Act = TypeVar("Act", bound=str)

MAX_LIFETIME = timedelta(minutes=10)
MAX_SKEW = timedelta(seconds=60)
_END_OF_TIME = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp())


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementClaims:
    """Well-formed claims; neither time nor signature is checked yet."""

    audience: str
    issued_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteClaims(StatementClaims):
    """Claims of a statement about a host."""

    host: Host


def parse_claims(payload: Mapping[str, JsonValue]) -> StatementClaims:
    """Parse aud, iat and exp. Raises: Refused."""
    return StatementClaims(
        audience=require(payload, "aud", str),
        issued_at=_parse_instant(payload, "iat"),
        expires_at=_parse_instant(payload, "exp"),
    )


def parse_site_claims(
    payload: Mapping[str, JsonValue], *, test_hosts: bool = False
) -> SiteClaims:
    """Parse aud, sub, iat and exp. test_hosts: accept .test. Raises: Refused."""
    host = _parse_subject(payload, test_hosts=test_hosts)
    claims = parse_claims(payload)
    return SiteClaims(
        audience=claims.audience,
        host=host,
        issued_at=claims.issued_at,
        expires_at=claims.expires_at,
    )


def parse_act(
    payload: Mapping[str, JsonValue],
    members_of: Mapping[Act, frozenset[str]],
    unknown: ProblemType,
    misplaced: ProblemType,
) -> Act:
    """Parse the act of a statement, whose members may be of no other act.

    members_of: the members that each act takes. Raises: Refused(unknown, misplaced).
    """
    text = require(payload, "act", str)
    act = next((act for act in members_of if act == text), None)
    if act is None:
        raise Refused(unknown, pointer="/act")
    known = frozenset[str]().union(*members_of.values())
    for name in sorted(payload.keys() & (known - members_of[act])):
        if (name, payload[name]) == ("docs", []):
            continue  # as in the challenge's payload, which serves every act
        detail = f"The act {act!r} takes no {name!r}."
        raise Refused(misplaced, detail, pointer=f"/{name}")
    return act


def verify_claims(claims: StatementClaims, *, audience: str, now: datetime) -> None:
    """Verify audience and times. audience: this registry's origin.

    Raises: Refused.
    """
    if claims.audience != audience:
        detail = f"aud must be {audience!r}."
        raise Refused(refusals.AUDIENCE_WRONG, detail, pointer="/aud")
    lifetime = claims.expires_at - claims.issued_at
    if not timedelta() < lifetime <= MAX_LIFETIME:
        detail = f"From iat to exp it is {lifetime.total_seconds():.0f} seconds."
        raise Refused(refusals.LIFETIME_INVALID, detail, pointer="/exp")
    if claims.issued_at > now + MAX_SKEW:
        detail = f"iat is {claims.issued_at:%Y-%m-%dT%H:%M:%SZ}."
        raise Refused(refusals.STATEMENT_FROM_FUTURE, detail, pointer="/iat")
    if claims.expires_at <= now - MAX_SKEW:
        detail = f"exp is {claims.expires_at:%Y-%m-%dT%H:%M:%SZ}."
        raise Refused(refusals.STATEMENT_EXPIRED, detail, pointer="/exp")


def _parse_subject(payload: Mapping[str, JsonValue], *, test_hosts: bool) -> Host:
    text = require(payload, "sub", str)
    with pointing_at("/sub"):
        host = parse_host(text, test_hosts=test_hosts)
    if host.name != text:
        raise Refused(
            refusals.SUBJECT_SPELLING, f"Write {host.name!r}.", pointer="/sub"
        )
    return host


def _parse_instant(payload: Mapping[str, JsonValue], name: str) -> datetime:
    seconds = require(payload, name, int)
    if not 0 <= seconds <= _END_OF_TIME:
        raise invalid_member("must be seconds since 1970-01-01", f"/{name}")
    return datetime.fromtimestamp(seconds, UTC)
