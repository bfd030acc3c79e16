"""Where a WAB document departs from the specification, with the way back.

Appendix A is compared by its JSON Schema. Before that is said what the dialects put
elsewhere, since "is missing" would help less; after it, what the schema lets through.
"""

from registry.formats.reading.conformance import Specification
from registry.formats.reading.reader import Reader
from registry.formats.reading.targets import resolve_target
from registry.formats.wab.schema import APPENDIX_A

_SPECIFICATION = Specification(APPENDIX_A)


def note_departures(body: Reader) -> None:
    _note_misplaced(body)
    _SPECIFICATION.compare(body)
    _check_transport(body)
    _check_addresses(body)


_OTHER_PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "wab_version",
        ("wab", "version"),
        'Rename {found} to wab_version, and write "1.0".',
    ),
    ("provider", ("site",), "Rename site to provider; give it name, category and url."),
    (
        "provider",
        ("name", "site_url"),
        "Put name, category and url into an object called provider.",
    ),
    (
        "capabilities",
        ("actions", "commands"),
        "Move {found} to capabilities.commands, as a list of objects.",
    ),
    (
        "transport",
        ("endpoint", "endpoints", "agent_access"),
        'Say how you are called, e.g. {{"http": {{"enabled": true, "base_url": "/api/wab"}}}}.',
    ),
)


def _note_misplaced(body: Reader) -> None:
    for name, others, fix in _OTHER_PLACES:
        found = next((other for other in others if other in body.members), None)
        if found is not None and name not in body.members:
            detail = f"{name} is missing; {found} stands in its place"
            body.child(name).note("required", detail, fix.format(found=found))


def _check_transport(body: Reader) -> None:
    """Section 4.3.7 wants one enabled transport; the schema's `anyOf` asks for none."""
    transport = body.child("transport")
    if isinstance(transport.value, dict) and not any(
        member.get("enabled") is True
        for member in transport.value.values()
        if isinstance(member, dict)
    ):
        transport.note(
            "transport",
            "no transport is enabled",
            'Enable one, e.g. {"http": {"enabled": true, "base_url": "/api/wab"}}.',
        )


def _check_addresses(body: Reader) -> None:
    """`format: uri` checks nothing by itself, and passes `javascript:`."""
    for holder, name in (("provider", "url"), ("agent_access", "api_fallback")):
        url = body.child(holder).child(name)
        if isinstance(url.value, str) and resolve_target(url.value, base="") is None:
            url.note("url", "not an https URL", "Give an absolute https URL.")
