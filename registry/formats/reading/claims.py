"""Simple claims of a site, converted to their standard forms."""

import re

from registry.formats.reading.reader import Reader, clean_text
from registry.sites.site import LocationClaim
from registry.strict_json import JsonValue

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*\Z")
_COUNTRY = re.compile(r"[A-Z]{2}\Z")
_HOST = re.compile(r"[A-Za-z0-9.-]+(?::\d{1,5})?\Z")
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,400})?)\s*%?\Z")


def read_languages(document: Reader, *names: str) -> tuple[str, ...]:
    """Read BCP 47 tags from a text or a list of texts; `de_DE` is read as `de-DE`."""
    tags: dict[str, None] = {}
    for name in names:
        declared = document.child(name)
        several = isinstance(declared.value, list)
        for text in declared.elements() if several else [declared]:
            tag = _language_tag(text)
            if tag:
                tags[tag] = None
    return tuple(tags)


def _language_tag(declared: Reader) -> str:
    text = declared.as_text()
    tag = text.split(".")[0].split("@")[0].replace("_", "-")
    if not text or (tag == text and _LANGUAGE.match(tag)):
        return text
    if not _LANGUAGE.match(tag):
        declared.deviate_instead("no_language")
        return ""
    declared.deviate_instead("language_spelling", tag=tag)
    return tag


def read_percent(document: Reader, *names: str) -> float | None:
    """Read 0..100 from `"12.5%"`, `"12.5"` or `12.5`."""
    declared = document.child(*names)
    percent = _percent_in(declared.value)
    if percent is not None and 0 <= percent <= 100:
        return percent
    if declared.is_present:
        declared.deviate_instead("no_percentage")
    return None


def _percent_in(value: JsonValue) -> float | None:
    if isinstance(value, str):
        match = _PERCENT.match(clean_text(value))
        return float(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def read_location(declared: Reader) -> LocationClaim | None:
    """Read city and ISO 3166-1 alpha-2 country; None if both are absent."""
    city, country = declared.text("city"), declared.text("country")
    if not _COUNTRY.match(country):
        country = _upper_country(declared, country)
    return LocationClaim(city=city, country=country) if city or country else None


def _upper_country(declared: Reader, country: str) -> str:
    if not country:
        return ""
    code = country.upper()
    if country.isascii() and _COUNTRY.match(code):
        declared.child("country").deviate_instead("country_spelling", code=code)
        return code
    declared.child("country").deviate_instead("no_country")
    return ""


def read_address(document: Reader, *names: str) -> str:
    """Read the absolute URL that the document claims for its site."""
    declared = next((name for name in names if document.text(name)), names[0])
    text = document.text(declared)
    if not text:
        return ""
    if not names_host(text):
        return document.resolve(text, names=(declared,)) or ""
    url = document.resolve(f"https://{text}", names=(declared,))
    if url:
        document.child(declared).deviate("host_for_url", url=url[:200])
    return url or ""


def read_host(document: Reader, *names: str) -> str:
    """Return the URL of the host that the document names."""
    text = document.text(*names)
    if not names_host(text):
        return ""
    return document.resolve(f"https://{text.lower()}", names=names) or ""


def names_host(text: str) -> bool:
    return "." in text and bool(_HOST.match(text))


def read_permissions(declared: Reader) -> tuple[tuple[str, bool], ...]:
    """Return name and grant of each permission that is declared as a boolean."""
    return tuple(
        (name, grant.value)
        for name, grant in declared.entries()
        if isinstance(grant.value, bool)
    )
