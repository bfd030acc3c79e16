"""Declarations of a registrant about a site, beside its documents.

Category and location exist in WAB documents only, so sites of other formats state them
here. Commission, independence, chain and size are disclosures for reports, never for
ranking.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from registry.identity.json_fields import (
    invalid_member,
    optional,
    optional_parsed,
    parse_choice,
    parse_line,
    require_parsed,
)
from registry.sites.label import Size, parse_chain
from registry.sites.site import LocationClaim
from registry.strict_json import JsonValue

_SIZES: tuple[Size, ...] = ("micro", "small", "medium", "large")
MEMBERS = frozenset(
    {"category", "location", "commission_rate", "is_independent", "chain", "size"}
)
MAX_CATEGORY_LENGTH = 100
MAX_CITY_LENGTH = 200
_parse_category = partial(parse_line, most=MAX_CATEGORY_LENGTH)
_parse_city = partial(parse_line, most=MAX_CITY_LENGTH)
_parse_size = partial(parse_choice, choices=_SIZES)
_COUNTRY = re.compile(r"[A-Z]{2}")
_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,4})?) ?%")
_MAX_PERCENT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """Declared facts, None where undeclared. commission_percent: 0..100.

    chain: which the site belongs to, see `label`; then is_independent is False.
    """

    category: str | None = None
    location: LocationClaim | None = None
    commission_percent: float | None = None
    is_independent: bool | None = None
    size: Size | None = None
    chain: str | None = None


def parse_declarations(payload: Mapping[str, JsonValue]) -> Declarations:
    """Parse the declarations among the payload's members. Raises: Refused."""
    is_independent = optional(payload, "is_independent", bool)
    chain = _parse_chain(payload, is_independent)
    return Declarations(
        category=optional_parsed(payload, "category", _parse_category),
        location=_parse_location(payload),
        commission_percent=_parse_commission(payload),
        is_independent=False if chain else is_independent,
        size=optional_parsed(payload, "size", _parse_size),
        chain=chain,
    )


def _parse_location(payload: Mapping[str, JsonValue]) -> LocationClaim | None:
    location = optional(payload, "location", dict)
    if location is None:
        return None
    country = require_parsed(location, "country", _parse_country, "/location")
    city = optional_parsed(location, "city", _parse_city, "/location")
    return LocationClaim(city=city or "", country=country)


def _parse_country(text: str) -> str:
    """Raises: ValueError."""
    if not _COUNTRY.fullmatch(text):
        raise ValueError("must be an ISO 3166 code of two capital letters, such as DE")
    return text


def _parse_commission(payload: Mapping[str, JsonValue]) -> float | None:
    if "commission_rate" not in payload:
        return None
    percent = _read_percent(payload["commission_rate"])
    if percent is None or not 0 <= percent <= _MAX_PERCENT:
        what = 'must be a percentage from 0 to 100, as 5 or "5%"'
        raise invalid_member(what, "/commission_rate")
    return percent


def _read_percent(value: JsonValue) -> float | None:
    if isinstance(value, str):
        match = _PERCENT.fullmatch(value)
        return float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _parse_chain(
    payload: Mapping[str, JsonValue], is_independent: bool | None
) -> str | None:
    if is_independent and optional(payload, "chain", str) is not None:
        raise invalid_member("goes with is_independent false, or without it", "/chain")
    return optional_parsed(payload, "chain", parse_chain)
