from collections.abc import Callable
from typing import Any

from registry.formats.document import Document
from registry.sites.action import Call

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def _rules(document: Document) -> set[tuple[str, str]]:
    return {(each.pointer, each.rule) for each in document.deviations}


def test_a_conforming_document_is_read_whole(sample: Sample, read: Read) -> None:
    document = read(sample("awp-native"))
    assert (document.conformance, document.version) == ("strict", "0.2")
    assert document.site.description == "Book evenings at the observatory"
    assert document.site.url == "https://sternwarte.example"
    book, sky = document.site.actions
    assert (book.auth_required, book.sensitivity) == (True, "irreversible")
    assert [(p.name, p.type, p.required, p.enum) for p in book.parameters] == [
        ("date", "string", True, ()),
        ("telescope", "string", None, ("small", "large")),
        ("guests", "integer", None, ()),
    ]
    assert sky.calls == (
        Call(
            format="awp",
            transport="mcp",
            target="https://mcp.sternwarte.example/mcp",
            operation="sky.tonight",
            off_origin=True,
        ),
    )


def test_a_document_by_the_schema_alone_is_tolerated(
    sample: Sample, read: Read
) -> None:
    document = read(sample("awp-synthetic"))
    (hours,) = document.site.actions
    assert hours.description == "Tell the opening hours"
    assert hours.parameters[0].name == "day"
    assert ("/actions/0/description", "required") in _rules(document)
    assert ("/actions/0/outputs", "required") in _rules(document)


def test_a_synthetic_document_says_so(sample: Sample, read: Read) -> None:
    document = read(sample("awp-synthetic"))
    assert (document.source, document.generated_by) == ("synthetic", "some-generator")
    assert document.confidence == 0.8
    assert read(sample("awp-native")).source == "native"


def test_an_undeclared_protocol_is_told(sample: Sample, read: Read) -> None:
    document = sample("awp-native")
    document["actions"][1]["via"] = "a2a"
    result = read(document)
    assert ("/actions/1/via", "via") in _rules(result)
    assert result.site.actions[1].calls == ()


def test_an_action_without_endpoint_or_protocol_is_told(
    sample: Sample, read: Read
) -> None:
    document = sample("awp-native")
    del document["actions"][0]["endpoint"], document["actions"][0]["method"]
    assert {
        ("/actions/0/endpoint", "required"),
        ("/actions/0/method", "required"),
    } <= _rules(read(document))


def test_duplicate_ids_are_told(sample: Sample, read: Read) -> None:
    document = sample("awp-native")
    document["actions"].append(document["actions"][0])
    result = read(document)
    assert len(result.site.actions) == 2
    assert ("/actions/2", "duplicate") in _rules(result)


def test_required_authentication_wins_over_a_contradiction(
    sample: Sample, read: Read
) -> None:
    document = sample("awp-native")
    document["actions"][0]["auth_required"] = False
    result = read(document)
    assert result.site.actions[0].auth_required is True
    assert ("/actions/0/auth_required", "contradiction") in _rules(result)


def test_undeclared_authentication_is_unknown(sample: Sample, read: Read) -> None:
    document = sample("awp-native") | {"auth": {}}
    del document["actions"][0]["auth_required"]
    assert read(document).site.actions[0].auth_required is None


def test_a_protocol_without_version_is_told(sample: Sample, read: Read) -> None:
    document = sample("awp-native")
    del document["protocols"]["mcp"]["version"]
    assert ("/protocols/mcp/version", "required") in _rules(read(document))


def test_an_unknown_version_is_accepted_if_the_structure_holds(
    sample: Sample, read: Read
) -> None:
    result = read(sample("awp-native") | {"awp_version": "7.0"})
    assert (result.version, result.conformance) == ("7.0", "tolerated")
    assert read(sample("awp-native") | {"awp_version": 0.2}).version == "0.2"
