"""Put on record in one pass: the bytes that the parts make of it one after the other."""

import hashlib
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused
from registry.ranking.rank_score import PageStart
from registry.records.canonical import JsonValue, canonical_json
from registry.records.disclosure import digest_disclosure, parse_disclosure, seal
from registry.records.packing import (
    ANSWER,
    pack,
    unpack,
    unpack_openings,
)
from registry.records.ranked_answer import (
    DIGESTS,
    DISCLOSED,
    AnswerRequest,
    RankedAnswer,
    put_on_record,
)
from registry.records.ranking_columns import RankingColumns
from registry.records.record import ANONYMOUS, format_minute, parse_record
from registry.sites.identifier import format_site_id
from tests.unit.records.answers import AT, POLICY, make_answer, make_scores
from tests.unit.records.former_packing import pack_opening


def chance(size: int) -> bytes:
    return hashlib.shake_256(b"chance").digest(size)


def values_of(answer: RankedAnswer) -> Mapping[str, JsonValue]:
    scores = answer.scores
    rows = zip(*scores, strict=True)
    request = answer.request
    return {
        "query": answer.query,
        "location": answer.cell,
        "filters": answer.filters,
        "request": {
            "id": request.id,
            "nonce": request.nonce,
            "at": request.at.isoformat(),
            "after": [
                str(part)
                for part in request.after[: 4 if request.after.is_first else 6]
            ],
        },
        "scores": [
            {
                "site": format_site_id(site),
                "factors": list(factors),
                "score": total,
                "tie": f"{tie:016x}",
                "tier": tier,
                "probes": list(probes),
                "place": place,
            }
            for site, factors, total, tie, tier, probes, place in rows
        ],
        "terms": dict(answer.terms),
        "answer": {
            "eligible": answer.eligible,
            "order": [format_site_id(site) for site in scores.sites],
            "sample": list(map(format_site_id, answer.sample)),
        },
    }


def record_of(answer: RankedAnswer, digests: Sequence[str]) -> bytes:
    """The oracle."""
    return canonical_json(
        {
            "v": 2,
            "kind": "ranking",
            "id": answer.record_id,
            "t": format_minute(answer.at),
            "op": answer.operator or ANONYMOUS,
            "policy": answer.policy,
            "snap": answer.snapshot,
            "seed": answer.seed_index,
            "_sd_alg": "sha-256",
            "_sd": list(digests),
        }
    )


def columns_of(answer: RankedAnswer) -> RankingColumns:
    """The oracle."""
    key = hashlib.sha256(b"query " + answer.query.encode()).digest()[:8]
    return RankingColumns(
        accepted_at=answer.at,
        operator=answer.operator or ANONYMOUS,
        eligible=answer.eligible,
        returned=b"".join(site.to_bytes(8, "big") for site in answer.scores.sites),
        sampled=b"".join(site.to_bytes(8, "big") for site in answer.sample),
        query_key=key if answer.query else None,
        category=answer.filters.get("category"),
        located=answer.cell is not None,
    )


CASES = [
    pytest.param({}, id="of twenty"),
    pytest.param({"scores": make_scores(0)}, id="of none"),
    pytest.param({"scores": make_scores(1)}, id="of one"),
    pytest.param({"scores": make_scores(100)}, id="of a hundred"),
    pytest.param({"scores": make_scores(129)}, id="of many"),
    pytest.param({"scores": make_scores(300)}, id="of more than are packed as columns"),
    pytest.param(
        {"scores": make_scores(20, seed=b"o" * 32)}, id="ties of another seed"
    ),
    pytest.param(
        {"scores": make_scores(20)._replace(totals=[0] * 20)}, id="other totals"
    ),
    pytest.param({"operator": "k" * 43}, id="to be counted"),
    pytest.param({"snapshot": "gen-42"}, id="a snapshot of another name"),
    pytest.param({"snapshot": '"quoted\\'}, id="a snapshot of foreign characters"),
    pytest.param({"cell": None}, id="from nowhere"),
    pytest.param({"query": ""}, id="an empty query"),
    pytest.param({"query": "x" * 31}, id="a query just long enough to be deflated"),
    pytest.param({"query": "word " * 60}, id="a query that repeats itself"),
    pytest.param({"query": "é ünïcode 桌子 " * 20}, id="a query of several scripts"),
    pytest.param({"query": "a\0b\1\2\3\4\n\t" * 9}, id="control characters"),
    pytest.param({"query": '\\"' * 40}, id="quotes and backslashes"),
    pytest.param({"query": "A" * 43}, id="a query like a hash"),
    pytest.param({"query": "A" * 42 + "B"}, id="a query almost like a hash"),
    pytest.param({"query": "7" * 26}, id="a query like a record's id"),
    pytest.param({"query": "8" * 26}, id="a query almost like a record's id"),
    pytest.param({"query": "F" + "Z" * 12}, id="a query like a site"),
    pytest.param({"query": "F" + "I" * 12}, id="a query almost like a site"),
    pytest.param({"query": "q" * 5_000}, id="a long query"),
    pytest.param({"query": POLICY}, id="a query like a digest"),
    pytest.param({"query": POLICY[:-1] + "G"}, id="a query almost like a digest"),
    pytest.param({"filters": {"b": True, "a": "ä"}}, id="filters"),
    pytest.param({"filters": {"category": "bakery"}}, id="a category"),
    pytest.param({"terms": {}}, id="no terms"),
    pytest.param({"terms": {"\ue000": 1, "😀": 2, "a": 3}}, id="terms beyond ASCII"),
    pytest.param(
        {
            "request": AnswerRequest(
                "1" * 26,
                'n"once',
                AT,
                PageStart(-7, 1, 2**64 - 1, 2**63 - 1, 3, 10_000),
            )
        },
        id="a later page",
    ),
    pytest.param({"sample": ()}, id="no sample"),
    pytest.param(
        {"eligible": 2**53 - 1, "seed_index": 0}, id="large and small numbers"
    ),
    pytest.param({"at": AT.replace(microsecond=0)}, id="at a whole second"),
]


