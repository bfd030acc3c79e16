from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(each.pointer, each.rule) for each in document.deviations}


def test_version_1_0_resolves_paths_on_its_base(sample: Sample, read: Read) -> None:
    (search,) = read(sample("awas-1.0")).site.actions
    (call,) = search.calls
    assert (call.method, call.target) == ("GET", "https://buecherkiste.example/search")
    assert call.off_origin


def test_the_crawled_origin_decides_what_is_off_origin(
    sample: Sample, read: Read
) -> None:
    document = read(sample("awas-1.0"), site_url="https://buecherkiste.example/")
    assert not document.site.actions[0].calls[0].off_origin


def test_version_1_1_declares_effects(sample: Sample, read: Read) -> None:
    order, remove = read(sample("awas-1.1")).site.actions
    assert (order.sensitivity, remove.sensitivity) == ("write", "destructive")
    assert (order.auth_required, remove.auth_required) == (True, True)
    assert [(p.name, p.type, p.required) for p in order.parameters] == [
        ("plant", "string", True),
        ("pots", "integer", False),
    ]


def test_wild_spellings_are_read(sample: Sample, read: Read) -> None:
    document = read(sample("awas-wild"))
    visit, call, directions = document.site.actions
    assert (document.site.name, document.version) == ("Praxis Dr. Hain", "1.0")
    assert (visit.name, visit.description) == (
        "book.visit",
        "Book a visit at the practice",
    )
    assert (visit.sensitivity, visit.calls[0].method) == ("write", "POST")
    assert visit.parameters[0].name == "day"
    assert call.calls == ()
    assert ("/actions/1/url", "target") in _rules(document)
    assert directions.sensitivity == "read"
    assert directions.calls[0].transport == "navigate"


def test_a_pointer_manifest_leads_to_the_catalogue(sample: Sample, read: Read) -> None:
    document = read(sample("awas-pointer"))
    assert document.references == ("https://site.example/.well-known/awas.json",)
    assert ("/endpoints", "reference") in _rules(document)


@pytest.mark.parametrize(
    ("declared", "sensitivity"),
    [
        ({"sideEffect": "safe"}, "read"),
        ({"sideEffect": False}, "read"),
        ({"sideEffect": "safe", "intent": "delete"}, "destructive"),
        ({"reversible": False}, "irreversible"),
        ({"intent": "Orders a plant for you"}, None),
        ({"sideEffect": "moves things"}, None),
        ({}, None),
    ],
)
def test_the_gravest_declared_effect_counts(
    sample: Sample, read: Read, declared: dict[str, Any], sensitivity: str | None
) -> None:
    document = sample("awas-1.0")
    document["actions"][0] |= declared
    assert read(document).site.actions[0].sensitivity == sensitivity
