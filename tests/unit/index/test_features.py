"""Features as they are stored come back as the rows that they were computed of."""

import random
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.index.columns.features import FEATURES, encode_features, read_rows
from registry.index.columns.rows import Bodies, Rows, rows_of
from registry.index.columns.runs import Runs, no_source, starts_of
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import ActionProfile, Profile, encode_profile
from registry.sites.place import Point

MakeProfile = Callable[..., Profile]
MakeRandom = Callable[[random.Random, int], Profile]
OTHER = replace(P, name="other")


def stored(profile: Profile) -> bytes:
    (features,) = encode_features(rows_of([profile], P), P)
    return features + encode_profile(profile)


def members(rows: Rows) -> dict[str, Any]:
    columns = {member.name: getattr(rows, member.name) for member in fields(rows)}
    bodies = columns.pop("bodies")
    assert columns.pop("runs") is None
    arrays: dict[str, Any] = {
        name: (str(array.dtype), array.shape, array.tobytes())
        for name, array in columns.items()
    }
    return arrays | {"bodies": [bodies[row] for row in range(len(bodies.runs))]}


def action(*words: str) -> ActionProfile:
    return ActionProfile(
        name="do",
        name_terms=words,
        description_terms=words[::2],
        parameter_terms=words[1::3],
    )


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="plain"),
        pytest.param({"site_terms": (), "actions": ()}, id="without a word"),
        pytest.param({"site_terms": ("ياسمين", "預約", "🙂", "x" * 300)}, id="scripts"),
        pytest.param({"site_terms": ("book", "tabl", "", "book")}, id="repeated"),
        pytest.param({"actions": (action("a", "b", "c"),) * 20}, id="many actions"),
        pytest.param({"site_terms": tuple(map(str, range(9_000)))}, id="many words"),
        pytest.param({"action_names": ("ж" * 200, "ж" * 201)}, id="the longest value"),
        pytest.param({"point": Point(-90, -180), "local": True}, id="a pole"),
        pytest.param({"site_id": 2**63 - 1, "publisher": 128}, id="the greatest id"),
        pytest.param({"site_id": -1}, id="a negative id"),
        pytest.param({"commission_tier": 0}, id="the lower tier"),
        pytest.param(
            {"changed_at": datetime(1960, 1, 1, tzinfo=UTC)}, id="before 1970"
        ),
        pytest.param({"changed_at": datetime(2400, 1, 1, tzinfo=UTC)}, id="after 2106"),
    ],
)
def test_rows_come_back_as_they_were(
    changes: dict[str, Any], site: MakeProfile
) -> None:
    profiles = [site(7), replace(site(8), **changes), site(9)]
    read = read_rows(Bodies.of(map(stored, profiles)), P)
    assert read.left_out == 0
    assert members(read.rows) == members(rows_of(profiles, P))


def test_rows_come_back_from_a_copy_with_something_between(
    random_site: MakeRandom,
) -> None:
    rng = random.Random(4)
    profiles = [random_site(rng, number) for number in range(1, 40)]
    pieces = [stored(profile) for profile in profiles]
    lengths = np.array(list(map(len, pieces)), np.int64)
    copied = Runs(
        arrays=(np.frombuffer(b"".join(b"header" + own for own in pieces), np.uint8),),
        source=no_source(len(pieces)),
        starts=starts_of(lengths + 6)[:-1] + 6,
        lengths=lengths,
    )
    rows = read_rows(Bodies(copied), P).rows
    assert members(rows) == members(rows_of(profiles, P))


def test_nothing_stored_has_no_rows() -> None:
    assert members(read_rows(Bodies.of([]), P).rows) == members(rows_of([], P))


def test_features_of_another_policy_are_left_out(site: MakeProfile) -> None:
    (others,) = encode_features(rows_of([site(8)], OTHER), OTHER)
    bodies = [stored(site(7)), others + encode_profile(site(8)), stored(site(9))]
    read = read_rows(Bodies.of(bodies), P)
    assert read.rows.site_ids.tolist() == [7, 9]
    assert read.left_out == 1


def test_profile_without_features_is_left_out(site: MakeProfile) -> None:
    """As one of another policy before the features has none."""
    read = read_rows(Bodies.of([encode_profile(site(7)), stored(site(8)), b""]), P)
    assert read.rows.site_ids.tolist() == [8]
    assert read.left_out == 2


def test_what_is_cut_off_before_the_profile_is_left_out(site: MakeProfile) -> None:
    (features,) = encode_features(rows_of([site(7)], P), P)
    cut = [features[:end] for end in range(len(features))]
    assert read_rows(Bodies.of(cut), P).left_out == len(features)


@given(data=st.data())
def test_no_bytes_are_read_beyond_their_end(
    data: st.DataObject, random_site: MakeRandom
) -> None:
    rng = random.Random(6)
    changed, other = random_site(rng, 7), random_site(rng, 8)
    body = bytearray(stored(changed))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, FEATURES.itemsize - 1))
        body[at] = data.draw(st.integers(0, 255))
    read = read_rows(Bodies.of([bytes(body), stored(other)]), P)
    assert read.rows.site_ids[-1] == 8
    assert read.rows.bodies[len(read.rows) - 1] == encode_profile(other)


@given(st.binary(max_size=300))
def test_any_bytes_are_no_error(body: bytes) -> None:
    assert read_rows(Bodies.of([body]), P).left_out == 1
