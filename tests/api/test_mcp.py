"""The face for clients of the Model Context Protocol, by the official SDK's client."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from mcp import Client

from tests.api.running import RunningRegistry

T = TypeVar("T")
Json = dict[str, Any]
MODES = ("legacy", "auto")


def with_client(
    registry: RunningRegistry,
    work: Callable[[Client], Awaitable[T]],
    mode: str = "auto",
) -> T:
    async def run() -> T:
        async with Client(f"{registry.origin}/mcp", mode=mode) as client:  # type: ignore[arg-type] # a name of a mode
            return await work(client)

    return asyncio.run(run())


@pytest.mark.parametrize("mode", MODES)
def test_the_order_is_that_of_the_search_and_on_record(
    registry: RunningRegistry, mode: str
) -> None:
    place = {"city": "Amman", "country": "JO", "nonce": "n"}
    rest = registry.search(q="book a table", **place)
    answer = with_client(
        registry,
        lambda client: client.call_tool("search_sites", {"q": "book a table", **place}),
        mode,
    )
    print(answer)
    assert not answer.is_error
    assert [row["site"] for row in answer.structured_content["results"]] == [
        row["site"]["host"] for row in rest["results"]
    ]
