"""The record of a ranking: one function encodes it, one regular expression reads it.

Nearly all entries of a log are rankings of one shape. What matches this expression is
canonical and well-formed by construction, so it need not be encoded again to compare it:
`parse_record` would take it with the same members. What does not match is not refused
here, it is read by `parse_record` (members added later, escapes in a token).
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, cast

import msgspec

from registry.records.canonical import JsonValue
from registry.records.record import (
    MAX_RECORD_BYTES,
    Record,
    format_minute,
    parse_record,
)
from registry.records.record_fields import SD_ALG, VERSIONS

_BASE32 = rb"[0-9A-HJKMNP-TV-Z]"
_SITE = rb'"[0-7]' + _BASE32 + rb'{12}"'
_DIGEST = rb'"[A-Za-z0-9_-]{43}"'
_NATURAL = rb"(?:0|[1-9][0-9]{0,14})"  # below 10**15, so below 2**53
_TOKEN = rb"[!#-\[\]-~]{1,256}"


def _list_of(item: bytes) -> bytes:
    return rb"\[(?>(?:" + item + rb"(?>(?:," + item + rb")*))?)\]"


_HEAD = (
    rb'\{"_sd":' + _list_of(_DIGEST) + rb',"_sd_alg":"sha-256"'
    rb',"id":"(?P<id>[0-7]' + _BASE32 + rb'{25})"'
)  # fmt: skip
_OPERATOR = rb',"op":"(?P<op>' + _TOKEN + rb')"(?:,"opn":(?P<opn>' + _NATURAL + rb"))?"
_TAIL = (
    rb',"policy":"(?P<policy>sha256:[0-9a-f]{64})","seed":(?P<seed>' + _NATURAL + rb')'
    rb',"snap":"' + _TOKEN + rb'"'
    rb',"t":"(?P<t>[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]Z)"'
)  # fmt: skip
_LINE = re.compile(_HEAD + rb',"kind":"ranking"' + _OPERATOR + _TAIL + rb',"v":2\}')
_LINE_1 = re.compile(
    _HEAD
    + rb',"k":(?P<k>' + _NATURAL + rb'),"kind":"ranking","n":(?P<n>' + _NATURAL + rb")"
    + _OPERATOR + rb',"order":(?P<order>' + _list_of(_SITE) + rb")" + _TAIL
    + rb',"v":1\}'
)  # fmt: skip


class RankingFields(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Fields that a ranked answer puts on record.

    policy: `sha256:…`. seed_index: leaf of the day's seed commitment. sd_digests: of its
    disclosures.
    """

    record_id: str
    at: datetime
    operator: str
    policy: str
    snapshot: str
    seed_index: int
    sd_digests: Sequence[str]


class _Members(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False):
    """Members of the record in their order, which is that of canonical JSON."""

    sd: Sequence[str] = msgspec.field(name="_sd")
    sd_alg: str = msgspec.field(name="_sd_alg")
    id: str
    kind: str
    op: str
    opn: int | None = None
    policy: str
    seed: int
    snap: str
    t: str
    v: int


_encode = msgspec.json.Encoder().encode


def ranking_record(fields: RankingFields, operator_count: int | None = None) -> Record:
    """Encode the record of a ranked answer.

    operator_count: how many rankings this operator has had, so that it can notice one
    that is missing. Raises: Refused, TooLarge.
    """
    members = _Members(
        sd=fields.sd_digests,
        sd_alg=SD_ALG,
        id=fields.record_id,
        kind="ranking",
        op=fields.operator,
        opn=operator_count,
        policy=fields.policy,
        seed=fields.seed_index,
        snap=fields.snapshot,
        t=format_minute(fields.at),
        v=VERSIONS["ranking"][-1],
    )
    body = _encode(members)
    if parse_ranking_line(body) is None:
        parse_record(body)
    return Record(id=fields.record_id, kind="ranking", body=body)


class RankingLine(NamedTuple):
    """Fields of a ranking record that rules check. operator_count: None if it has none."""

    record_id: str
    operator: str
    operator_count: int | None
    policy: str
    seed_index: int
    minute: str


def parse_ranking_line(body: bytes) -> RankingLine | None:
    """Return None for any other record, which may yet be a sound one."""
    if len(body) > MAX_RECORD_BYTES:
        return None
    match = _LINE.fullmatch(body) or _LINE_1.fullmatch(body)
    if match is None or not _adds_up(match):
        return None
    number = match["opn"]
    return RankingLine(
        match["id"].decode(),
        match["op"].decode(),
        None if number is None else int(number),
        match["policy"].decode(),
        int(match["seed"]),
        match["t"].decode(),
    )


def _adds_up(match: re.Match[bytes]) -> bool:
    """Return whether the counts of a record of version 1 are those of its order."""
    if match.re is _LINE:
        return True
    order = match["order"]
    sites = order[1:-1].split(b",") if len(order) > 2 else []
    return len(set(sites)) == len(sites) == int(match["k"]) <= int(match["n"])


def ranking_line_of(members: Mapping[str, JsonValue]) -> RankingLine:
    """members: of a parsed ranking record."""
    return RankingLine(
        record_id=str(members["id"]),
        operator=str(members["op"]),
        operator_count=cast("int | None", members.get("opn")),
        policy=str(members["policy"]),
        seed_index=cast("int", members["seed"]),
        minute=str(members["t"]),
    )
