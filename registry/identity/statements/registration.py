"""The signed statement of a site: the payload of a registration.

Members by act: `register` and `update` take `docs` and declarations, and the newer
statement replaces the older as a whole; without `docs` the well-known paths are
crawled. `rotate` takes `next_kid`, the key that is to follow; `revoke` takes
`revoked_kid`; `withdraw` takes nothing. Members that no act knows are ignored: later
versions add members, and a signer's own notes harm nobody.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from registry.errors import Conflict, Refused
from registry.identity import refusals
from registry.identity.https_url import parse_https_url
from registry.identity.json_fields import (
    invalid_member,
    optional,
    require,
    require_parsed,
)
from registry.identity.keys.public_keys import parse_thumbprint
from registry.identity.statements import declarations
from registry.identity.statements.declarations import Declarations, parse_declarations
from registry.identity.statements.nonce import parse_nonce
from registry.identity.statements.registered_claims import (
    SiteClaims,
    parse_act,
    parse_site_claims,
    verify_claims,
)
from registry.strict_json import MAX_SAFE_NUMBER, JsonValue

Act = Literal["register", "update", "rotate", "revoke", "withdraw"]

MAX_DOCUMENTS = 8
MAX_SEQ_STEP = 1_000_000
SEQ_AHEAD = timedelta(days=1)
"""Lead of a signer who counts in milliseconds since 1970 and whose clock is wrong."""
_SHA256 = re.compile(r"[0-9a-f]{64}")

_STATEMENT_OF_SITE = declarations.MEMBERS | {"docs"}
_ACT_MEMBERS: dict[Act, frozenset[str]] = {
    "register": _STATEMENT_OF_SITE,
    "update": _STATEMENT_OF_SITE,
    "rotate": frozenset({"next_kid"}),
    "revoke": frozenset({"revoked_kid"}),
    "withdraw": frozenset(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentClaim:
    """A claimed document. sha256: of its bytes, 64 lower-case hex digits."""

    url: str
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStatement(SiteClaims):
    """A well-formed payload; neither its time nor its signature is checked yet.

    next_kid: given exactly when act is rotate. revoked_kid: when it is revoke.
    """

    nonce: str
    seq: int
    act: Act
    documents: tuple[DocumentClaim, ...]
    declarations: Declarations
    next_kid: str | None = None
    revoked_kid: str | None = None


def parse_statement(
    payload: Mapping[str, JsonValue], *, test_hosts: bool = False
) -> SiteStatement:
    """Parse a payload. test_hosts: accept hosts under .test. Raises: Refused."""
    claims = parse_site_claims(payload, test_hosts=test_hosts)
    act = parse_act(
        payload, _ACT_MEMBERS, refusals.ACT_UNKNOWN, refusals.ACT_MEMBER_MISPLACED
    )
    return SiteStatement(
        audience=claims.audience,
        host=claims.host,
        issued_at=claims.issued_at,
        expires_at=claims.expires_at,
        nonce=require_parsed(payload, "jti", parse_nonce),
        seq=_parse_seq(payload),
        act=act,
        documents=_parse_documents(payload),
        declarations=parse_declarations(payload),
        next_kid=_parse_kid(payload, "next_kid", required=act == "rotate"),
        revoked_kid=_parse_kid(payload, "revoked_kid", required=act == "revoke"),
    )


def verify_statement(
    statement: SiteStatement, *, audience: str, now: datetime
) -> SiteStatement:
    """Verify audience and times. audience: this registry's origin.

    Raises: Refused.
    """
    verify_claims(statement, audience=audience, now=now)
    return statement


def verify_sequence(
    statement: SiteStatement, *, last_seq: int | None, now: datetime
) -> SiteStatement:
    """Verify the order of statements. last_seq: that of the site's last accepted one.

    An older statement, held back and sent late, must not undo a newer one; and none may
    use up the numbers that later ones need.
    Raises: Conflict(SEQ_NOT_INCREASING), Refused(SEQ_OUT_OF_REACH).
    """
    if last_seq is not None and statement.seq <= last_seq:
        detail = f"The last accepted seq is {last_seq}."
        raise Conflict(refusals.SEQ_NOT_INCREASING, detail, pointer="/seq")
    highest = max((last_seq or 0) + MAX_SEQ_STEP, highest_timed_seq(now))
    if statement.seq > highest:
        raise Refused(
            refusals.SEQ_OUT_OF_REACH, f"It may be at most {highest}.", pointer="/seq"
        )
    return statement


def highest_timed_seq(now: datetime) -> int:
    """Return the highest seq of a signer who counts in milliseconds since 1970."""
    return int((now + SEQ_AHEAD).timestamp() * 1000)


def _parse_seq(payload: Mapping[str, JsonValue]) -> int:
    seq = require(payload, "seq", int)
    if not 0 <= seq <= MAX_SAFE_NUMBER:
        raise invalid_member("must be from 0 to 2^53 - 1", "/seq")
    return seq


def _parse_kid(
    payload: Mapping[str, JsonValue], name: str, *, required: bool
) -> str | None:
    return require_parsed(payload, name, parse_thumbprint) if required else None


def _parse_documents(payload: Mapping[str, JsonValue]) -> tuple[DocumentClaim, ...]:
    entries = optional(payload, "docs", list) or []
    if len(entries) > MAX_DOCUMENTS:
        raise invalid_member(f"must list at most {MAX_DOCUMENTS} documents", "/docs")
    documents = [
        _parse_document(entry, f"/docs/{index}") for index, entry in enumerate(entries)
    ]
    urls = [document.url for document in documents]
    for index, url in enumerate(urls):
        if url in urls[:index]:
            raise invalid_member("names a document twice", f"/docs/{index}/url")
    return tuple(documents)


def _parse_document(entry: JsonValue, at: str) -> DocumentClaim:
    if not isinstance(entry, dict):
        raise invalid_member('must be an object {"url": …, "sha256": …}', at)
    url = require_parsed(entry, "url", parse_https_url, at)
    sha256 = optional(entry, "sha256", str, at)
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise invalid_member("must be 64 lower-case hex digits", f"{at}/sha256")
    return DocumentClaim(url=url, sha256=sha256)
