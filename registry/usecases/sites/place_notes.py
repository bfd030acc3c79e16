"""Notes on what contradicts the place of a site, as far as its documents say. No score.

A note is shown with the entry and judges nothing: a chain has branches, a telephone may
be abroad, and who knows the place can look.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from registry.db.engine.engines import Connection
from registry.db.sites.publisher_sites import places_of_publisher
from registry.errors import RegistryError
from registry.formats.document import StoredDocument
from registry.sites.calling_codes import countries_of
from registry.sites.entry import SiteEntry
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import Place, distance_km
from registry.sites.place_note import PlaceNote
from registry.sites.site import LocationClaim

FAR_KM = 100
"""Distance from which on two cities are no longer one place and its surroundings."""
MOST_VALUES = 3
MOST_MATCHES = 200
"""Number of cities, countries or telephones beyond which they are no evidence for one
place. They are looked up at each request for the entry, and a document has room for many."""
_READ_BYTES = 256 * 1024
_TELEPHONE = re.compile(r"\+[1-9](?:[ ()./-]{0,2}\d){7,14}")
_CITY = re.compile(
    r'"(?:address_?)?(?:locality|city|town)"\s{0,9}:\s{0,9}"([^"\\]{2,80})"',
    re.IGNORECASE,
)
_COUNTRY = re.compile(
    r'"(?:address_?)?country(?:_?code)?"\s{0,9}:\s{0,9}"([^"\\]{2,80})"', re.IGNORECASE
)
_REGION = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z]{4})?[-_]([A-Za-z]{2})")


async def read_place_notes(
    connection: Connection,
    entry: SiteEntry,
    documents: Sequence[StoredDocument],
    gazetteer: Gazetteer,
) -> tuple[PlaceNote, ...]:
    """documents: the current ones."""
    if entry.place is None:
        return ()
    bodies = [own.body[:_READ_BYTES].decode(errors="replace") for own in documents]
    others = await places_of_publisher(connection, entry)
    return (
        *document_notes(entry.place, entry.site.languages, bodies, gazetteer),
        *_registration_notes(entry.place, others),
    )


def document_notes(
    place: Place, languages: Iterable[str], bodies: Sequence[str], gazetteer: Gazetteer
) -> Iterator[PlaceNote]:
    """Yield a note for each kind of evidence of which none fits the place."""
    country = place.country
    cities = _values(_CITY, bodies)
    if _all_far(place, [gazetteer.locate(LocationClaim(city=city)) for city in cities]):
        yield PlaceNote("address", f"its documents name {_shown(cities)}")
    countries = _values(_COUNTRY, bodies)
    if _none_is(country, [{_code(name, gazetteer)} for name in countries]):
        yield PlaceNote(
            "address", f"its documents name the country {_shown(countries)}"
        )
    numbers = _values(_TELEPHONE, bodies)
    if _none_is(country, [countries_of(re.sub(r"\D", "", text)) for text in numbers]):
        yield PlaceNote("telephone", f"its telephone is {_shown(numbers)}")
    regions = [match[1].upper() for match in map(_REGION.fullmatch, languages) if match]
    if _none_is(country, [{region} for region in regions]):
        yield PlaceNote("language", f"its language is that of {_shown(regions)}")


def _registration_notes(
    place: Place, others: Iterable[tuple[str, Place]]
) -> Iterator[PlaceNote]:
    for host, other in others:
        if distance_km(place.point, other.point) >= FAR_KM:
            city = f"{other.name} {other.country}"
            yield PlaceNote("registration", f"{host} of the same domain is in {city}")


def _values(pattern: re.Pattern[str], bodies: Iterable[str]) -> list[str]:
    """Return the distinct matches, in order; none of more than MOST_MATCHES."""
    matches = (match for body in bodies for match in pattern.finditer(body))
    first = list(islice(matches, MOST_MATCHES + 1))
    if len(first) > MOST_MATCHES:
        return []
    return list(dict.fromkeys(match[match.re.groups] for match in first))


def _all_far(place: Place, cities: Iterable[Place | None]) -> bool:
    """Return whether a city is known, and no known one is near."""
    far = [distance_km(place.point, city.point) >= FAR_KM for city in cities if city]
    return bool(far) and all(far)


def _none_is(country: str, evidence: Iterable[Iterable[str]]) -> bool:
    """Return whether any country is known from the evidence, and none is this."""
    known = {code for codes in evidence for code in codes if code}
    return bool(known) and country not in known


def _code(name: str, gazetteer: Gazetteer) -> str:
    try:
        return gazetteer.find_country(name)
    except RegistryError:
        return ""


def _shown(values: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(values[:MOST_VALUES]))
