import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import RegistryError
from registry.records.canonical import canonical_json
from registry.records.ranking_record import parse_ranking_line, ranking_line_of
from registry.records.record import parse_record
from registry.sites.identifier import format_site_id
from tests.unit.records.history import History

HISTORY = History().begin()
PLAIN = HISTORY.bodies[HISTORY.rank()]
COUNTED = HISTORY.bodies[HISTORY.rank(operator="op-1", count=7)]
HISTORY.version = 1
PLAIN_1 = HISTORY.bodies[HISTORY.rank()]
COUNTED_1 = HISTORY.bodies[HISTORY.rank(operator="op-1", count=8)]
REVEALED = HISTORY.bodies[1]
HISTORY_2 = History().begin()
SITES = [format_site_id(2**60 + number) for number in range(20)]


def test_rankings_are_read_at_a_glance():
    line = parse_ranking_line(COUNTED)
    assert line is not None
    assert (line.operator, line.operator_count, line.seed_index) == ("op-1", 7, 1)
    assert line == ranking_line_of(parse_record(COUNTED))
    assert parse_ranking_line(PLAIN) == ranking_line_of(parse_record(PLAIN))
    assert parse_ranking_line(PLAIN_1) == ranking_line_of(parse_record(PLAIN_1))
    line = parse_ranking_line(COUNTED_1)
    assert line == ranking_line_of(parse_record(COUNTED_1))
    assert parse_ranking_line(REVEALED) is None


def test_a_record_tells_neither_what_was_found_nor_how_much():
    """Two answers differ in nothing that says what they held, whatever they held."""
    few = HISTORY_2.bodies[HISTORY_2.rank(eligible=3)]
    many = HISTORY_2.bodies[HISTORY_2.rank(eligible=90_000, order=SITES)]
    names = [set(json.loads(body)) for body in (few, many)]
    known = {"_sd", "_sd_alg", "id", "kind", "op", "policy", "seed", "snap", "t", "v"}
    assert names == [known, known]
    assert len(few) == len(many)
    assert not [site for site in SITES if site.encode() in many]


def agrees(body):
    """What is taken at a glance is what the strict reader takes."""
    line = parse_ranking_line(body)
    if line is not None:
        assert ranking_line_of(parse_record(body)) == line


@given(st.data())
def test_no_changed_byte_is_taken_that_the_strict_reader_refuses(data):
    body = bytearray(data.draw(st.sampled_from([PLAIN, COUNTED, PLAIN_1, COUNTED_1])))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(0, len(body) - 1))
        match data.draw(st.sampled_from(["change", "insert", "remove"])):
            case "change":
                body[position] = data.draw(st.integers(0, 255))
            case "insert":
                body.insert(position, data.draw(st.integers(0, 255)))
            case "remove":
                del body[position]
    agrees(bytes(body))


MEMBERS = json.loads(COUNTED_1)
NUMBERS = st.sampled_from([-1, 0, 1, 10**14, 10**15 - 1, 10**15, 2**53 - 1, 2**53])
TOKENS = st.text(st.characters(codec="ascii"), max_size=4) | st.sampled_from(
    ["a" * 256, "a" * 257, 'a"b', "a\\b", "a\nb", "\x7f", "~!"]
)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "k": NUMBERS,
            "n": NUMBERS,
            "opn": NUMBERS,
            "seed": NUMBERS,
            "op": TOKENS,
            "snap": TOKENS,
            "t": st.sampled_from(["2026-11-20T18:00Z", "2026-19-39T29:59Z", "x"]),
            "order": st.lists(
                st.sampled_from(
                    [format_site_id(n) for n in (0, 1, 2**63 - 1)]
                    + ["8000000000000", "000000000000U", "000000000000"]
                ),
                max_size=4,
            ),
            "_sd": st.lists(
                st.sampled_from(["A" * 43, "A" * 42, "=" * 43]), max_size=3
            ),
            "added": st.just("later"),
            "v": st.integers(0, 3),
        },
    ),
    st.sampled_from([MEMBERS, json.loads(COUNTED)]),
)
def test_no_member_is_taken_that_the_strict_reader_refuses(changes, members):
    members = members | changes
    if "order" in changes and "k" not in changes:
        members["k"] = len(members["order"])
    try:
        body = canonical_json(members)
    except RegistryError:
        return
    agrees(body)
    try:
        parse_record(body)
    except RegistryError:
        assert parse_ranking_line(body) is None


@pytest.mark.parametrize("count", [0, 1, 20, 100])
def test_lists_of_any_length_are_taken(count):
    order = [format_site_id(number) for number in range(count)]
    members = MEMBERS | {"order": order, "k": count, "n": count}
    members |= {"_sd": ["A" * 43] * count}
    assert parse_ranking_line(canonical_json(members)) is not None


def test_a_site_that_stands_twice_is_left_to_the_strict_reader():
    members = MEMBERS | {"order": [format_site_id(7)] * 2, "k": 2}
    assert parse_ranking_line(canonical_json(members)) is None


def test_a_record_over_the_limit_is_left_to_the_strict_reader():
    order = [format_site_id(number) for number in range(5_000)]
    members = MEMBERS | {"order": order, "k": len(order)}
    assert parse_ranking_line(canonical_json(members)) is None


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(PLAIN[:-20] + b"x" * 300_000, id="a long tail"),
        pytest.param(b'{"_sd":[' + b'"' + b"A" * 600_000, id="a long digest"),
        pytest.param(
            b'{"_sd":[' + b",".join([b'"%s"' % (b"A" * 43)] * 20_000), id="many digests"
        ),
    ],
)
def test_hostile_bytes_are_passed_over(body):
    assert parse_ranking_line(body) is None
