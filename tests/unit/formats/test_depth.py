import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.errors import Problem
from registry.formats.detect import parse_document
from registry.formats.document import MAX_DEPTH, Document, Rejected

ARRAY_OF_OBJECTS = {
    "type": "object",
    "properties": {
        "slots": {
            "type": "array",
            "items": {"type": "object", "properties": {"at": {"type": "string"}}},
        }
    },
}


def _nested(levels: int) -> Any:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    return value


def _with_member(name: str, value: Any) -> dict[str, Any]:
    tool = {
        "name": "get_slots",
        "description": "Free slots",
        "inputSchema": {"type": "object", "properties": {}},
    }
    return {"name": "Dentist", "tools": [{**tool, name: value}]}


@pytest.mark.parametrize(
    "name", ["returnSchema", "resultSchema", "returns", "outputs", "response", "x"]
)
def test_a_schema_counts_on_its_own_whatever_its_member_is_called(
    name: str, read: Callable[..., Document]
) -> None:
    assert len(read(_with_member(name, ARRAY_OF_OBJECTS)).site.actions) == 1
    read(_with_member(name, {"answer": {"slots": ARRAY_OF_OBJECTS}}))


@pytest.mark.parametrize("name", ["examples", "x", "_meta", "annotations"])
def test_what_nobody_reads_may_be_deep(
    name: str, read: Callable[..., Document]
) -> None:
    document = read(_with_member(name, _nested(MAX_DEPTH - 3)))
    assert [action.name for action in document.site.actions] == ["get_slots"]


def test_no_document_is_deeper_than_the_limit(refuse: Callable[..., Problem]) -> None:
    problem = refuse(_with_member("x", _nested(MAX_DEPTH - 2)))
    assert problem.code == "json_too_deep"
    assert str(MAX_DEPTH) in problem.detail


def test_a_character_is_pointed_at_with_its_index() -> None:
    actions = [{"name": "a"}, {"name": "b", "description": "x\0"}]
    document = {"wab_version": "1.0", "provider": {}, "actions": actions}
    result = parse_document(
        json.dumps(document).encode(), url="https://site.example/wab.json"
    )
    assert isinstance(result, Rejected)
    assert result.problem.pointer == "/actions/1/description"
