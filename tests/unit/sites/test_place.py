from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.sites.place import (
    Place,
    PlaceState,
    Point,
    cell_of,
    centroid_of,
    decide_place,
    distance_km,
)

AMMAN = Point(31.95522, 35.94503)
NASHVILLE = Point(36.12, -86.67)
LOS_ANGELES = Point(33.94, -118.40)

points = st.builds(Point, st.floats(-90, 90), st.floats(-180, 180))


@pytest.mark.parametrize(
    ("point", "cell"),
    [
        (Point(57.64911, 10.40744), "u4pr"),
        (Point(42.605, -5.603), "ezs4"),
        (Point(-90, -180), "0000"),
        (Point(90, 180), "zzzz"),
        (Point(0, 0), "s000"),
    ],
)
def test_a_point_lies_in_the_cell_of_its_geohash(point, cell):
    assert cell_of(point) == cell


def test_a_centroid_is_the_middle_of_its_cell():
    middle = centroid_of("ezs42")
    assert (middle.latitude, middle.longitude) == pytest.approx(
        (42.605, -5.603), abs=1e-3
    )


@pytest.mark.parametrize("cell", ["", "a", "EZS4", "ezs 4", "é"])
def test_what_is_no_geohash_is_refused(cell):
    with pytest.raises(ValueError, match="geohash"):
        centroid_of(cell)


@given(points)
def test_the_centroid_of_a_points_cell_lies_in_that_cell_and_near(point):
    middle = centroid_of(cell_of(point))
    assert cell_of(middle) == cell_of(point)
    assert abs(middle.latitude - point.latitude) <= 180 / 2**11
    assert abs(middle.longitude - point.longitude) <= 360 / 2**11


@given(points, st.floats(-0.01, 0.01), st.floats(-0.01, 0.01))
def test_where_in_the_cell_a_user_stands_can_not_be_told(point, north, east):
    middle = centroid_of(cell_of(point))
    moved = Point(middle.latitude + north, middle.longitude + east)
    assert centroid_of(cell_of(moved)) == middle


@pytest.mark.parametrize(
    ("a", "b", "km"),
    [
        (NASHVILLE, LOS_ANGELES, 2886.4),
        (Point(0, 0), Point(0, 180), 20015.1),
        (Point(90, 0), Point(-90, 77), 20015.1),
        (Point(10, 179.5), Point(10, -179.5), 109.504),
        (AMMAN, AMMAN, 0),
    ],
)
def test_great_circle_distances(a, b, km):
    assert distance_km(a, b) == pytest.approx(km, rel=1e-4)


@given(points, points, points)
def test_distance_is_a_metric(a, b, c):
    assert distance_km(a, b) == pytest.approx(distance_km(b, a), abs=1e-6)
    assert 0 <= distance_km(a, b) <= 20015.2
    assert distance_km(a, c) <= distance_km(a, b) + distance_km(b, c) + 1e-3


CITIES = [
    None,
    *(
        Place(geonames_id=number, name=f"city {number}", country="JO", point=AMMAN)
        for number in (1, 2, 3)
    ),
]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.sampled_from(CITIES)), max_size=12),
)
def test_a_place_moves_only_after_it_was_declared_for_some_days_on_end(visits):
    """Whoever declares a city anew each day gains none; the first one counts at once."""
    now = datetime(2026, 11, 20, tzinfo=UTC)
    state, same_since, last = (
        decide_place(PlaceState(), CITIES[1], now, cooling_days=14),
        now,
        CITIES[1],
    )
    assert state == PlaceState(CITIES[1], now)
    for days, declared in visits:
        now += timedelta(days=days)
        same_since = same_since if declared == last else now
        before, last = state.place, declared
        state = decide_place(state, declared, now, cooling_days=14)
        if state.place != before and before is not None:
            assert state.place == declared
            assert now - same_since >= timedelta(days=14)
        assert (state.place == declared) == (state.place_move is None)
