"""City mentions: the cities that a request names in its own words.

They are returned to the caller as hints: a request's words never move a place in the
order. A word that means something else as well (nice, reading, mobile) names no city.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

from registry.errors import RegistryError
from registry.sites.gazetteer import CityColumns, Gazetteer, fold, read_cities
from registry.sites.place import Place
from registry.sites.regions import REGIONS
from registry.toml_table import read_table

_NAMES = read_table(__package__, "geonames/ordinary_names.toml", dict[str, str])
ORDINARY_NAMES = frozenset(_NAMES["words"].split()) | frozenset(
    " ".join(phrase.split()) for phrase in _NAMES["phrases"].split(";")
)
"""Names of cities that are ordinary words: in a request they name no city.

Found by comparing the gazetteer's names with the words that the encoder's vocabulary has
in lower case, and with some 4,000 requests; read through by a person. Folded, as
`gazetteer.fold` gives them.
"""

MOST_WORDS = 5
"""Words of a city's name. Longer ones are districts."""
MOST_MENTIONS = 3
LARGE = 500_000
"""People of a city that is known by its other names too: Wien, Firenze."""
_SHORTEST = 4
"""Letters of a name; shorter ones are words of some language. Other scripts say more
with fewer."""
_COUNTRY_WORDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CityMention:
    """words: those of the request, folded."""

    words: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CityMentions:
    """Hashes of the folded names, and of how they open.

    openings: hashes of names of one word, and of the first two words of longer ones. As
    in the gazetteer the names are not held, and what is found is looked up there.
    """

    gazetteer: Gazetteer
    names: frozenset[int]
    openings: frozenset[int]

    @classmethod
    def load(cls) -> Self:
        """Read the package data once, for the gazetteer too."""
        cities = read_cities()
        names = {*filter(_is_long, _names_of(cities))} - ORDINARY_NAMES
        return cls(
            gazetteer=Gazetteer.of(cities),
            names=frozenset(map(hash, names)),
            openings=frozenset(map(_hash_opening, names)),
        )

    def find(self, text: str, country: str = "") -> tuple[CityMention, ...]:
        """Return the first cities that a request names. country: where they have to lie."""
        words = fold(text).split()
        # Most requests name no city, and end here after two loops in C.
        if self.openings.isdisjoint(map(hash, words)) and self.openings.isdisjoint(
            map(hash, pairwise(words))
        ):
            return ()
        mentions: dict[int, CityMention] = {}
        for start, stop in self._spans(words):
            mention = self._mention(words, start, stop, country)
            if mention and len(mentions) < MOST_MENTIONS:
                mentions.setdefault(mention.place.geonames_id, mention)
        return tuple(mentions.values())

    def _spans(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of names from left to right, the longest of each start."""
        start = 0
        while start < len(words):
            stop = self._end_of_name(words, start)
            if stop > start:
                yield start, stop
            start = max(stop, self._end_of_region(words, start, stop), start + 1)

    def _end_of_name(self, words: Sequence[str], start: int) -> int:
        """Return start where no name begins."""
        for stop in range(min(start + MOST_WORDS, len(words)), start, -1):
            if hash(" ".join(words[start:stop])) in self.names:
                return stop
        return start

    def _mention(
        self, words: Sequence[str], start: int, stop: int, country: str
    ) -> CityMention | None:
        name = " ".join(words[start:stop])
        end = self._end_of_region(words, start, stop)
        region = REGIONS.get(" ".join(words[stop:end]))
        if region is None:
            country = country or self._country_at(words, stop)
        elif country in ("", region.country):
            country = region.country
        else:
            return None
        place = self._find(name, country)
        # Portland, Maine, is not the Portland that the name alone stands for.
        if place is None or (region and not region.holds(place.point)):
            return None
        # Peru is the country and not the city in Indiana; Singapore is both.
        if self.gazetteer.countries.get(name, place.country) != place.country:
            return None
        if self.gazetteer.find(place.name, place.country) != place:
            return None  # a request with these parameters would be seen from elsewhere
        return CityMention(words=name, place=place)

    def _find(self, name: str, country: str) -> Place | None:
        try:
            return self.gazetteer.find(name, country)
        except RegistryError:
            return None

    def _end_of_region(self, words: Sequence[str], start: int, stop: int) -> int:
        """Return where the region that follows a city ends, stop where none does.

        Only one whose country has a city of that name: Tbilisi lies in no Georgia of
        the United States.
        """
        for end in range(min(stop + _COUNTRY_WORDS, len(words)), stop, -1):
            region = REGIONS.get(" ".join(words[stop:end]))
            if region and self._find(" ".join(words[start:stop]), region.country):
                return end
        return stop

    def _country_at(self, words: Sequence[str], start: int) -> str:
        """Return the country's name that follows, or ""; codes are words of English."""
        for stop in range(min(start + _COUNTRY_WORDS, len(words)), start, -1):
            name = " ".join(words[start:stop])
            if len(name) >= _SHORTEST and name in self.gazetteer.countries:
                return name
        return ""


def _hash_opening(name: str) -> int:
    words = name.split(" ", 2)
    return hash((words[0], words[1])) if len(words) > 1 else hash(name)


def _names_of(cities: CityColumns) -> Iterator[str]:
    """Yield folded names that may stand for a city in a sentence."""
    columns = cities.own, cities.others, cities.populations
    for own, others, population in zip(*columns, strict=True):
        for name in own.split("|"):
            yield name
            if name.count(" ") > 1:
                yield name.removesuffix(" city")
        if int(population) >= LARGE:
            yield from (name for name in others.split("|") if " " not in name)


def _is_long(folded: str) -> bool:
    return len(folded) >= (_SHORTEST if folded.isascii() else 2)
