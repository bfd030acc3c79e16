"""What auditors and agents do, at a registry that runs."""

import asyncio
import json
from pathlib import Path
from typing import Any

from registry.client import RegistryClient
from tests.api.running import LISTED, RunningRegistry
from tests.cli.audited import run, run_json

FIRST_OF_EACH_FORMAT = (LISTED[0], LISTED[2], LISTED[4], LISTED[5], LISTED[7])


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
    ids = [answer["ranking"]["id"] for answer in answers]
    result = [registry.published(item) for item in ids]

    code, output = run_json("verify", registry.origin, "--state", state)
    assert (code, output["verified"]) == (0, True), output
    assert output["records"]["ranking"] >= 2

    code, messages = run_json("prove", ids[0], registry.origin)
    assert (code, messages["index"]) == (0, result[0]["leafIndex"])
    assert messages["leafHash"] == answers[0]["ranking"]["leafHash"]

    code, content = run_json("reproduce", ids[0], registry.origin, "--state", state)
    [ranking] = content["rankings"]
    assert (code, ranking["differences"]) == (3, [])  # the ties are not revealed yet
    parts = ["sites", "totals", "order", "quality", "proximity", "day"]
    assert ranking["checked"][:6] == parts
    # Other tests on the same registry may have listed further sites.
    sites = registry.http.get("/v1/sites", params={"limit": 100}).json()
    listed = len(sites["results"])
    rebuilt = f"profiles of {listed} sites, {listed} of them drawn"
    assert ranking["checked"][6].startswith(rebuilt)
    assert ranking["checked"][7:10] == ["words", "factors", "publishers"]
    assert [text[:5] for text in ranking["notChecked"]][:1] == ["ties:"]

    for host, expected in ((None, []), ("evil.test", ["was received as evil.test"])):
        [best, *_] = answers[0]["results"]
        best["site"]["host"] = host or best["site"]["host"]
        file = tmp_path / "answer.json"
        file.write_text(json.dumps(answers[0]))
        received = ("reproduce", "--answer", file, "--registry", registry.origin)
        code, content = run_json(*received, "--state", state)
        differences = content["rankings"][0]["differences"]
        assert [word for word in expected if word not in differences[0]] == []
        assert (code, len(differences)) == (1 if host else 3, len(expected))

    lines = tmp_path / "held.jsonl"
    lines.write_text("".join(json.dumps(item) + "\n" for item in result))
    held = ("reproduce", "--disclosures", lines, registry.origin, "--state", state)
    code, checked = run_json(*held)
    assert (code, checked["checked"], checked["mismatches"]) == (3, 2, 0)

    code, checked = run_json("promises", promises, registry.origin)
    assert [promise["outcome"] for promise in checked["promises"]] == ["kept"] * 3, (
        checked
    )
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


def test_a_profile_is_made_again_from_what_the_registry_tells(
    registry: RunningRegistry,
) -> None:
    for host in FIRST_OF_EACH_FORMAT:
        code, output = run_json("profile", host, "--registry", registry.origin)
        assert (code, output["same"], output["differences"]) == (0, True, []), output
        [places] = output["places"]
        assert bool(places["place"]["since"]) == bool(places["place"]["geonamesId"])
        assert places["placeMove"] is None
