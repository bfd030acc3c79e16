"""The transcript of docs/mcp.md: a script in the place of a model, that read the tools only."""

import asyncio
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from tests.api.running import RunningRegistry

if TYPE_CHECKING:
    from mcp import Client

PAGE = Path(__file__).parents[2] / "docs" / "mcp.md"
WISH = "Book a table for two tonight. I am in Amman."
Json = dict[str, Any]


class ScriptedModel:
    """What a model does that has the tools' descriptions and nothing else.

    It chooses a tool by the words of its description, and gives what its schema asks for.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client
        self.lines = [f"user      {WISH}"]

    async def run(self) -> list[str]:
        tools = (await self._client.list_tools()).tools
        answer = await self._call(
            tools,
            "Find sites that can do what is asked",
            {"q": "book a table for two tonight", "city": "Amman"},
        )
        first, second, *_ = answer["results"]
        how = first["actions"][0]
        self._registry(
            f"ranking {short(answer['ranking']['id'])}; {summary_of(first)};"
        )
        self._registry(
            f"{how['call']} by {how['by']} at {how['url']}; {summary_of(second)} …"
        )
        self.lines.append("model     asks for what the call needs, and calls the site")
        selection = {
            "rankingId": answer["ranking"]["id"],
            "siteId": first["site"],
            "outcome": "succeeded",
        }
        promised = await self._call(tools, "which site", selection)
        self._registry(", ".join(promised))
        return self.lines

    async def _call(self, tools: list[Any], words: str, given: Json) -> Json:
        [tool] = [tool for tool in tools if words in tool.description]
        Draft202012Validator(tool.input_schema).validate(given)
        shown = json.dumps(
            {name: short(value) for name, value in given.items()}, ensure_ascii=False
        )
        self.lines.append(f"model     {tool.name} {shown}")
        result = await self._client.call_tool(tool.name, given)
        assert not result.is_error, result
        answer: Json = result.structured_content
        return answer

    def _registry(self, line: str) -> None:
        self.lines.append(f"registry  {line}")


def summary_of(result: Json) -> str:
    points = ", ".join(map(str, result["contributions"]))
    why = result.get("why", "")
    return f"{result['site']}, {result['score']} points ({points}), {why}"


def short(text: str) -> str:
    return f"{text[:8]}…" if re.fullmatch(r"[0-9A-Z]{26}\..+", text) else text


def without_figures(lines: list[str]) -> list[str]:
    """Scores and ids are of one run."""
    return [
        re.sub(r"\d+(\.\d+)?", "0", re.sub(r"\b01[0-9A-Z]{6}…", "ID…", line))
        for line in lines
    ]


def test_a_scripted_run_is_as_the_page_shows_it(registry: RunningRegistry) -> None:
    from mcp import Client  # noqa: PLC0415 — 1.7 s of CPU, which each worker would pay

    async def run() -> list[str]:
        async with Client(f"{registry.origin}/mcp") as client:
            return await ScriptedModel(client).run()

    lines = asyncio.run(run())
    shown = re.search(
        r"^```\n(user .*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    assert shown
    assert without_figures(shown[1].splitlines()) == without_figures(lines), lines
    calls = [line.split()[1] for line in lines if re.match("model +[a-z_]+ {", line)]
    assert calls == ["search_sites", "report_selection"]
