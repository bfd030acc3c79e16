"""Regions of federal countries that English requests name behind a city.

"Paris, Texas" is no city in France. A region is known by its name alone; the box around
it, in whole degrees outward, tells whether the city of that name lies there.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

from registry.sites.place import Point


class Region(NamedTuple):
    """country: ISO 3166-1 alpha-2. Degrees, the box's edges included."""

    country: str
    south: int
    west: int
    north: int
    east: int

    def holds(self, point: Point) -> bool:
        return (
            self.south <= point.latitude <= self.north
            and self.west <= point.longitude <= self.east
        )


_BOXES = files("registry.sites").joinpath("geonames", "regions.txt")


def _read_boxes() -> dict[str, Region]:
    regions = {}
    for line in _BOXES.read_text().splitlines():
        country, _, boxes = line.partition(" ")
        for box in boxes.split(";"):
            *name, south, west, north, east = box.split()
            edges = map(int, (south, west, north, east))
            regions[" ".join(name)] = Region(country, *edges)
    return regions


REGIONS: Mapping[str, Region] = _read_boxes()
"""Regions by folded name, without New York and others that are cities behind a city."""
