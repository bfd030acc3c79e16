"""Bodies of rankings put in columns: compiled as one by one; no database is needed."""

import random
import zlib
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from registry.audit.disclosure import seal
from registry.audit.packing import DICTIONARY, PLAIN, TEXT, WINDOW, pack, unpack
from registry.audit.record import ranking_record
from registry.compiled.library import find_library
from registry.db.equal_texts import Texts
from registry.db.ranking_bodies import Bodies, read_compiled, read_plainly
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import make_ulid, spell_site_id

DICE = random.Random(5)
SITES = [DICE.randrange(2**63) for _ in range(20)]


def packed(**changes: Any) -> bytes:
    members = {
        "record_id": make_ulid(1, bytes(10)),
        "at": datetime(2026, 11, 20, tzinfo=UTC),
        "operator": "anon",
        "policy": DEFAULT_POLICY.digest,
        "snapshot": DEFAULT_POLICY.digest,
        "seed_index": 3,
        "eligible_count": 40,
        "order": [spell_site_id(site) for site in SITES],
        "sd_digests": seal({}, DICE.randbytes, 8).digests,
    }
    return pack(ranking_record(**(members | changes)).body)


def renamed(operator: bytes) -> bytes:
    return pack(unpack(packed()).replace(b'"op":"anon"', b'"op":"%b"' % operator))


def spelled_anew(deflate: Any) -> bytes:
    """The same body, its text deflated in another way."""
    body = packed()
    begin = 3 + int.from_bytes(body[1:3], "big")
    text = zlib.decompressobj(WINDOW, zdict=DICTIONARY).decompress(body[3:begin])
    deflated = deflate.compress(text) + deflate.flush()
    return bytes([TEXT]) + len(deflated).to_bytes(2, "big") + deflated + body[begin:]


def compiled(bodies: list[bytes]) -> Bodies | None:
    library = find_library()
    if library is None:
        pytest.skip("nothing is compiled here")
    return read_compiled(Texts.of(bodies), library)


def assert_same(found: Bodies, expected: Bodies) -> None:
    names = [
        [one.names[number] for number in one.operator] for one in (found, expected)
    ]
    assert names[0] == names[1]
    for ours, theirs in zip(found[1:], expected[1:], strict=True):
        assert isinstance(ours, np.ndarray)
        assert ours.dtype == theirs.dtype
    for name in ("eligible", "counts", "orders"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


BODIES = [
    pytest.param([packed()], id="one"),
    pytest.param([packed(eligible_count=2**53 - 1), packed()], id="very many eligible"),
    pytest.param([packed(order=[]), packed(), packed(order=[])], id="empty ones"),
    pytest.param([packed(sd_digests=())], id="without disclosures"),
    pytest.param(
        [
            packed(operator=name, operator_count=count)
            for name, count in (("b" * 43, 7), ("anon", None), ("a.example", 1))
            for _ in range(3)
        ],
        id="operators",
    ),
    pytest.param([renamed(b"x" * 300)], id="a long name"),
]

OTHER = [
    pytest.param(bytes([PLAIN]) + unpack(packed()), id="as it is"),
    pytest.param(renamed(rb"quo\"ted"), id="an escape"),
    pytest.param(renamed("Ä".encode()), id="a letter beyond ASCII"),
    pytest.param(renamed(b"x" * 5000), id="a text without end"),
    pytest.param(
        pack(unpack(packed()).replace(b'"n":40', b'"n":1%018d' % 0)),
        id="a number too long",
    ),
    pytest.param(
        spelled_anew(
            zlib.compressobj(9, zlib.DEFLATED, WINDOW, 4, zlib.Z_DEFAULT_STRATEGY)
        ),
        id="in codes of its own",
    ),
    pytest.param(
        spelled_anew(zlib.compressobj(0, zlib.DEFLATED, WINDOW)), id="not deflated"
    ),
]


@pytest.mark.parametrize("bodies", BODIES)
def test_what_is_compiled_reads_as_python_does(bodies: list[bytes]) -> None:
    found = compiled(bodies)
    assert found is not None
    assert_same(found, read_plainly(Texts.of(bodies)))


@pytest.mark.parametrize("body", OTHER)
def test_a_body_of_another_form_is_left_to_python(body: bytes) -> None:
    assert compiled([packed(), body]) is None
    assert read_plainly(Texts.of([packed(), body])).counts.tolist() == [20, 20]


def test_a_damaged_body_is_read_as_python_reads_it_or_left() -> None:
    dice, kept = random.Random(9), 0
    for _ in range(3_000):
        body = bytearray(packed(operator="agent.example", operator_count=7))
        for _ in range(dice.randint(1, 3)):
            place = dice.choice((dice.randrange(len(body)), dice.randrange(60)))
            body[place] ^= 1 << dice.randrange(8)
        damaged = bytes(body[: dice.choice((len(body), dice.randrange(len(body))))])
        found = compiled([damaged])
        if found is not None:
            kept += 1
            assert_same(found, read_plainly(Texts.of([damaged])))
    assert 0 < kept < 3_000


@pytest.mark.parametrize("is_compiled", [False, True])
def test_texts_that_are_the_same_are_one(*, is_compiled: bool) -> None:
    dice = random.Random(3)
    column = [None, b"", *(dice.randbytes(dice.randrange(3)) for _ in range(2_000))]
    texts = Texts.of(column)
    library = find_library()
    if is_compiled and library is None:
        pytest.skip("nothing is compiled here")
    first = texts.first_compiled(library) if is_compiled else texts.first_plainly()
    assert [column[one] or b"" for one in first] == [one or b"" for one in column]
    assert len(set(first.tolist())) < len(set(column)) * 1.1


def test_each_text_has_one_of_its_own() -> None:
    texts = Texts.of([b"a", b"bc", b"a", None, b"bc"])
    distinct, text = texts.distinct()
    assert [texts[one] for one in distinct[text].tolist()] == [
        b"a",
        b"bc",
        b"a",
        b"",
        b"bc",
    ]
    assert len(distinct) == 3
