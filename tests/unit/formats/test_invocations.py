"""How an agent is told to call an action."""

import msgspec
import pytest

from registry.formats.invocations import (
    MOST_LETTERS,
    MOST_PARAMETERS,
    invocations_of,
    shorten,
)
from registry.sites.action import Action, Call, Parameter

URL = "https://shop.example/api"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        pytest.param(
            (Call(format="awp", transport="http", method="post", target=URL),),
            {"by": "http", "method": "POST", "url": URL},
            id="an endpoint",
        ),
        pytest.param(
            (Call(format="wab", transport="http", method="api", target=URL),),
            {"by": "wab", "url": URL},
            id="a bridge's trigger is no method",
        ),
        pytest.param(
            (Call(format="mcp", transport="mcp", target=URL, operation="book-it"),),
            {"by": "mcp", "url": URL, "operation": "book-it"},
            id="a tool of another name",
        ),
        pytest.param(
            (Call(format="a2a", transport="http", target=URL, operation="book"),),
            {"by": "a2a", "url": URL},
            id="a skill of the same name",
        ),
        pytest.param(
            (
                Call(format="webmcp", transport="form", target=URL),
                Call(format="awp", transport="http", method="GET", target=URL),
            ),
            {"by": "http", "method": "GET", "url": URL},
            id="an endpoint before a form",
        ),
        pytest.param(
            (Call(format="wab", transport="js_global", target="window.AICommands"),),
            {"by": "script", "url": "window.AICommands"},
            id="a script's object",
        ),
        pytest.param(
            (Call(format="ard", transport="carrier-pigeon", target=URL),),
            {},
            id="an unknown way",
        ),
        pytest.param((), {}, id="no way"),
    ],
)
def test_of_several_ways_the_simplest_is_reported(
    calls: tuple[Call, ...], expected: dict[str, str]
) -> None:
    (invocation,) = invocations_of([Action(name="book", calls=calls)])
    assert msgspec.to_builtins(invocation) == {"action": "book", **expected}


def test_required_parameters_are_reported_and_the_others_counted() -> None:
    parameters = (
        Parameter(name="note", type="string", description="anything"),
        Parameter(name="guests", type="integer", required=True, description="how many"),
        Parameter(name="room", enum=("inside", "outside"), required=True),
    )
    (invocation,) = invocations_of([Action(name="book", parameters=parameters)])
    assert invocation.parameters == {
        "properties": {
            "guests": {"type": "integer"},
            "room": {"enum": ["inside", "outside"]},
        },
        "required": ["guests", "room"],
    }
    assert invocation.omitted == 1


def test_an_action_with_a_hundred_parameters_stays_brief() -> None:
    many = tuple(Parameter(name=f"p{n}", enum=("x" * 9,) * 99) for n in range(100))
    (invocation,) = invocations_of([Action(name="fill", parameters=many)])
    assert len(invocation.parameters["properties"]) == MOST_PARAMETERS
    assert invocation.omitted == 100 - MOST_PARAMETERS
    assert len(msgspec.json.encode(invocation)) < 300


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Book\n a\t table", "Book a table"),
        ("", ""),
        ("word " * 60, "word " * 22 + "word…"),
        ("x" * 500, "x" * (MOST_LETTERS - 1) + "…"),
    ],
)
def test_a_description_is_cut_between_words(text: str, expected: str) -> None:
    assert shorten(text) == expected
