"""The compiled way from encoded profiles to rows and the plain one come to the same."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.compiled.library import find_library
from registry.index.columns import reading
from registry.index.columns.content import content_of, content_plainly
from registry.index.columns.reading import (
    Memory,
    read_compiled,
    read_plainly,
    read_rows,
)
from registry.index.columns.rows import Bodies, Rows, hash_word
from registry.index.columns.runs import join_runs
from registry.ranking.policy import DEFAULT_POLICY as P
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.sites.place import Point

MakeProfile = Callable[..., Profile]
MakeRandom = Callable[[random.Random, int], Profile]

library = find_library()
needs_library = pytest.mark.skipif(library is None, reason="not compiled here")


def told(rows: Rows) -> dict[str, Any]:
    columns = {each.name: getattr(rows, each.name) for each in fields(rows)}
    bodies = columns.pop("bodies")
    assert columns.pop("runs") is None
    found: dict[str, Any] = {
        name: (str(array.dtype), array.shape, array.tobytes())
        for name, array in columns.items()
    }
    return found | {"bodies": [bodies[n] for n in range(len(bodies.runs))]}


def outcome(read: Callable[[], reading.Read]) -> object:
    """What is read, or that it can't be."""
    try:
        found = read()
    except (ValueError, OverflowError):
        return "refused"
    return told(found.rows), found.left_out


def assert_same(bodies: Sequence[bytes]) -> None:
    assert library is not None
    given_ = Bodies.of(bodies)
    plain = outcome(lambda: read_plainly(given_, P))
    assert outcome(lambda: read_compiled(given_, P, library, Memory())) == plain


def action(*words: str, name: str = "do") -> ActionProfile:
    return ActionProfile(
        name=name,
        name_terms=words,
        description_terms=words[::2],
        parameter_terms=words[1::3],
    )


CHANGES: list[Any] = [
    pytest.param({}, id="plain"),
    pytest.param({"site_terms": (), "actions": ()}, id="says nothing"),
    pytest.param({"site_terms": ("x" * 36, "x" * 37, "x" * 300)}, id="long words"),
    pytest.param({"site_terms": ("ياسمين", "預約", "straße", "🙂")}, id="other scripts"),
    pytest.param({"site_terms": ("book", "tabl", "")}, id="said in several fields"),
    pytest.param({"site_terms": ("same",) * 9}, id="said again and again"),
    pytest.param({"actions": tuple(action("a", "b", "c") for _ in range(20))}, id="many"),
    pytest.param({"site_terms": tuple(f"w{n}" for n in range(3000))}, id="many words"),
    pytest.param({"action_names": ("ж" * 200, "ж" * 201)}, id="the longest value"),
    pytest.param({"category": "", "country": "", "formats": ("", "wab")}, id="unknown"),
    pytest.param({"requires_auth": (False, True)}, id="truths"),
    pytest.param({"site_terms": ("x" * 33, "a", "x" * 33)}, id="a long word again"),
    pytest.param(
        {"site_terms": tuple(f"w{n}" for n in range(9000)) * 2}, id="many words again"
    ),
    pytest.param({"formats": ("wab", "a2a", "wab")}, id="a keyword again"),
    pytest.param({"languages": ("ж" * 99, "b", "ж" * 99)}, id="a long keyword again"),
    pytest.param({"point": Point(31.95, 35.93), "local": True}, id="local"),
    pytest.param({"point": Point(-90, -180), "local": True}, id="a pole"),
    pytest.param({"point": Point(31.95, 35.93)}, id="located, but not local"),
    pytest.param({"local": True}, id="local without a point"),
    pytest.param({"point": Point(float("nan"), 0.0)}, id="nowhere on earth"),
    pytest.param({"point": Point(1, 2)}, id="whole degrees"),
    pytest.param({"site_id": 2**63 - 1, "publisher": 128}, id="the greatest id"),
    pytest.param({"site_id": -1}, id="a negative id"),
    pytest.param({"site_id": 2**64 - 1}, id="an id too great"),
    pytest.param({"capability_depth": 70_000}, id="a factor too great"),
    pytest.param({"commission_tier": 0}, id="the lower tier"),
    pytest.param({"commission_tier": -1}, id="a negative tier"),
    pytest.param({"embedding": bytes(range(64))}, id="another embedding"),
    pytest.param({"embedding": b"short"}, id="a short embedding"),
    pytest.param({"policy": "another"}, id="another policy"),
    pytest.param({"changed_at": datetime(2026, 1, 2, 3, 4, 5, 678, UTC)}, id="a moment"),
    pytest.param({"changed_at": datetime(1960, 1, 1, tzinfo=UTC)}, id="before 1970"),
    pytest.param({"changed_at": datetime(2400, 1, 1, tzinfo=UTC)}, id="after 2106"),
    pytest.param({"changed_at": datetime(9999, 1, 1, tzinfo=UTC)}, id="after 2514"),
    pytest.param(
        {"probes": ProbeFigures(probes=9, median_ms=7, observed_at=datetime.now(UTC))},
        id="probed",
    ),
]  # fmt: skip


