"""Real documents, which lie beside the project and are no part of it."""

import json
from pathlib import Path

import pytest

from registry.formats.assemble import assemble
from registry.formats.detect import parse_document
from registry.formats.document import Parsed
from registry.formats.semantic import semantic_hash

CORPUS = Path(__file__).parents[3] / ".." / "shared" / "corpus"
INDEX = CORPUS / "index.jsonl"
ENTRIES = (
    [json.loads(line) for line in INDEX.read_text().splitlines()]
    if INDEX.exists()
    else []
)
FAMILIES = {
    "awas-manifests": "awas",
    "mcp-json": "mcp",
    "mcp-server-json": "mcp",
    "webmcp-manifest": "webmcp",
}
# Refused, each with its reason: a template of a shell script, an early draft without a
# version, a page map, and two examples with comments or ellipses.
REFUSED = {
    "wab/wab-002.json": "json_syntax",
    "awp/awp-014.json": "format_unknown",
    "awas/awas-019.json": "not_discovery",
    "abp/abp-021.json": "json_syntax",
    "abp/abp-026.json": "json_syntax",
}
OTHER = {"agent-json-other/agent-json-other-042.json": "a2a"}

pytestmark = pytest.mark.skipif(
    not ENTRIES, reason="the corpus of real documents is not beside the project"
)


def test_the_corpus_is_whole() -> None:
    assert len(ENTRIES) == 60


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_a_real_document_lands_in_its_family(entry: dict[str, str]) -> None:
    file, family = entry["file"], entry["format"]
    result = parse_document(
        (CORPUS / file).read_bytes(), url="https://s.example/x.json"
    )
    if family == "agent-json-other":
        expected = OTHER.get(file, "format_unknown")
    else:
        expected = REFUSED.get(file, FAMILIES.get(family, family))
    if isinstance(result, Parsed):
        assert result.document.format == expected
        assert len(semantic_hash(assemble([result.document]).site)) == 32
    else:
        assert result.problem.code == expected
        assert result.problem.fix
