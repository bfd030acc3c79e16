"""The table of commands: each is there, and imports no more than it needs."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from registry.cli import main

IMPORTS = """
import sys
from registry.cli import main
main({call}, standalone_mode=False)
print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


def walk(group: click.Group, *path: str) -> Iterator[tuple[tuple[str, ...], object]]:
    """Each command by its path, and what is found there."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from walk(command, *path, name)


def test_each_name_of_the_tables_is_a_command_of_that_name() -> None:
    result = dict(walk(main))
    assert {("serve",), ("audit", "verify"), ("bench", "log")} <= result.keys()
    for path, command in result.items():
        assert isinstance(command, click.Command), path
        assert command.name == path[-1]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(["keygen", "--out", "{file}/key.pem"], id="keygen"),
        pytest.param(["serve", "--data", "{file}/data", "--port", "18095"], id="serve"),
        pytest.param(["demo", "--data", "{file}/data"], id="demo"),
    ],
)
def test_folder_that_can_not_be_is_reported_in_one_line(
    call: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.touch()
    run = CliRunner().invoke(main, [word.format(file=file) for word in call])
    assert run.exit_code == 1
    assert run.output.startswith("Error: ")
    assert str(file) in run.output
    assert run.output.count("\n") == 1


ASKING = """
register update rotate revoke recover withdraw search report publish
operator/register operator/rotate operator/close operator/show
audit/verify audit/prove audit/reproduce audit/monitor audit/promises audit/label
audit/counterfactual audit/report-signature audit/kept-report audit/reproduce-report
"""


@pytest.mark.parametrize("path", ASKING.split())
def test_address_of_the_registry_has_one_name_everywhere(path: str) -> None:
    command = dict(walk(main))[tuple(path.split("/"))]
    assert isinstance(command, click.Command)
    assert any("--registry" in parameter.opts for parameter in command.params)


@pytest.mark.parametrize("call", [["publish", "--to", "{folder}"], ["audit", "verify"]])
def test_registry_that_is_away_is_named_with_its_address(
    call: list[str], tmp_path: Path
) -> None:
    words = [word.format(folder=tmp_path) for word in call]
    run = CliRunner().invoke(main, [*words, "--registry", "http://127.0.0.1:9"])
    assert run.exit_code == 1
    assert "http://127.0.0.1:9/v1/log: ConnectionRefusedError" in run.output


@pytest.mark.parametrize(
    ("call", "unneeded"),
    [
        pytest.param(["sign", "--help"], {"litestar", "duckdb"}, id="sign"),
        pytest.param(
            ["audit", "prove", "--help"], {"litestar", "duckdb", "httpx"}, id="prove"
        ),
        pytest.param(
            ["audit", "verify", "--help"], {"litestar", "duckdb", "httpx"}, id="verify"
        ),
        pytest.param(
            ["audit", "reproduce", "--help"],
            {"litestar", "duckdb", "httpx"},
            id="reproduce",
        ),
    ],
)
def test_command_waits_for_no_framework_that_it_does_not_use(
    call: list[str], unneeded: set[str]
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", IMPORTS.format(call=call)],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(run.stderr.split())
    assert "click" in loaded
    assert not unneeded & loaded