@needs_library
@pytest.mark.parametrize("changes", CHANGES)
def test_compiled_reading_equals_the_plain_one(
    changes: dict[str, Any], site: MakeProfile
) -> None:
    assert_same([encode_profile(replace(site(7), **changes))])


@needs_library
def test_what_is_written_is_read_without_parsing(
    site: MakeProfile, random_site: MakeRandom, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should profiles get another member, this is where to look."""

    def parse(_: bytes) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(reading, "parse_profile", parse)
    rng = random.Random(3)
    bodies = [encode_profile(random_site(rng, n)) for n in range(1, 200)]
    read = read_rows(Bodies.of([encode_profile(site(999)), *bodies]), P)
    assert (len(read.rows), read.left_out) == (200, 0)


@needs_library
def test_profiles_of_all_forms_stand_in_the_order_given(
    random_site: MakeRandom,
) -> None:
    rng = random.Random(4)
    bodies = [encode_profile(random_site(rng, n)) for n in range(1, 40)]
    bodies[5] = bodies[5][:-1]
    for number in (0, 11, 38):  # another order of the members is another form
        members = msgspec.msgpack.decode(bodies[number])
        bodies[number] = msgspec.msgpack.encode(dict(reversed(members.items())))
    bodies[20] = encode_profile(replace(random_site(rng, 21), policy="another"))
    assert_same(bodies)
    read = read_rows(Bodies.of(bodies), P)
    assert read.left_out == 2
    assert read.rows.site_ids.tolist() == [n for n in range(1, 40) if n not in {6, 21}]


@needs_library
def test_what_was_read_before_changes_nothing(random_site: MakeRandom) -> None:
    rng = random.Random(6)
    pages = [[encode_profile(random_site(rng, n)) for n in range(1, 30)]] * 3
    pages.append([encode_profile(replace(random_site(rng, 1), site_terms=("x" * 31,)))])
    memory = Memory()
    for page in pages:
        given_ = Bodies.of(page)
        assert told(read_rows(given_, P, memory).rows) == told(
            read_rows(given_, P).rows
        )
    assert memory.profiles == 88


@needs_library
def test_words_whose_hashes_begin_alike_are_read_alike(site: MakeProfile) -> None:
    """As somebody may choose them, to make sorting slow."""
    words = (f"w{n}" for n in itertools.count())
    alike = itertools.islice((one for one in words if hash_word(one) >> 58 == 7), 500)
    chosen = sorted(alike, key=hash_word, reverse=True)
    assert_same([encode_profile(replace(site(7), site_terms=tuple(chosen)))])


@needs_library
def test_a_profile_that_is_cut_off_is_left_out(site: MakeProfile) -> None:
    whole = encode_profile(site(7, point=Point(1.5, 2.5), local=True))
    assert_same([whole[:end] for end in range(len(whole))])
    assert_same([whole, b"", whole + b"\xc0"])


@needs_library
@given(data=st.data(), seed=st.integers(0, 9))
def test_bytes_that_were_changed_are_read_alike(
    data: st.DataObject, seed: int, random_site: MakeRandom
) -> None:
    body = bytearray(encode_profile(random_site(random.Random(seed), 5)))
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert_same([bytes(body)])


@needs_library
@given(st.binary(max_size=200))
def test_any_bytes_are_read_alike(body: bytes) -> None:
    assert_same([body])


@pytest.mark.parametrize("size", [0, 1, 64, 127, 128, 129, 256, 5_000])
def test_compiled_content_equals_the_plain_one(size: int) -> None:
    rng = np.random.default_rng(size)
    bodies = [Bodies.of([rng.bytes(size), b"", rng.bytes(7)]) for _ in range(3)]
    joined = Bodies(join_runs([one.runs for one in bodies]))
    assert content_of(joined) == content_plainly(joined)
    assert content_plainly(joined) != content_plainly(bodies[0])


@needs_library
@given(st.lists(st.binary(max_size=400), max_size=12))
def test_the_content_of_bodies_side_by_side_is_that_of_each(told: list[bytes]) -> None:
    assert content_of(Bodies.of(told)) == content_plainly(Bodies.of(told))
