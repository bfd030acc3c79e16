"""Evidence against a place: what is noted, and what is not."""

import pytest

from registry.sites.gazetteer import Gazetteer
from registry.sites.site import LocationClaim
from registry.usecases.sites.place_notes import MOST_MATCHES, document_notes


@pytest.mark.parametrize(
    ("languages", "body", "kinds"),
    [
        ((), "{}", []),
        (("de-AT",), "", ["language"]),
        (("ar", "en-GB", "ar-JO"), "", []),
        (("en", "zh-Hant"), "", []),
        ((), "call +49 (30) 1234-5678", ["telephone"]),
        ((), "+962 6 123 4567 or +49 30 12345678", []),
        ((), "+1 416 555 0100", []),
        ((), "1+23 45", []),
        ((), '{"address": {"addressLocality": "Berlin"}}', ["address"]),
        ((), '{"addressLocality" : "Zarqa", "city": "Berlin"}', []),
        ((), '{"address_country": "Germany"}', ["address"]),
        ((), '{"country": "JO", "areas": [{"country": "DE"}]}', []),
        ((), '{"city": "no such city", "country": "nowhere"}', []),
        ((), '"city": "Berlin",' * MOST_MATCHES, ["address"]),
        ((), '"city": "Berlin",' * (MOST_MATCHES + 1), []),
        ((), '"addressLocality"' * 50_000 + "+1" * 50_000, []),
    ],
)
def test_evidence_is_noted_where_none_fits_the_place(
    languages: tuple[str, ...], body: str, kinds: list[str], gazetteer: Gazetteer
) -> None:
    amman = gazetteer.locate(LocationClaim(city="Amman", country="JO"))
    assert amman is not None
    notes = document_notes(amman, languages, [body], gazetteer)
    assert [note.kind for note in notes] == kinds
