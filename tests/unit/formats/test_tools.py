from typing import Any

import pytest

from registry.formats.document import MAX_ACTIONS
from registry.formats.reading.reader import DeviationLog, Reader
from registry.formats.reading.tools import declared_tools, lists_tools, read_tool
from registry.sites.action import Action


def _read(tool: Any) -> tuple[Action, set[tuple[str, str]]]:
    log = DeviationLog(url="https://site.example/")
    ((name, declared),) = declared_tools(Reader([tool], "/tools", log))
    action = read_tool(name, declared, ())
    return action, {(deviation.pointer, deviation.rule) for deviation in log.deviations}


PLAIN = {"name": "find", "description": "Finds huts"}


@pytest.mark.parametrize(
    "spelling", ["input_schema", "parameters", "params", "inputs", "schema", "fields"]
)
def test_another_spelling_of_the_schema_is_read_and_named(spelling: str) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}
    action, rules = _read(PLAIN | {spelling: schema})
    assert [parameter.name for parameter in action.parameters] == ["q"]
    assert rules == {(f"/tools/0/{spelling}", "spelling")}


@pytest.mark.parametrize(
    ("members", "sensitivity"),
    [
        ({}, None),
        ({"readOnly": True}, "read"),
        ({"readOnly": False}, "write"),
        ({"readOnlyHint": True}, "read"),
        ({"mode": "READ"}, "read"),
        ({"mode": "proposal"}, None),
        ({"annotations": {"readOnlyHint": True}}, "read"),
        (
            {"annotations": {"readOnlyHint": False, "destructiveHint": True}},
            "destructive",
        ),
        ({"annotations": {"destructiveHint": False}}, None),
        ({"annotations": {"readOnlyHint": "yes"}}, None),
        ({"annotations": ["readOnlyHint"]}, None),
    ],
)
def test_hints_tell_what_a_tool_does_to_the_world(
    members: dict[str, Any], sensitivity: str | None
) -> None:
    assert _read(PLAIN | members)[0].sensitivity == sensitivity


@pytest.mark.parametrize(
    ("members", "auth", "confirmation", "deprecated"),
    [
        ({}, None, None, False),
        ({"authentication": {"required": True}}, True, None, False),
        ({"auth": "none"}, False, None, False),
        ({"requiresAuth": True}, True, None, False),
        ({"requires_user_confirm": True}, None, True, False),
        ({"deprecated": True}, None, None, True),
        ({"deprecated": "soon"}, None, None, False),
    ],
)
def test_what_stands_before_a_call_is_read(
    members: dict[str, Any],
    auth: bool | None,
    confirmation: bool | None,
    deprecated: bool,
) -> None:
    action, _ = _read(PLAIN | members)
    result = (action.auth_required, action.confirmation, action.deprecated)
    assert result == (auth, confirmation, deprecated)


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        (PLAIN, "Finds huts"),
        ({"name": "find", "summary": "Finds huts"}, "Finds huts"),
        ({"name": "find", "parsed_description": {"main": "Finds huts"}}, "Finds huts"),
        ({"name": "find", "title": "Find huts"}, "Find huts"),
        ({"name": "find"}, ""),
        ("find", ""),
    ],
)
def test_a_tool_is_described_where_it_says_anything(
    tool: Any, description: str
) -> None:
    assert _read(tool)[0].description == description


def test_prose_in_a_map_is_the_description() -> None:
    declared = Reader(
        {"find": "Finds huts"}, "", DeviationLog(url="https://site.example/")
    )
    ((name, tool),) = declared_tools(declared)
    assert read_tool(name, tool, ()).description == "Finds huts"


def test_tools_in_groups_are_no_more_than_tools_in_a_list() -> None:
    log = DeviationLog(url="https://site.example/")
    group = [f"tool_{number}" for number in range(MAX_ACTIONS)]
    declared = Reader({"read": group, "write": group}, "/tools", log)
    assert len(list(declared_tools(declared))) == MAX_ACTIONS
    assert ("/tools", "limit") in {(d.pointer, d.rule) for d in log.deviations}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([PLAIN], True),
        (["find"], True),
        ([{"function": PLAIN}], True),
        ({"find": {}}, True),
        ({"read": [PLAIN]}, True),
        ([], False),
        ({}, False),
        ([7, None, {"label": "x"}, [PLAIN]], False),
        ({"listChanged": True}, False),
        ({"find": {}, "count": 7}, False),
        ("find", False),
        (None, False),
    ],
)
def test_a_list_of_tools_is_told_by_names(value: Any, expected: bool) -> None:
    assert lists_tools(value) is expected
