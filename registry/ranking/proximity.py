"""Proximity: the distance between a site and the user, where it matters.

FULL·exp(-distance/scale) of the great-circle distance in whole kilometres between the
centroid of the user's coarse cell and the site's place; falls as the distance grows.
Without a user location the factor does not apply and is the same for all. A site whose
offer does not depend on location gets the neutral value; one whose offer does, and that
names no known place, is near nobody, so that hiding a place brings nothing.

The distance comes from whole-number coordinates on the sphere, by comparing squared
chords, so that every machine finds the same kilometre.
"""

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from registry.ranking.decay import decay_table, look_up
from registry.ranking.policy import Policy
from registry.sites.place import EARTH_RADIUS_KM, Point

Integers = npt.NDArray[np.int64]
Vector = tuple[int, int, int]

_RADIUS_UNITS = 8_000_000  # 80 cm each; a coordinate fits three bytes; a squared chord stays below 2^53
_BANDS_KM = (10, 25, 50, 100, 250, 500, 1000, 2500)


NOWHERE: Vector = (0, 0, 0)
"""Vector of a site that is nowhere: 6,671 km from anybody."""


def vector_of(point: Point) -> Vector:
    """Return the point on a sphere of radius _RADIUS_UNITS."""
    latitude, longitude = math.radians(point.latitude), math.radians(point.longitude)
    x = math.cos(latitude) * math.cos(longitude)
    y = math.cos(latitude) * math.sin(longitude)
    z = math.sin(latitude)
    return round(x * _RADIUS_UNITS), round(y * _RADIUS_UNITS), round(z * _RADIUS_UNITS)


@cache
def squared_chords() -> Integers:
    """Tabulate, at i, the squared chord that spans i + 1 kilometres."""
    half_turn_km = math.floor(math.pi * EARTH_RADIUS_KM)
    angles = (km / EARTH_RADIUS_KM for km in range(1, half_turn_km + 1))
    chords = (2 * _RADIUS_UNITS * math.sin(angle / 2) for angle in angles)
    return np.array([round(chord * chord) for chord in chords], np.int64)


def distances_km(vectors: Integers, origin: Vector) -> Integers:
    """Return whole kilometres, rounded down. vectors: shape (n, 3), of `vector_of`."""
    difference = vectors - np.array(origin, np.int64)
    squared = np.einsum("ij,ij->i", difference, difference)
    whole: Integers = np.searchsorted(squared_chords(), squared, side="right")
    return whole


def proximities(
    distance_km: npt.NDArray[Any],
    local: npt.NDArray[np.bool_],
    near: npt.NDArray[np.int32],
    neutral: int,
) -> npt.NDArray[np.int32]:
    """Return 0..FULL for each site. local: it has a place that its category depends on.

    near: a `decay_table` by kilometres. neutral: the value of sites that are not local.
    """
    return np.where(local, look_up(near, distance_km), np.int32(neutral))


def proximity(
    place: Point | None, user: Point | None, policy: Policy, *, local: bool
) -> int:
    """Return the factor of one site. user: the centroid of the cell, None without one."""
    if not local or user is None:
        return policy.proximity_neutral
    vector = vector_of(place) if place else NOWHERE
    kilometres = distances_km(np.array([vector], np.int64), vector_of(user))
    near = decay_table(policy.distance_scale_km)
    return int(look_up(near, kilometres)[0])


def distance_band(distance_km: int) -> str:
    """Describe the distance coarsely: exact ones of a few sites would reveal the cell."""
    for limit in _BANDS_KM:
        if distance_km < limit:
            return f"under {limit} km"
    return f"{_BANDS_KM[-1]} km or more"
