"""The gazetteer: finds a place by a city's name in any common spelling.

Owns the look-up over GeoNames' cities of 15,000 people and more, whose tables stand in
the folder `geonames`, with their licence and their maker. It is the only source of a site's position: a site that
names a city gets that city's point, and no coordinates of its own making.

Kept small on purpose: the spellings themselves are not held, only their 64-bit hashes.
Every Python process has another key for string hashes, so nobody can aim at a collision,
and an accidental one needs some 3e-14 per look-up of an unknown name.
"""

import gzip
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Self
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from registry.errors import Refused, RegistryError
from registry.sites.place import Place, Point
from registry.sites.refusals import CITY_UNKNOWN, COUNTRY_UNKNOWN
from registry.sites.site import LocationClaim

OWN_NAME_WEIGHT = 8
"""Factor by which the population of a city counts under its own name.

GeoNames lists transcriptions and old names freely: by population alone Islamabad would
be Chattogram, Zaragoza Tijuana and Parma Perm; by own name alone Medina would be in
Ohio. Eight settles both kinds.
"""

_SHOWN_CHARACTERS = 80
_DROPPED = re.compile(
    "['`´’‘ʻʼʾʿ΄׳.\u00ad\u200b-\u200f]"  # noqa: RUF001 -- apostrophes of many scripts
)
_SEPARATORS = re.compile(
    "[!-\\-/:-@\\[-_{-~·،٬־་།၊፣፥\u2010-\u2017\u201a-\u2027\u2030-\u205e\u3001-\u303f・]+"
)
_DIACRITICS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Fold the ways to write a name into one; diacritics stay."""
    text = normalize("NFKC", text).casefold()
    text = _SEPARATORS.sub(" ", _DROPPED.sub("", text))
    return " ".join(normalize("NFKC", text).split())


def strip_diacritics(folded: str) -> str:
    """Remove the accents of Latin, Greek and Cyrillic; other scripts keep their marks."""
    return normalize("NFC", _DIACRITICS.sub("", normalize("NFD", folded)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gazetteer:
    """Cities as columns, spellings as sorted hashes.

    geonames_ids, names, country_codes, points (degrees, shape (cities, 2)): a row a city.
    hashes, owners: a row a spelling, by hash; of one hash the weightiest city first.
    countries: folded spelling → ISO 3166-1 alpha-2.
    """

    geonames_ids: NDArray[np.int32]
    names: tuple[str, ...]
    country_codes: tuple[str, ...]
    points: NDArray[np.float64]
    hashes: NDArray[np.int64]
    owners: NDArray[np.int32]
    countries: dict[str, str]

    @classmethod
    @cache
    def load(cls) -> Self:
        """Read the tables, once per process; takes a quarter of a second."""
        return cls.of(read_cities())

    @classmethod
    def of(cls, cities: "CityColumns") -> Self:
        hashes, owners = _index_spellings(cities)
        return cls(
            geonames_ids=np.array([*map(int, cities.geonames_ids)], np.int32),
            names=tuple(cities.names),
            country_codes=tuple(map(sys.intern, cities.countries)),
            points=np.column_stack(
                [[*map(float, cities.latitudes)], [*map(float, cities.longitudes)]]
            ),
            hashes=hashes,
            owners=owners,
            countries=dict(zip(*_columns("countries.tsv.gz", 2), strict=True)),
        )

    def find(self, city: str, country: str = "") -> Place:
        """Find the weightiest city of that name, in the country if one is given.

        Raises: Refused (city_unknown, country_unknown), pointer "city" or "country".
        """
        code = self.find_country(country) if country.strip() else ""
        matches = self._match(city)
        for match in matches:
            if code in ("", self.country_codes[match]):
                return self._place(match)
        raise Refused(
            CITY_UNKNOWN, self._explain_miss(city, code, matches), pointer="city"
        )

    def place_of(self, geonames_id: int) -> Place | None:
        """Return the city with the number, None if it is not among these."""
        (numbers,) = np.nonzero(self.geonames_ids == geonames_id)
        return self._place(numbers[0]) if len(numbers) else None

    def point_of(self, geonames_id: int) -> Point | None:
        """Return where a city is, None if it is not among these."""
        place = self.place_of(geonames_id)
        return place.point if place else None

    def locate(self, claim: LocationClaim | None) -> Place | None:
        """Return the claimed place, None if it is not known."""
        if claim is None or not claim.city:
            return None
        try:
            return self.find(claim.city, claim.country)
        except RegistryError:
            return None

    def find_country(self, country: str) -> str:
        """Return ISO 3166-1 alpha-2 for a code, top-level domain or English name.

        Raises: Refused (country_unknown), pointer "country".
        """
        for spelling in spellings(country):
            if spelling in self.countries:
                return self.countries[spelling]
        raise Refused(
            COUNTRY_UNKNOWN,
            f"{country[:_SHOWN_CHARACTERS]!r} names no country",
            pointer="country",
        )

    def _match(self, city: str) -> list[int]:
        """List cities spelled as written, then those that differ in diacritics only."""
        cities: list[int] = []
        for spelling in spellings(city):
            key = hash(spelling)
            start = np.searchsorted(self.hashes, key, side="left")
            stop = np.searchsorted(self.hashes, key, side="right")
            cities.extend(self.owners[start:stop].tolist())
        return cities

    def _place(self, city: int) -> Place:
        return Place(
            geonames_id=int(self.geonames_ids[city]),
            name=self.names[city],
            country=self.country_codes[city],
            point=Point(*self.points[city].tolist()),
        )

    def _explain_miss(self, city: str, code: str, matches: list[int]) -> str:
        shown = repr(city[:_SHOWN_CHARACTERS])
        if not matches:
            return f"{shown} is no city of the gazetteer"
        elsewhere = dict.fromkeys(self.country_codes[match] for match in matches)
        return f"{shown} is no city of {code}, only of {', '.join(elsewhere)}"


def spellings(text: str) -> tuple[str, ...]:
    """Return the folded text, and without diacritics if that differs; () if empty."""
    folded = fold(text)
    return tuple(filter(None, dict.fromkeys((folded, strip_diacritics(folded)))))


class CityColumns(NamedTuple):
    """Fields of the table, as its README tells: of a column the field of each city.

    Rows of which each is an object of its own take twice the time.
    """

    geonames_ids: list[str]
    names: list[str]
    countries: list[str]
    latitudes: list[str]
    longitudes: list[str]
    populations: list[str]
    own: list[str]
    others: list[str]


def read_cities() -> CityColumns:
    return CityColumns(*_columns("cities.tsv.gz", len(CityColumns._fields)))


def _columns(file: str, count: int) -> list[list[str]]:
    packed = files("registry.sites").joinpath("geonames", file).read_bytes()
    fields = gzip.decompress(packed).decode().replace("\n", "\t").split("\t")
    return [fields[n:-1:count] for n in range(count)]


def _index_spellings(
    cities: CityColumns,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (hashes, owners), by hash, then from the weightiest city down.

    Of cities of one weight that comes first whose own name is so spelt as written.
    """
    firsts, _, further = zip(*[own.partition("|") for own in cities.own], strict=True)
    weights = np.outer(
        (OWN_NAME_WEIGHT, OWN_NAME_WEIGHT, 1), [1 + int(n) for n in cities.populations]
    )
    falling = np.argsort(-weights.ravel(), kind="stable")
    fields = [*firsts, *further, *cities.others]
    fields = [fields[n] for n in falling.tolist()]
    counts = [field.count("|") + 1 if field else 0 for field in fields]
    spelled = "|".join(filter(None, fields)).split("|")
    hashes = np.fromiter(map(hash, spelled), np.int64, len(spelled))
    owners = (falling % len(cities.own)).astype(np.int32)
    order = np.argsort(hashes, kind="stable")
    return hashes[order], np.repeat(owners, counts)[order]
