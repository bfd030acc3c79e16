"""Cells, cities and proximity."""

import gzip
import math
import re
import unicodedata
from bisect import bisect_right
from functools import cache

from tests.second_implementation.constants import ROOT, Constants, decay

ALPHABET = "0123456789bcdefghjkmnpqrstuvwxyz"
DATA = ROOT / "registry" / "sites" / "geonames"
RADIUS, EARTH = 8_000_000, 6371.0088

REMOVED = re.compile(
    "[\u0027\u002e\u0060\u00ad\u00b4\u02bb\u02bc\u02be\u02bf\u0384\u05f3\u2018\u2019"
    "\u200b-\u200f]"
)
SEPARATORS = re.compile(
    "[\u0021-\u002f\u003a-\u0040\u005b-\u005f\u007b-\u007e\u00b7\u05be\u060c\u066c"
    "\u0f0b\u0f0d\u104a\u1363\u1365\u2010-\u2017\u201a-\u2027\u2030-\u205e\u3001-\u303f"
    "\u30fb]+"
)


def cell_of(latitude, longitude):
    bounds = [[-180.0, 180.0], [-90.0, 90.0]]
    bits = ""
    for turn in range(20):
        low, high = bounds[turn % 2]
        middle = (low + high) / 2
        upper = (longitude, latitude)[turn % 2] >= middle
        bits += "01"[upper]
        bounds[turn % 2] = [middle, high] if upper else [low, middle]
    return "".join(ALPHABET[int(bits[i : i + 5], 2)] for i in range(0, 20, 5))


def centre_of(cell):
    """Return latitude and longitude."""
    bits = "".join(f"{ALPHABET.index(letter):05b}" for letter in cell)
    bounds = [[-180.0, 180.0], [-90.0, 90.0]]
    for turn, bit in enumerate(bits):
        low, high = bounds[turn % 2]
        middle = (low + high) / 2
        bounds[turn % 2] = [middle, high] if bit == "1" else [low, middle]
    (west, east), (south, north) = bounds
    return (south + north) / 2, (west + east) / 2


def compared_name(name):
    name = unicodedata.normalize("NFKC", name).casefold()
    name = SEPARATORS.sub(" ", REMOVED.sub("", name))
    return " ".join(unicodedata.normalize("NFKC", name).split())


def without_marks(name):
    bare = re.sub("[\u0300-\u036f]+", "", unicodedata.normalize("NFD", name))
    return unicodedata.normalize("NFC", bare)


def forms(name):
    first = compared_name(name)
    second = without_marks(first)
    return [form for form in dict.fromkeys((first, second)) if form]


def rows(file):
    text = gzip.decompress((DATA / file).read_bytes()).decode()
    return [line.split("\t") for line in text.split("\n")[:-1]]


@cache
def cities():
    """Cities by spelling, the heaviest first."""
    table = rows("cities.tsv.gz")
    kinds = ([], [], [])  # the first own spelling, further own ones, others
    for row in table:
        weight = 1 + int(row[5])
        own = row[6].split("|") if row[6] else []
        others = row[7].split("|") if row[7] else []
        kinds[0].extend((spelling, 8 * weight, row) for spelling in own[:1])
        kinds[1].extend((spelling, 8 * weight, row) for spelling in own[1:])
        kinds[2].extend((spelling, weight, row) for spelling in others)
    by_spelling = {}
    for kind in kinds:
        for spelling, weight, row in kind:
            by_spelling.setdefault(spelling, []).append((weight, row))
    return {
        spelling: [row for _, row in sorted(of, key=lambda item: -item[0])]
        for spelling, of in by_spelling.items()
    }


def find_city(city, country=""):
    """Return its row of the file, None if there is none."""
    code = ""
    if country.strip():
        codes = dict(rows("countries.tsv.gz"))
        code = next((codes[form] for form in forms(country) if form in codes), None)
    candidates = [row for form in forms(city) for row in cities().get(form, [])]
    return next((row for row in candidates if code in ("", row[2])), None)


def point_of(row):
    return (float(row[3]), float(row[4])) if row else None


def on_sphere(point):
    latitude, longitude = map(math.radians, point)
    x = math.cos(latitude) * math.cos(longitude)
    y = math.cos(latitude) * math.sin(longitude)
    return tuple(round(at * RADIUS) for at in (x, y, math.sin(latitude)))


@cache
def chords():
    spans = [
        2 * RADIUS * math.sin(km / EARTH / 2)
        for km in range(1, math.floor(math.pi * EARTH) + 1)
    ]
    return [round(span * span) for span in spans]


def kilometres(point, cell):
    """point: of the site, None without one."""
    site = on_sphere(point) if point else (0, 0, 0)
    user = on_sphere(centre_of(cell))
    squared = sum((a - b) ** 2 for a, b in zip(site, user, strict=True))
    return bisect_right(chords(), squared)


def is_local(category, policy: Constants):
    name = "-".join(category.strip().casefold().split())
    return name not in policy.non_local_categories


def proximity(point, cell, policy: Constants, *, local):
    if cell is None or not local:
        return policy.proximity_neutral
    return decay(kilometres(point, cell), policy.distance_scale_km)
