"""Declarations of a member at its registration, beside its documents.

A registration carries what the member's document has no field for: category and place
for every format but WAB, and the disclosures that serve reports only.
"""

from collections.abc import Mapping

from registry.demo.town.build_document import document_path
from registry.demo.town.member import Member
from registry.strict_json import JsonValue


def declare(member: Member) -> dict[str, JsonValue]:
    """Return category, location, commission_rate, is_independent and size that apply."""
    documented = _members_of_document(member)
    return {
        name: value
        for name, value in _everything(member).items()
        if name not in documented and value is not None
    }


def document_urls(member: Member) -> tuple[str, ...]:
    """Return the URLs that the registration lists under `docs`."""
    page = ("/",) if member.format == "webmcp" else ()
    paths = dict.fromkeys((document_path(member), *page))
    return tuple(f"https://{member.host}{path}" for path in paths)


def _everything(member: Member) -> Mapping[str, JsonValue]:
    place: JsonValue = {"city": member.city, "country": member.country}
    percent = member.commission_percent
    return {
        "category": member.category,
        "location": place if member.city else None,
        "commission_rate": None if percent is None else f"{percent}%",
        "is_independent": member.is_independent,
        "size": member.size,
    }


def _members_of_document(member: Member) -> frozenset[str]:
    match member.format, member.dialect:
        case "wab", "":
            return frozenset(
                ("category", "location", "commission_rate", "is_independent")
            )
        case "wab", "site-1.2":
            return frozenset(("category",))
        case _:
            return frozenset()
