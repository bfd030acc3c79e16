"""Regions of federal countries that English requests name behind a city.

"Paris, Texas" is no city in France. A region is known by its name alone; the box around
it, in whole degrees outward, tells whether the city of that name lies there.
"""

from collections.abc import Mapping
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


_BOXES = """
US alabama 30 -89 36 -84; alaska 51 -180 72 -129; arizona 31 -115 38 -109
US arkansas 33 -95 37 -89; california 32 -125 42 -114; colorado 36 -110 42 -102
US connecticut 40 -74 43 -71; delaware 38 -76 40 -75; florida 24 -88 31 -79
US georgia 30 -86 35 -80; hawaii 18 -161 23 -154; idaho 41 -118 49 -111
US illinois 36 -92 43 -87; indiana 37 -89 42 -84; iowa 40 -97 44 -90
US kansas 36 -103 41 -94; kentucky 36 -90 40 -81; louisiana 28 -95 34 -88
US maine 42 -72 48 -66; maryland 37 -80 40 -75; massachusetts 41 -74 43 -69
US michigan 41 -91 49 -82; minnesota 43 -98 50 -89; mississippi 30 -92 36 -88
US missouri 35 -96 41 -89; montana 44 -117 49 -104; nebraska 39 -105 44 -95
US nevada 35 -121 42 -114; new hampshire 42 -73 46 -70; new jersey 38 -76 42 -73
US new mexico 31 -110 37 -103; north carolina 33 -85 37 -75
US north dakota 45 -105 49 -96; ohio 38 -85 42 -80; oklahoma 33 -103 38 -94
US oregon 41 -125 47 -116; pennsylvania 39 -81 43 -74; rhode island 41 -72 43 -71
US south carolina 32 -84 36 -78; south dakota 42 -105 46 -96; tennessee 34 -91 37 -81
US texas 25 -107 37 -93; utah 36 -115 43 -109; vermont 42 -74 46 -71
US virginia 36 -84 40 -75; west virginia 37 -83 41 -77
US wisconsin 42 -93 48 -86; wyoming 40 -112 46 -104
CA alberta 48 -121 61 -109; british columbia 48 -140 61 -114
CA manitoba 48 -103 61 -88; new brunswick 44 -70 49 -63; newfoundland 46 -60 52 -52
CA nova scotia 43 -67 48 -59; ontario 41 -96 57 -74
CA prince edward island 45 -65 48 -61; saskatchewan 48 -111 61 -101
AU new south wales -38 140 -28 154; queensland -30 137 -9 154
AU south australia -39 129 -25 142; tasmania -44 143 -39 149
AU western australia -36 112 -13 130
"""


def _read_boxes() -> dict[str, Region]:
    regions = {}
    for line in _BOXES.strip().splitlines():
        country, _, boxes = line.partition(" ")
        for box in boxes.split(";"):
            *name, south, west, north, east = box.split()
            edges = map(int, (south, west, north, east))
            regions[" ".join(name)] = Region(country, *edges)
    return regions


REGIONS: Mapping[str, Region] = _read_boxes()
"""Regions by folded name, without New York and others that are cities behind a city."""
