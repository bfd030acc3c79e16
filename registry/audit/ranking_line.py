"""A ranking record read by one regular expression, for those who read millions.

Nearly all entries of a log are rankings of one shape. What matches this expression is
canonical and well-formed by construction, so it need not be encoded again to compare it:
`parse_record` would take it with the same members. What does not match is not refused
here, it is read by `parse_record` (members added later, escapes in a token).
"""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

from registry.audit.canonical import JsonValue
from registry.audit.record import MAX_RECORD_BYTES

_BASE32 = rb"[0-9A-HJKMNP-TV-Z]"
_SITE = rb'"[0-7]' + _BASE32 + rb'{12}"'
_DIGEST = rb'"[A-Za-z0-9_-]{43}"'
_NATURAL = rb"(?:0|[1-9][0-9]{0,14})"  # below 10**15, so below 2**53
_TOKEN = rb"[!#-\[\]-~]{1,256}"


def _list_of(item: bytes) -> bytes:
    return rb"\[(?>(?:" + item + rb"(?>(?:," + item + rb")*))?)\]"


_LINE = re.compile(
    rb'\{"_sd":' + _list_of(_DIGEST) + rb',"_sd_alg":"sha-256"'
    rb',"id":"[0-7]' + _BASE32 + rb'{25}"'
    rb',"k":(' + _NATURAL + rb'),"kind":"ranking","n":' + _NATURAL
    + rb',"op":"(' + _TOKEN + rb')"(?:,"opn":(' + _NATURAL + rb'))?'
    rb',"order":(' + _list_of(_SITE) + rb')'
    rb',"policy":"(sha256:[0-9a-f]{64})","seed":(' + _NATURAL + rb')'
    rb',"snap":"' + _TOKEN + rb'"'
    rb',"t":"([0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]Z)","v":1\}'
)  # fmt: skip


class RankingLine(NamedTuple):
    """What a ranking record says of itself; operator_count: None if it has none."""

    operator: str
    operator_count: int | None
    policy: str
    seed_index: int
    minute: str


def parse_ranking_line(body: bytes) -> RankingLine | None:
    """None for any other record, which may yet be a sound one."""
    match = _LINE.fullmatch(body)
    if match is None or len(body) > MAX_RECORD_BYTES:
        return None
    k, op, opn, order, policy, seed, minute = match.groups()
    sites = order[1:-1].split(b",") if len(order) > 2 else []
    if len(sites) != int(k) or len(set(sites)) != len(sites):
        return None
    count = None if opn is None else int(opn)
    return RankingLine(op.decode(), count, policy.decode(), int(seed), minute.decode())


def ranking_line_of(members: Mapping[str, JsonValue]) -> RankingLine:
    """members: of a parsed ranking record."""
    return RankingLine(
        operator=str(members["op"]),
        operator_count=cast("int | None", members.get("opn")),
        policy=str(members["policy"]),
        seed_index=cast("int", members["seed"]),
        minute=str(members["t"]),
    )
