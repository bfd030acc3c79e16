from collections.abc import Callable
from typing import Any

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def test_a_manifest_is_read_whole(sample: Sample, read: Read) -> None:
    document = read(sample("abp-manifest"))
    render, play, prints = document.site.actions
    assert (document.conformance, document.version) == ("strict", "0.1")
    assert document.site.name == "Notensatz"
    assert [(p.name, p.required, p.enum) for p in render.parameters] == [
        ("type", False, ("svg", "png")),
        ("source", True, ()),
    ]
    assert (play.experimental, prints.deprecated) == (True, True)
    assert render.calls[0].transport == "window.abp"
    assert render.calls[0].operation == "render.score"
    assert not render.calls[0].off_origin


def test_what_is_required_but_missing_is_told(sample: Sample, read: Read) -> None:
    document = sample("abp-manifest")
    del document["app"]["id"]
    document["capabilities"][1] = {"description": "nameless"}
    result = read(document)
    rules = {(each.pointer, each.rule) for each in result.deviations}
    assert {("/app/id", "required"), ("/capabilities/1/name", "required")} <= rules
    assert len(result.site.actions) == 2
