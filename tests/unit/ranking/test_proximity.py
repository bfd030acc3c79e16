import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ranking.decay import decay_table
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.proximity import (
    distance_band,
    distances_km,
    proximities,
    vector_of,
)
from registry.sites.place import Point, distance_km

points = st.builds(
    Point,
    st.floats(-90, 90, allow_nan=False),
    st.floats(-180, 180, allow_nan=False),
)


def kilometres(a: Point, b: Point) -> int:
    return int(distances_km(np.array([vector_of(a)]), vector_of(b))[0])


@given(points, points)
def test_whole_kilometres_agree_with_the_haversine(a: Point, b: Point) -> None:
    # Near the antipode a chord hardly grows with the angle.
    allowed_km = 1.01 if distance_km(a, b) < 19_000 else 5
    assert abs(kilometres(a, b) + 0.5 - distance_km(a, b)) <= allowed_km
    assert kilometres(a, b) == kilometres(b, a)


def proximity(km: list[int], *, local: bool) -> list[int]:
    near = decay_table(DEFAULT_POLICY.distance_scale_km).astype(np.int32)
    bound = np.full(len(km), local)
    values = proximities(np.array(km), bound, near, DEFAULT_POLICY.proximity_neutral)
    return values.tolist()


def test_proximity_falls_with_distance_to_nothing() -> None:
    values = proximity([0, 1, 30, 69, 70, 300, 1500, 20_015], local=True)
    assert values[0] == FULL
    assert values[-1] == 0
    assert values == sorted(values, reverse=True)
    assert values[2] > DEFAULT_POLICY.proximity_neutral > values[5]


def test_sites_bound_to_no_place_get_the_neutral_value() -> None:
    values = proximity([0, 9000], local=False)
    assert values == [DEFAULT_POLICY.proximity_neutral] * 2


@pytest.mark.parametrize(
    ("km", "band"),
    [
        (0, "under 10 km"),
        (10, "under 25 km"),
        (2499, "under 2500 km"),
        (2500, "2500 km or more"),
    ],
)
def test_explanations_tell_a_band(km: int, band: str) -> None:
    assert distance_band(km) == band
