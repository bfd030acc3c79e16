from collections.abc import Callable
from typing import Any

import pytest

from registry.formats.document import Document

Sample = Callable[[str], dict[str, Any]]
Read = Callable[..., Document]


def test_an_agent_card_offers_its_skills(sample: Sample, read: Read) -> None:
    document = read(sample("a2a-card"))
    (skill,) = document.site.actions
    assert (document.format, document.site.name) == ("a2a", "Übersetzer Agent")
    assert skill.name == "translate-letter"
    assert skill.calls[0].target == "https://uebersetzer.example/a2a"
    assert skill.calls[0].transport == "jsonrpc"


def test_an_mcp_card_offers_its_tools(sample: Sample, read: Read) -> None:
    document = read(sample("mcp-server-card"))
    (tool,) = document.site.actions
    assert (document.site.name, document.version) == ("Wetterdienst", "2025-06-18")
    assert (tool.sensitivity, tool.parameters[0].type) == ("read", "string")
    assert tool.calls[0].target == "https://site.example/mcp"
    assert tool.calls[0].operation == "forecast"


def test_a_catalogue_offers_and_refers(sample: Sample, read: Read) -> None:
    document = read(sample("ard-catalogue"))
    (entry,) = document.site.actions
    assert entry.name == "Outages"
    assert document.references == ("https://stadtwerke.example/mcp.json",)


@pytest.mark.parametrize("name", ["a2a-card", "mcp-server-card", "ard-catalogue"])
def test_what_was_not_judged_is_not_called_strict(
    sample: Sample, read: Read, name: str
) -> None:
    document = read(sample(name))
    assert (document.conformance, document.deviations) == ("tolerated", ())
