"""`report --month` and `--keep`, and `audit counterfactual`, against a running registry."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from registry.cli import main
from registry.identity.keys.private_keys import private_key_pem
from tests.api.running import AUDITOR, LISTED, RunningRegistry
from tests.waiting import awaited

MONTH = "2026-06"


def run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(main, arguments, env=environment)


def keep(registry: RunningRegistry, month: str) -> Result:
    settings = registry.settings
    return run(
        *("report", "--month", month, "--keep", "--data", str(settings.data), "--json"),
        FAIR_REGISTRY_DATABASE_URL=settings.database_url,
        FAIR_REGISTRY_PUBLIC_URL=settings.origin,
    )


def test_a_month_is_kept_by_hand_once(registry: RunningRegistry) -> None:
    first, second = keep(registry, MONTH), keep(registry, MONTH)
    assert json.loads(first.stdout) == {"month": MONTH, "isNew": True}
    assert json.loads(second.stdout) == {"month": MONTH, "isNew": False}
    assert registry.http.get(f"/v1/reports/{MONTH}").status_code == 200


def test_a_file_is_told_to_be_the_one_that_was_kept(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    keep(registry, "2026-05")
    until_published(registry, "2026-05")
    file = tmp_path / "report.csv"
    response = registry.http.get("/v1/reports/2026-05", params={"form": "csv"})
    file.write_bytes(response.content)
    check = ("audit", "kept-report", str(file))
    output = run(*check, "2026-05", registry.origin, "--json")
    assert output.exit_code == 0, output.output
    assert json.loads(output.stdout)["form"] == "csv"
    file.write_bytes(response.content + b" ")
    other = run(*check, "2026-05", registry.origin)
    assert other.exit_code == 1
    assert "is not what entry" in other.stdout
    missing = run(*check, "2026-04", registry.origin)
    assert missing.exit_code == 1
    assert "no report of 2026-04" in missing.stderr


def until_published(registry: RunningRegistry, month: str) -> None:
    path = f"/v1/reports/{month}"
    awaited(path, lambda: "X-Leaf-Index" in registry.http.get(path).headers)


def test_a_month_is_a_window(registry: RunningRegistry) -> None:
    query = ("report", "--registry", registry.origin, "--month", MONTH, "--json")
    window = json.loads(run(*query).stdout)["terms"]["window"]
    assert window == {
        "startAt": "2026-06-01T00:00:00Z",
        "endAt": "2026-07-01T00:00:00Z",
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(("--keep",), "whole month", id="keep what"),
        pytest.param(("--month", "2026-6"), "not spelled", id="no month"),
        pytest.param(
            ("--month", MONTH, "--to", "2026-07-01T00:00:00Z"),
            "a window already",
            id="two windows",
        ),
    ],
)
def test_options_that_do_not_go_together_are_reported(
    arguments: tuple[str, ...], expected: str
) -> None:
    done = run("report", *arguments)
    assert done.exit_code == 2
    assert expected in done.stderr


def test_a_month_that_is_not_over_is_not_kept(registry: RunningRegistry) -> None:
    done = keep(registry, "2999-01")
    assert done.exit_code == 1
    assert "month_not_over" in done.stderr


@pytest.fixture
def key(tmp_path: Path) -> str:
    file = tmp_path / "auditor.pem"
    file.write_bytes(private_key_pem(AUDITOR.private))
    return str(file)


def test_an_auditor_asks_what_would_be(registry: RunningRegistry, key: str) -> None:
    query = (
        *("audit", "counterfactual", registry.origin, "--key", key),
        *("--name", AUDITOR.name, "--site", LISTED[0], "--perturbation", "tier"),
        *("--query", "book a table for two", "--filter", "category=restaurant"),
    )
    output = json.loads(run(*query, "--json").stdout)
    assert output["held"] is True
    assert len(output["changed"]) == 1
    shown = run(*query)
    assert shown.exit_code == 0
    assert "held" in shown.stdout
    assert f"{output['changed'][0]} *" in shown.stdout


def test_an_auditor_names_a_ranking_or_a_query(key: str) -> None:
    done = run(
        *("audit", "counterfactual", "http://127.0.0.1:9", "--key", key),
        *("--name", AUDITOR.name, "--perturbation", "tier"),
    )
    assert done.exit_code == 2
    assert "--ranking or --query" in done.stderr
