"""Places: points on the sphere, and the coarse cells that stand for users.

A user's position is turned into a geohash cell of four characters (about 39 by 20 km at
the equator) before anything else sees it: a finer position would come back from the
scores of a few public sites by trilateration.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

EARTH_RADIUS_KM = 6371.0088  # IUGG mean radius
CELL_LENGTH = 4
_GEOHASH = "0123456789bcdefghjkmnpqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Point:
    """Degrees: latitude -90..90, longitude -180..180."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A city of the gazetteer."""

    geonames_id: int
    name: str
    country: str
    point: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceMove:
    """A move that a site declared first at an instant. geonames_id: 0 to no known city."""

    geonames_id: int
    since: datetime


class PlaceState(NamedTuple):
    """Place that counts and since when, and the declared move that waits.

    place_since: None without a place. The names are those of `SiteEntry`.
    """

    place: Place | None = None
    place_since: datetime | None = None
    place_move: PlaceMove | None = None


def decide_place(
    before: PlaceState, declared: Place | None, now: datetime, *, cooling_days: int
) -> PlaceState:
    """Return what counts once a place, or none, is declared at an instant, in whole seconds.

    Another place, or none, counts once a site has declared it for some days without a
    break: else a site could hide its place for a day and then declare another at once.
    """
    place, since, move = before
    now = now.replace(microsecond=0)
    if place is None:
        return PlaceState(declared, now) if declared else PlaceState()
    geonames_id = declared.geonames_id if declared else 0
    if geonames_id == place.geonames_id:
        return PlaceState(place, since)
    if move is None or move.geonames_id != geonames_id:
        return PlaceState(place, since, PlaceMove(geonames_id=geonames_id, since=now))
    if now < counts_from(move, cooling_days):
        return before
    return PlaceState(declared, now if declared else None)


def counts_from(move: PlaceMove, cooling_days: int) -> datetime:
    """Return from when on a move counts if it is declared until then."""
    return move.since + timedelta(days=cooling_days)


def cell_of(point: Point) -> str:
    """Return the geohash of the point, cut to CELL_LENGTH characters."""
    south, north, west, east = -90.0, 90.0, -180.0, 180.0
    value = 0
    for bit in range(CELL_LENGTH * 5):
        value <<= 1
        if bit % 2 == 0:
            middle = (west + east) / 2
            if point.longitude >= middle:
                value, west = value | 1, middle
            else:
                east = middle
        else:
            middle = (south + north) / 2
            if point.latitude >= middle:
                value, south = value | 1, middle
            else:
                north = middle
    shifts = range((CELL_LENGTH - 1) * 5, -1, -5)
    return "".join(_GEOHASH[(value >> shift) & 31] for shift in shifts)


def centroid_of(cell: str) -> Point:
    """Return the centroid of a geohash. Raises: ValueError for other text."""
    if not cell or any(character not in _GEOHASH for character in cell):
        raise ValueError(f"not a geohash: {cell!r}")
    bounds = {0: [-180.0, 180.0], 1: [-90.0, 90.0]}
    for position in range(len(cell) * 5):
        value = _GEOHASH.index(cell[position // 5])
        upper = (value >> (4 - position % 5)) & 1
        bound = bounds[position % 2]
        bound[0 if upper else 1] = (bound[0] + bound[1]) / 2
    west, east = bounds[0]
    south, north = bounds[1]
    return Point((south + north) / 2, (west + east) / 2)


def distance_km(a: Point, b: Point) -> float:
    """Return the great-circle distance by the haversine formula."""
    phi_a, phi_b = math.radians(a.latitude), math.radians(b.latitude)
    d_phi = phi_b - phi_a
    d_lambda = math.radians(b.longitude - a.longitude)
    h = (
        math.sin(d_phi / 2) ** 2
        + math.cos(phi_a) * math.cos(phi_b) * math.sin(d_lambda / 2) ** 2
    )
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(h)))
