from collections.abc import Callable
from typing import Any

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def test_tools_are_read_in_both_parameter_shapes(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-tools"))
    beds, book = document.site.actions
    assert (beds.sensitivity, book.sensitivity) == ("read", "destructive")
    assert [(p.name, p.required) for p in beds.parameters] == [("date", True)]
    assert [(p.name, p.type, p.required) for p in book.parameters] == [
        ("date", "string", True),
        ("guests", "number", False),
    ]
    assert document.site.languages == ("de-AT",)
    assert document.references == (
        "https://site.example/book",
        "https://mcp.enzian.example/mcp",
    )


def test_a_manifest_is_never_strict(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-tools"))
    assert document.conformance == "tolerated"
    assert document.deviations[0].rule == "manifest"


def test_forms_and_bare_names_are_actions(sample: Sample, read: Read) -> None:
    (form,) = read(sample("webmcp-forms")).site.actions
    assert form.name == "Verlust melden"
    assert (form.calls[0].method, form.calls[0].target) == (
        "POST",
        "https://site.example/melden",
    )
    names = [a.name for a in read(sample("webmcp-names")).site.actions]
    assert names == ["search_buttons", "list_sizes"]


def test_a_client_configuration_only_refers(sample: Sample, read: Read) -> None:
    document = read(sample("webmcp-client-configuration"))
    assert document.site.actions == ()
    assert document.references == ("https://imkerei.example/mcp",)
