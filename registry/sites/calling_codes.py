"""Country calling codes (ITU-T E.164), for what a telephone number says of a place."""

from registry.toml_table import read_table

_COUNTRIES = {
    code: frozenset(countries.split())
    for code, countries in read_table(
        __package__, "geonames/calling_codes.toml", dict[str, str]
    ).items()
}


def countries_of(digits: str) -> frozenset[str]:
    """Return the countries (ISO 3166-1) of an international number; none if unsure.

    The code 1 has twenty countries and tells none apart.
    """
    codes = (digits[:length] for length in (3, 2, 1))
    return next((_COUNTRIES[code] for code in codes if code in _COUNTRIES), frozenset())
