"""Match of a site with a request: the compiled walk and the parsed profile agree."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.compiled.library import find_library
from registry.index.query.matching import match_compiled, match_parsed
from registry.ranking.explain import Matching
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.ranking.quality import ProbeFigures
from registry.sites.place import Point

LONG = "word" * 5_000
TERMS = ("oboe", "flute", "the", "théâtre", "книга", "", "o", LONG)
terms = st.lists(st.sampled_from(TERMS), unique=True).map(tuple)
actions = st.builds(
    ActionProfile,
    name=st.text(max_size=40),
    name_terms=terms,
    description_terms=terms,
    parameter_terms=terms,
)
weights = st.dictionaries(st.sampled_from(TERMS), st.integers(0, 10**6), max_size=6)
PROFILE = Profile(
    policy=DEFAULT_POLICY.digest,
    site_id=2**62,
    publisher=70_000,
    category="music",
    country="FR",
    formats=("wab", "awp"),
    point=Point(48.85, -2.35),
    local=True,
    site_terms=("oboe",),
    actions=(),
    embedding=bytes(300),
    capability_depth=200,
    quality=10_000,
    probes=ProbeFigures(probes=9, answers=9, successes=8, median_ms=120),
    changed_at=datetime(2026, 11, 16, tzinfo=UTC),
    commission_tier=1,
)


Match = Callable[[list[bytes]], list[Matching]]


def compiled(wanted: dict[str, int]) -> Match:
    library = find_library()
    if library is None:
        pytest.skip("the kernel is not compiled here")
    return lambda bodies: match_compiled(bodies, wanted, DEFAULT_POLICY, library)


@given(terms, st.lists(actions, max_size=20), weights)
def test_both_find_the_same(
    about: tuple[str, ...], offered: list[ActionProfile], wanted: dict[str, int]
) -> None:
    profile = replace(PROFILE, site_terms=about, actions=tuple(offered))
    body = encode_profile(profile)

    bodies = [body, encode_profile(PROFILE), body]
    assert compiled(wanted)(bodies) == match_parsed(bodies, wanted, DEFAULT_POLICY)
    assert compiled(wanted)([]) == []


@given(st.data())
def test_what_is_no_profile_is_refused_and_never_read_beyond_its_end(
    data: st.DataObject,
) -> None:
    action = ActionProfile(
        name="play",
        name_terms=("oboe",),
        description_terms=("the",),
        parameter_terms=(),
    )
    body = encode_profile(replace(PROFILE, actions=(action,) * 3))
    match = compiled({"oboe": 5, "the": 1})
    with pytest.raises(ValueError, match="no encoded profile"):
        match([body, body[: data.draw(st.integers(0, len(body) - 1))]])
    broken = bytearray(body)
    broken[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    try:
        (matching,) = match([bytes(broken)])
    except ValueError:  # also of a name that is no UTF-8
        return
    assert len(matching.terms) == 2
    assert matching.actions <= len(body)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param([], id="a list"),
        pytest.param(None, id="nothing"),
        pytest.param({"actions": 7}, id="actions that are none"),
        pytest.param({"actions": [["play"]]}, id="an action that is a list"),
        pytest.param({"actions": [{"name": 7}]}, id="a name that is none"),
        pytest.param({"site_terms": [1]}, id="a term that is none"),
        pytest.param({1: 2}, id="a member without a name"),
        pytest.param({"deep": [[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]}, id="too deep"),
    ],
)
def test_other_things_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="no encoded profile"):
        compiled({"oboe": 5})([msgspec.msgpack.encode(value)])


def test_members_of_every_kind_are_passed_over() -> None:
    others = {
        "numbers": [0, -1, 200, -200, 70_000, -70_000, 2**40, -(2**40), 1.5, True],
        "texts": ["", "a" * 40, "a" * 300, "a" * 70_000],
        "bytes": [b"", b"a" * 300, b"a" * 70_000],
        "lists": [list(range(20)), [None] * 70_000],
        "maps": [{str(n): n for n in range(20)}, {str(n): n for n in range(70_000)}],
        "instant": msgspec.msgpack.Ext(5, b"a" * 16),
        "extended": msgspec.msgpack.Ext(5, b"a" * 300),
        "site_terms": ["oboe"],
    }
    (matching,) = compiled({"oboe": 5})([msgspec.msgpack.encode(others)])
    assert matching == (None, b"\1", 0)
