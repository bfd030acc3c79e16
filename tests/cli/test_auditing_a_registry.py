"""What auditors and agents do, at a registry that runs."""

import asyncio
import json
from pathlib import Path
from typing import Any

from registry.client import RegistryClient
from tests.api.running import LISTED, RunningRegistry
from tests.cli.audited import run, run_json


def ask(registry: RunningRegistry, promises: Path) -> list[dict[str, Any]]:
    """Two rankings and a selection, with their promises kept."""

    async def work() -> list[dict[str, Any]]:
        async with RegistryClient(registry.origin, promises=promises) as client:
            first = await client.search(q="book a table", city="Amman", country="JO")
            second = await client.search(q="translate a document")
            chosen = first["results"][0]["site"]["id"]
            await client.select(first["ranking"]["id"], chosen)
            return [first, second]

    return asyncio.run(work())


def test_everything_that_is_answered_can_be_audited(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    promises, state = tmp_path / "promises.jsonl", tmp_path / "state.json"
    answers = ask(registry, promises)
    ids = [one["ranking"]["id"] for one in answers]
    found = [registry.published(one) for one in ids]

    code, told = run_json("verify", registry.origin, "--state", state)
    assert (code, told["verified"]) == (0, True), told
    assert told["records"]["ranking"] >= 2

    code, told = run_json("prove", ids[0], registry.origin)
    assert (code, told["index"]) == (0, found[0]["leafIndex"])
    assert told["leafHash"] == answers[0]["ranking"]["leafHash"]

    options = ("--state", state, "--index", registry.settings.index)
    code, told = run_json("reproduce", ids[0], registry.origin, *options)
    [ranking] = told["rankings"]
    assert (code, ranking["differences"]) == (0, [])
    sites = len(answers[0]["results"])
    parts = ["sites", "totals", "order", "quality", "day"]
    assert ranking["checked"][:5] == parts
    indexed = f"factors of {sites} sites"
    moved_on = "factors: the index at hand is of another time"
    assert indexed in ranking["checked"] or moved_on in ranking["notChecked"]

    lines = tmp_path / "held.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in found))
    held = ("reproduce", "--disclosures", lines, registry.origin, "--state", state)
    code, told = run_json(*held)
    assert (code, told["checked"], told["mismatches"]) == (0, 2, 0)

    code, told = run_json("promises", promises, registry.origin)
    assert [one["outcome"] for one in told["promises"]] == ["kept"] * 3, told
    assert code == 0


def test_a_site_watches_what_is_said_of_it(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    state = tmp_path / "state.json"
    watch = ("monitor", registry.origin, "--host", LISTED[0], "--state", state)
    result = run(*watch)
    assert result.exit_code == 3, result.output
    assert "registration act register" in result.output
    assert run(*watch).exit_code == 0
