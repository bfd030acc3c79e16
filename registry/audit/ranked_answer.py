"""What goes on record of a ranked answer: its record, and all of it as it is stored.

The same bytes as `record.ranking_record`, `disclosure.seal` and `packing` make of it one
after the other, which read again what they are given; here it is known as it is made.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import NamedTuple

import msgspec

from registry.audit.canonical import MAX_INTEGER, JsonValue, canonical_json
from registry.audit.disclosure import seal_spelled
from registry.audit.packed_scores import ScoreColumns, pack_columns, spell_scores
from registry.audit.packing import pack, pack_value
from registry.audit.record import ANONYMOUS, Record, format_minute, ranking_record
from registry.sites.identifier import ULID_LENGTH, spell_site_id
from registry.tlog.merkle import leaf_hash

DISCLOSED = ("query", "location", "filters", "request", "scores", "terms")
"""Each has a column of `audit.ranking`; another name needs another."""

DIGESTS = 8  # in every record: those of the disclosures, the rest decoys
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Request(NamedTuple):
    """By which the instant, the ties and the page of an answer are found again.

    after: the members of the `OrderKey` that the answer goes on from.
    """

    id: str
    nonce: str
    at: datetime
    after: tuple[int, int, int, int]


class RankedAnswer(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """operator: for whom it is counted; None: nobody. cell: geohash, or None.

    snapshot, seed_index: see `ranking_record`. eligible: how many sites were; sample:
    some of them. tie_seed: 32 bytes. terms: weights by term.
    """

    record_id: str
    at: datetime
    operator: str | None
    policy: str
    snapshot: str
    seed_index: int
    eligible: int
    sample: Sequence[int]
    scores: ScoreColumns
    tie_seed: bytes
    query: str
    cell: str | None
    filters: Mapping[str, JsonValue]
    request: Request
    terms: Mapping[str, int]


class AnswerOnRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All of an answer that is stored.

    packed: the record; None if it is yet to be counted. openings: of `DISCLOSED`,
    packed. sample: eight bytes a site.
    """

    record: Record
    leaf_hash: bytes
    at: datetime
    operator: str | None
    packed: bytes | None
    openings: Sequence[bytes]
    sample: bytes


def put_on_record(
    answer: RankedAnswer, random_bytes: Callable[[int], bytes]
) -> AnswerOnRecord:
    """random_bytes: cryptographically secure; called once.

    Raises: Refused, ValueError or struct.error on what no answer holds.
    """
    if len(set(answer.scores.sites)) < len(answer.scores.sites):
        raise ValueError("a site stands in an answer once")
    if not all(0 <= one <= MAX_INTEGER for one in (answer.eligible, answer.seed_index)):
        raise ValueError("no such number stands in a record")
    order = list(map(spell_site_id, answer.scores.sites))
    values = _spell_values(answer, order)
    sealed = seal_spelled(values, random_bytes, DIGESTS)
    body = _spell_record(answer, order, sealed.digests)
    return AnswerOnRecord(
        record=Record(id=answer.record_id, kind="ranking", body=body),
        leaf_hash=leaf_hash(body),
        at=answer.at,
        operator=answer.operator,
        packed=None if answer.operator else pack(body),
        openings=_pack_values(answer, values, sealed.salts),
        sample=struct.pack(f">{len(answer.sample)}q", *answer.sample),
    )


def _spell_values(answer: RankedAnswer, order: Sequence[str]) -> dict[str, bytes]:
    """Of `DISCLOSED`, as canonical JSON. order: the sites, spelled."""
    return {
        "query": canonical_json(answer.query),
        "location": canonical_json(answer.cell),
        "filters": canonical_json(answer.filters),
        "request": _spell_request(answer.request),
        "scores": spell_scores(answer.scores, order),
        "terms": canonical_json(answer.terms),
    }


def _spell_request(request: Request) -> bytes:
    return b'{"after":["%d","%d","%d","%d"],"at":"%b","id":%b,"nonce":%b}' % (
        *request.after,
        request.at.isoformat().encode(),
        canonical_json(request.id),
        canonical_json(request.nonce),
    )


def _pack_values(
    answer: RankedAnswer, values: Mapping[str, bytes], salts: Sequence[bytes]
) -> list[bytes]:
    scores = pack_columns(answer.scores, answer.tie_seed)
    return [
        pack_value(salt, value, scores if name == "scores" else None)
        for salt, (name, value) in zip(salts, values.items(), strict=True)
    ]


_RECORD = (
    b'{"_sd":[%b],"_sd_alg":"sha-256","id":"%b","k":%d,"kind":"ranking","n":%d,"op":%b'
    b',"order":[%b],"policy":%b,"seed":%d,"snap":%b,"t":"%b","v":1}'
)


def _spell_record(
    answer: RankedAnswer, order: Sequence[str], digests: Sequence[bytes]
) -> bytes:
    """See `record.ranking_record`."""
    operator, policy, snapshot = _spell_told(
        answer.operator or ANONYMOUS, answer.policy, answer.snapshot
    )
    return _RECORD % (
        _quoted(digests),
        answer.record_id.encode(),
        len(order),
        answer.eligible,
        operator,
        _quoted([site.encode() for site in order]),
        policy,
        answer.seed_index,
        snapshot,
        format_minute(answer.at).encode(),
    )


def _quoted(strings: Sequence[bytes]) -> bytes:
    return b'"%b"' % b'","'.join(strings) if strings else b""


@lru_cache(maxsize=256)
def _spell_told(
    operator: str, policy: str, snapshot: str
) -> tuple[bytes, bytes, bytes]:
    """What many records tell alike. Raises: Refused, as `ranking_record` does."""
    ranking_record(
        record_id="0" * ULID_LENGTH,
        at=_EPOCH,
        operator=operator,
        policy=policy,
        snapshot=snapshot,
        seed_index=0,
        eligible_count=0,
        order=(),
        sd_digests=(),
    )
    return canonical_json(operator), canonical_json(policy), canonical_json(snapshot)
