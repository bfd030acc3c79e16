"""All that is stored of a ranked answer: its record's fields, its columns, its disclosures.

The disclosures are the same bytes as `disclosure.seal` and `packing` make one after the
other, which read again what they are given; here it is known as it is made.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from registry.errors import Refused
from registry.ranking.rank_score import PageStart
from registry.records.canonical import JsonValue, canonical_json
from registry.records.disclosure import seal_encoded
from registry.records.packed_scores import ScoreColumns, encode_scores, pack_columns
from registry.records.packing import encode_answer, pack_answer, pack_value
from registry.records.ranking_columns import (
    RankingColumns,
    category_of,
    pack_sites,
    stored_query_key,
)
from registry.records.ranking_record import RankingFields, ranking_record
from registry.records.record import ANONYMOUS, Record
from registry.records.refusals import RECORD_FIELD_INVALID
from registry.sites.identifier import format_site_id

DISCLOSED = ("query", "location", "filters", "request", "scores", "terms", "answer")
"""Each has a column of `audit.ranking`; another name needs another.

`answer` is the number of eligible sites, the order of those returned, and a sample.
"""

DIGESTS = len(DISCLOSED)  # in every record, so that there is nothing for decoys to hide


MAX_INTEGER = 2**53  # of canonical JSON; numbers of records are below it


class AnswerRequest(NamedTuple):
    """Request by which instant, ties and page of an answer are computed again."""

    id: str
    nonce: str
    at: datetime
    after: PageStart


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
    request: AnswerRequest
    terms: Mapping[str, int]


class AnswerOnRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """All of an answer that is stored.

    operator: for whom it is yet to be counted, if for anybody. record: as long as it is
    not counted. openings: of `DISCLOSED`, packed.
    """

    fields: RankingFields
    record: Record
    operator: str | None
    columns: RankingColumns
    openings: Sequence[bytes]

    def counted(self, number: int) -> Record:
        """Return the record with its number among those of its operator."""
        return ranking_record(self.fields, number)


def put_on_record(
    answer: RankedAnswer, random_bytes: Callable[[int], bytes]
) -> AnswerOnRecord:
    """Seal and pack an answer.

    random_bytes: cryptographically secure; called once. Raises: Refused, struct.error on
    what no answer holds.
    """
    order = list(map(format_site_id, answer.scores.sites))
    if len(set(order)) < len(order):
        raise Refused(RECORD_FIELD_INVALID, "a site stands in order once")
    if not len(order) <= answer.eligible < MAX_INTEGER:
        raise Refused(RECORD_FIELD_INVALID, f"{answer.eligible} eligible sites")
    values = _encode_values(answer, order)
    sealed = seal_encoded(values, random_bytes, DIGESTS)
    fields = RankingFields(
        record_id=answer.record_id,
        at=answer.at,
        operator=answer.operator or ANONYMOUS,
        policy=answer.policy,
        snapshot=answer.snapshot,
        seed_index=answer.seed_index,
        sd_digests=[digest.decode() for digest in sealed.digests],
    )
    return AnswerOnRecord(
        fields=fields,
        record=ranking_record(fields),
        operator=answer.operator,
        columns=_columns(answer),
        openings=_pack_values(answer, values, sealed.salts),
    )


def _columns(answer: RankedAnswer) -> RankingColumns:
    return RankingColumns(
        accepted_at=answer.at,
        operator=answer.operator or ANONYMOUS,
        eligible=answer.eligible,
        returned=pack_sites(answer.scores.sites),
        sampled=pack_sites(answer.sample),
        query_key=stored_query_key(answer.query),
        category=category_of(answer.filters),
        located=answer.cell is not None,
    )


def _encode_values(answer: RankedAnswer, order: Sequence[str]) -> dict[str, bytes]:
    """Encode the values of `DISCLOSED` as canonical JSON. order: the ids of sites as texts."""
    return {
        "query": canonical_json(answer.query),
        "location": canonical_json(answer.cell),
        "filters": canonical_json(answer.filters),
        "request": _encode_request(answer.request),
        "scores": encode_scores(answer.scores, order),
        "terms": canonical_json(answer.terms),
        "answer": encode_answer(
            answer.eligible, order, list(map(format_site_id, answer.sample))
        ),
    }


def _encode_request(request: AnswerRequest) -> bytes:
    # A first page has the four members that it always had.
    after = request.after[:4] if request.after.is_first else request.after
    return b'{"after":[%b],"at":"%b","id":%b,"nonce":%b}' % (
        b",".join(b'"%d"' % member for member in after),
        request.at.isoformat().encode(),
        canonical_json(request.id),
        canonical_json(request.nonce),
    )


def _pack_values(
    answer: RankedAnswer, values: Mapping[str, bytes], salts: Sequence[bytes]
) -> list[bytes]:
    *others, answer_salt = salts
    scores = pack_columns(answer.scores, answer.tie_seed)
    packed = [
        pack_value(salt, value, scores if name == "scores" else None)
        for salt, (name, value) in zip(others, values.items(), strict=False)
    ]
    return [*packed, pack_answer(answer_salt)]
