"""`operator`, and asking as one, from the command line to a running registry."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from registry.cli import main
from tests.api.running import RunningRegistry

ACCOUNT = ("--name", "Meridian", "--contact", "https://meridian.example/contact")


def run(registry: RunningRegistry, *words: str, **environment: str) -> Result:
    settings = {"FAIR_REGISTRY_URL": registry.origin, **environment}
    return CliRunner().invoke(main, [*words], env=settings)


def read(ran: Result) -> dict[str, object]:
    assert ran.exit_code == 0, ran.output
    output: dict[str, object] = json.loads(ran.output)
    return output


def make_key(folder: Path, name: str, alg: str = "Ed25519") -> str:
    key = folder / f"{name}.pem"
    words = ["keygen", "--alg", alg, "--out", str(key), "--jwks", f"{key}.json"]
    assert CliRunner().invoke(main, words).exit_code == 0
    return str(key)


@pytest.fixture
def key(tmp_path: Path) -> str:
    return make_key(tmp_path, "operator")


def test_operator_registers_asks_rotates_and_closes(
    registry: RunningRegistry, key: str, tmp_path: Path
) -> None:
    output = run(
        registry, "operator", "register", "--key", key, *ACCOUNT, "--api-key", "--json"
    )
    messages = read(output)
    operator_id, api_key = str(messages["id"]), str(messages["apiKey"])

    signed = run(registry, "search", "--key", key, "--json", "book a table")
    assert read(signed)["ranking"]["number"] == 1  # type: ignore[index]
    keyed = run(registry, "search", "book a table", FAIR_REGISTRY_API_KEY=api_key)
    assert keyed.exit_code == 0, keyed.output
    assert "ranking 2 of this operator" in keyed.output
    assert api_key not in keyed.output

    own = run(registry, "operator", "show", "--key", key)
    assert "Meridian" in own.output
    others = run(registry, "operator", "show", operator_id)
    assert "2 rankings" in others.output
    assert "Meridian" not in others.output

    report = run(registry, "report", "--key", key, "--json")
    assert read(report)["terms"]["operator"] == operator_id  # type: ignore[index]
    page = tmp_path / "ours.html"
    run(registry, "report", "--key", key, "--form", "html", "--out", str(page))
    assert operator_id in page.read_text()

    following = make_key(tmp_path, "next", "ES256")
    words = ("operator", "rotate", "--key", key, "--next-key", following, "--json")
    answer = read(until_taken(registry, *words))
    assert answer["id"] == operator_id
    closing = ("operator", "close", "--key", following, "--id", operator_id, "--yes")
    closed = until_taken(registry, *closing)
    assert "closed" in closed.output
    refused = run(registry, "operator", "register", "--key", key, *ACCOUNT)
    assert refused.exit_code == 1
    assert "operator_known" in refused.output


def until_taken(registry: RunningRegistry, *words: str) -> Result:
    """Statements tell whole seconds, and each has to be later than the one before."""
    while "operator_statement_replayed" in (ran := run(registry, *words)).output:
        pass
    return ran


def test_new_api_key_is_printed_once_and_alone_on_its_line(
    registry: RunningRegistry, key: str
) -> None:
    output = run(registry, "operator", "register", "--key", key, *ACCOUNT)
    assert output.exit_code == 0, output.output
    assert "frk_" not in output.output
    renewed = until_taken(registry, "operator", "rotate", "--key", key, "--api-key")
    assert renewed.output.splitlines()[-1].startswith("frk_")


def test_rotation_of_nothing_is_reported_at_once(
    registry: RunningRegistry, key: str
) -> None:
    ran = run(registry, "operator", "rotate", "--key", key)
    assert ran.exit_code == 2
    assert "--next-key" in ran.output


def test_file_that_is_no_key_is_told_so(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    no_key = tmp_path / "no-key.pem"
    no_key.write_text("precious")
    for words in (("operator", "close", "--yes"), ("search", "bread")):
        ran = run(registry, *words, "--key", str(no_key))
        assert ran.exit_code == 1
        assert "Traceback" not in ran.output
        assert "precious" not in ran.output


def test_wrong_api_key_is_reported_and_not_repeated(registry: RunningRegistry) -> None:
    wrong = "frk_" + "A" * 43
    ran = run(registry, "search", "bread", FAIR_REGISTRY_API_KEY=wrong)
    assert ran.exit_code == 1
    assert "operator_key_unknown" in ran.output
    assert wrong not in ran.output