@pytest.mark.parametrize("changes", CASES)
def test_one_pass_gives_the_bytes_of_the_parts(changes: dict[str, object]) -> None:
    answer = make_answer(**changes)
    put = put_on_record(answer, chance)
    sealed = seal(values_of(answer), chance, DIGESTS)
    assert put.record.body == record_of(answer, sealed.digests)
    order = [format_site_id(site) for site in answer.scores.sites]
    assert put.openings == [
        pack_opening(opening, order, answer.tie_seed) for opening in sealed.openings
    ]
    assert put.columns == columns_of(answer)


@given(
    st.text(),
    st.dictionaries(st.text(max_size=20), st.integers(0, 10_000), max_size=40),
    st.integers(0, 40),
    st.integers(0, 2**32),
)
def test_whatever_is_put_on_record_comes_back(
    query: str, terms: dict[str, int], count: int, dice_seed: int
) -> None:
    scores = make_scores(count, dice_seed=dice_seed)
    answer = make_answer(query=query, terms=terms, scores=scores)
    put = put_on_record(answer, chance)
    assert unpack(pack(put.record.body)) == put.record.body
    stored = put.columns.returned, put.columns.sampled
    packed = dict(zip(DISCLOSED, put.openings, strict=True))
    members = unpack_openings(packed, answer.eligible, *stored)
    sealed = seal(values_of(answer), chance, DIGESTS)
    assert members == {opening.name: opening.disclosure for opening in sealed.openings}
    assert {*map(digest_disclosure, members.values())} == {
        *parse_record(put.record.body)["_sd"]
    }


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"operator": "two words"}, id="an operator of two words"),
        pytest.param({"policy": "sha256:x"}, id="a policy without digest"),
        pytest.param({"query": "\ud800"}, id="half a character"),
        pytest.param({"terms": {"a": 2**60}}, id="an integer beyond 2**53"),
    ],
)
def test_what_no_record_holds_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(Refused):
        put_on_record(make_answer(**changes), chance)


def test_site_stands_in_an_answer_once() -> None:
    scores = make_scores(2)
    twice = scores._replace(sites=scores.sites[:1] * 2)
    with pytest.raises(Refused, match="once"):
        put_on_record(make_answer(scores=twice), chance)


@pytest.mark.parametrize("name", ["eligible", "seed_index"])
@pytest.mark.parametrize("number", [-1, 2**53])
def test_number_that_no_record_holds_is_refused(name: str, number: int) -> None:
    with pytest.raises(Refused):
        put_on_record(make_answer(**{name: number}), chance)


def test_an_answer_stored_before_samples_were_logged_is_spelled_as_it_was() -> None:
    answer = make_answer()
    columns = put_on_record(answer, chance).columns
    stored = {"answer": bytes([ANSWER]) + bytes(16), "query": None}
    ids = columns.returned, columns.sampled
    (disclosure,) = unpack_openings(stored, 1234, *ids).values()
    value = parse_disclosure(disclosure).value
    order = [format_site_id(site) for site in answer.scores.sites]
    assert value == {"eligible": 1234, "order": order}
