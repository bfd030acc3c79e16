"""Departures of a WAB document from the specification, with their fixes.

Appendix A is compared by its JSON Schema. Members that dialects put elsewhere are reported
before that, since "is missing" would help less; faults that the schema accepts, after it.
"""

from registry.formats.reading.conformance import Specification
from registry.formats.reading.reader import Reader
from registry.formats.wab.wab_schema import APPENDIX_A

_SPECIFICATION = Specification(APPENDIX_A)


def note_departures(body: Reader) -> None:
    _note_synonyms(body)
    _SPECIFICATION.compare(body)
    _check_transport(body)
    _check_addresses(body)


_SYNONYMS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "wab_version",
        ("wab", "version"),
        'Rename {synonym} to wab_version, and write "1.0".',
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
        "Move {synonym} to capabilities.commands, as a list of objects.",
    ),
    (
        "transport",
        ("endpoint", "endpoints", "agent_access"),
        'State how you are called, e.g. {{"http": {{"enabled": true, "base_url": "/api/wab"}}}}.',
    ),
)


def _note_synonyms(body: Reader) -> None:
    for name, others, fix in _SYNONYMS:
        synonym = next((other for other in others if other in body.members), None)
        if synonym is not None and name not in body.members:
            detail = f"{name} is missing; there is {synonym} instead"
            body.child(name).note("required", detail, fix.format(synonym=synonym))


def _check_transport(body: Reader) -> None:
    """Check for the enabled transport of section 4.3.7, which the schema lets pass."""
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
    """Check URLs, as `format: uri` validates nothing by itself and passes `javascript:`."""
    for holder, name in (("provider", "url"), ("agent_access", "api_fallback")):
        body.child(holder).check_address(name)
