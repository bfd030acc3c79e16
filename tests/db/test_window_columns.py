"""A window's rows in columns, and the numbers of sites; no database is needed."""

import random
import struct
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from registry.audit.canonical import JsonValue
from registry.audit.disclosure import encode_disclosure, seal
from registry.audit.packing import PLAIN, pack, pack_disclosure
from registry.audit.record import ranking_record
from registry.compiled.library import find_library
from registry.db.window_columns import Candidates, WindowColumns
from registry.db.window_rows import Rows
from registry.fairness.window.columns import (
    NO_SITE,
    UNREPORTED,
    Rankings,
    gather,
    join_rankings,
)
from registry.fairness.window.observation import (
    ObservedRanking,
    ObservedSelection,
    SiteDisclosure,
)
from registry.fairness.window.site_numbers import SiteNumbers
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import decode_base32, make_ulid, spell_site_id

DICE = random.Random(7)
SITES = sorted(DICE.randrange(2**63) for _ in range(30))
DISCLOSURES = [SiteDisclosure(site_id=spell_site_id(site)) for site in SITES]
SALT = "c2FsdHNhbHRzYWx0c2FsdA"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A ranking as it may stand in the tables. chosen: see `Rows.selected`."""

    order: tuple[int, ...] = tuple(SITES[:20])
    sampled: tuple[int, ...] = tuple(SITES[5:15])
    operator: str = "anon"
    count: int | None = None
    query: JsonValue = "bread"
    is_erased: bool = False
    filters: JsonValue = None
    chosen: int = UNREPORTED
    digests: int = 8
    is_plain: bool = False
    salt: str = SALT


def rows_of(answers: Sequence[Answer], first: int = 0) -> Rows:
    """As the server tells a block."""
    told = [row_of(answer, number) for number, answer in enumerate(answers, first)]
    heads = b"".join(
        struct.pack(
            ">16sq?4i", one[0], one[6], one[5], *(len(text or b"") for text in one[1:5])
        )
        for one in told
    )
    texts = b"".join(text or b"" for one in told for text in one[1:4])
    return Rows.of((heads, texts, b"".join(one[4] for one in told)))


def row_of(answer: Answer, number: int) -> tuple[Any, ...]:
    """Id, body, query, filters, sample, whether there are scores, choice."""
    body = ranking_record(
        record_id=name_of(number),
        at=datetime(2026, 11, 20, tzinfo=UTC),
        operator=answer.operator,
        policy=DEFAULT_POLICY.digest,
        snapshot=DEFAULT_POLICY.digest,
        seed_index=3,
        eligible_count=40 + number,
        order=[spell_site_id(site) for site in answer.order],
        sd_digests=seal({}, DICE.randbytes, answer.digests).digests,
        operator_count=answer.count,
    ).body
    packed = [
        pack_disclosure(name, encode_disclosure(answer.salt, name, value))
        for name, value in (("query", answer.query), ("filters", answer.filters or {}))
    ]
    return (
        decode_base32(name_of(number)).to_bytes(16, "big"),
        bytes([PLAIN]) + body if answer.is_plain else pack(body),
        *([None, None] if answer.is_erased else packed),
        np.array(answer.sampled, ">i8").tobytes(),
        number % 2 == 0,
        answer.chosen,
    )


def observed(answer: Answer, number: int) -> ObservedRanking:
    filters = {} if answer.is_erased else answer.filters
    query = "" if answer.is_erased else str(answer.query or "")
    site = None if answer.chosen < 0 else spell_site_id(answer.chosen)
    unreported = answer.chosen == UNREPORTED
    return ObservedRanking(
        id=name_of(number),
        eligible=40 + number,
        returned=tuple(map(spell_site_id, answer.order)),
        eligible_sample=tuple(map(spell_site_id, answer.sampled or answer.order)),
        selection=None if unreported else ObservedSelection(site_id=site),
        query=query,
        operator=answer.operator,
        category=str(filters.get("category", "")) if isinstance(filters, dict) else "",
    )


def name_of(number: int) -> str:
    return make_ulid(1_700_000_000_000 + number, bytes([number] * 10))


def assert_same(part: Rankings, expected: Rankings) -> None:
    for one in fields(Rankings):
        found, told = getattr(part, one.name), getattr(expected, one.name)
        if isinstance(told, np.ndarray):
            assert found.dtype == told.dtype, one.name
            assert found.tolist() == told.tolist(), one.name
        else:
            assert found == told, one.name


ANSWERS = [
    pytest.param([Answer()], id="one"),
    pytest.param(
        [Answer(query="a"), Answer(query="b"), Answer(query="a")], id="queries"
    ),
    pytest.param([Answer(salt="of another form"), Answer()], id="another salt"),
    pytest.param([Answer(query="Brötchen \U0001f956 " * 20)], id="a long query"),
    pytest.param([Answer(query=""), Answer(query=None)], id="without a query"),
    pytest.param([Answer(is_erased=True), Answer()], id="erased"),
    pytest.param([Answer(order=()), Answer(order=())], id="all are empty"),
    pytest.param([Answer(order=()), Answer(), Answer(order=())], id="some are empty"),
    pytest.param([Answer(order=tuple(SITES[3:4])), Answer()], id="of one site"),
    pytest.param([Answer(sampled=()), Answer()], id="without a sample"),
    pytest.param(
        [Answer(operator="agent.example", count=7), Answer(operator="a" * 43)],
        id="operators",
    ),
    pytest.param([Answer(operator='quo"ted'), Answer()], id="an escape"),
    pytest.param([Answer(is_plain=True), Answer(digests=0)], id="other forms"),
    pytest.param(
        [Answer(chosen=SITES[2]), Answer(chosen=NO_SITE), Answer()], id="choices"
    ),
    pytest.param(
        [
            Answer(filters={"category": "bakery"}),
            Answer(filters={"actions": ["book"]}),
            Answer(filters={"category": "bakery", "language": "de"}),
            Answer(filters={"category": "Café"}),
        ],
        id="filters",
    ),
]


@pytest.mark.parametrize("answers", ANSWERS)
def test_columns_are_those_of_the_rankings_one_by_one(answers: list[Answer]) -> None:
    columns = WindowColumns(SiteNumbers(SITES), "")
    columns.add(rows_of(answers))
    told = [observed(answer, number) for number, answer in enumerate(answers)]
    (part,), (expected,) = columns.finish(), gather(told, DISCLOSURES).parts
    assert_same(part, expected)


@pytest.mark.parametrize("operator", ["anon", "agent.example", "a" * 43, "nobody"])
def test_of_one_operator_only_its_rankings_are_taken(operator: str) -> None:
    answers = [
        Answer(operator=name, order=order)
        for name in ("anon", "agent.example", "a" * 43)
        for order in (tuple(SITES), ())
    ]
    columns = WindowColumns(SiteNumbers(SITES), operator)
    columns.add(rows_of(answers))
    told = [observed(answer, number) for number, answer in enumerate(answers)]
    (expected,) = gather(told, DISCLOSURES, operator).parts
    if operator == "nobody":
        assert columns.finish() == []
    else:
        assert_same(columns.finish()[0], expected)


def test_those_with_scores_that_are_shown_are_candidates() -> None:
    answers = [Answer(), Answer(), Answer(order=()), Answer(), Answer()]
    columns = WindowColumns(SiteNumbers(SITES), "")
    for number in range(0, len(answers), 2):
        columns.add(rows_of(answers[number : number + 2], number))
    kept = columns.candidates.first(9)
    ids = [decode_base32(name_of(number)).to_bytes(16, "big") for number in (0, 4)]
    assert [bytes(one) for one in kept.ids] == ids
    assert kept.ends.tolist() == [int.from_bytes(one[-5:], "big") for one in ids]
    assert kept.keys.tolist() == [columns.finish()[0].keys[0]] * 2


def test_blocks_in_a_row_become_one_part() -> None:
    answers = [
        Answer(
            query=f"bread {number % 3}",
            operator=("anon", "agent.example")[number % 2],
            order=tuple(SITES[: number % 4]),
            filters={"category": "bakery"} if number % 5 else None,
        )
        for number in range(34)
    ]
    columns, backwards, whole = (
        WindowColumns(SiteNumbers(SITES), "", backwards=one)
        for one in (False, True, False)
    )
    blocks = range(0, 34, 2)
    for block in blocks:
        columns.add(rows_of(answers[block : block + 2], block))
        last = blocks[-1] - block
        backwards.add(rows_of(answers[last : last + 2], last))
    whole.add(rows_of(answers))
    (expected,) = whole.finish()
    for one, lengths in ((columns, [24, 1]), (backwards, [1, 24])):
        parts = one.finish()
        assert [len(part) for part in parts] == lengths
        assert_same(join_rankings(parts), expected)


def test_every_id_has_the_number_of_its_place() -> None:
    dice = random.Random(1)
    ids = [dice.randrange(2**63) for _ in range(5_000)]
    numbers = SiteNumbers(ids)
    asked = [dice.randrange(len(ids)) for _ in range(20_000)]
    found = numbers.find(np.array([ids[place] for place in asked], np.int64))
    assert found.tolist() == asked
    assert numbers.added == []


def test_compiled_and_in_numpy_the_same_number_is_found() -> None:
    library = find_library()
    if library is None:
        pytest.skip("nothing is compiled here")
    dice = random.Random(2)
    ids = [dice.randrange(2**63) for _ in range(1_000)]
    numbers = SiteNumbers([*ids, *range(200)])
    asked = np.array([*ids, *range(-5, 250), -(2**63), 2**63 - 1] * 2, np.int64)
    found = numbers.look_up_compiled(asked, library)
    assert found.tolist() == numbers.look_up_plainly(asked).tolist()
    assert (found < 0).sum() == 2 * (5 + 50 + 2)


def test_small_numbers_in_a_row_are_found_too() -> None:
    numbers = SiteNumbers(range(1, 200))
    assert numbers.find(np.arange(1, 200)).tolist() == list(range(199))


def test_ids_that_are_not_known_are_numbered_as_they_come() -> None:
    numbers = SiteNumbers([50, 20])
    assert numbers.find(np.array([20, 7, 9, 7], np.int64)).tolist() == [1, 2, 3, 2]
    assert numbers.added == [7, 9]
    assert numbers.find(np.array([9, 50], np.int64)).tolist() == [3, 0]


def test_without_any_site_all_are_new() -> None:
    numbers = SiteNumbers([])
    assert numbers.find(np.array([3, 1], np.int64)).tolist() == [1, 0]
    assert numbers.find(np.array([], np.int64)).tolist() == []


def test_the_first_ends_of_ids_are_taken() -> None:
    candidates = Candidates(
        np.array([5, 1, 3], np.uint64),
        np.array([b"a" * 16, b"b" * 16, b"c" * 16], "V16"),
        np.array([7, 8, 9], np.uint64),
    )
    taken = candidates.first(2)
    assert taken.ends.tolist() == [1, 3]
    assert [bytes(one)[:1] for one in taken.ids] == [b"b", b"c"]
    assert taken.keys.tolist() == [8, 9]
