"""What `pip install fair-registry` brings: the client, `lint` and the auditor's commands.

Simulated by a path that has only the packages locked in requirements/client.txt; `.ci/run`
installs the wheel itself.
"""

import json
import os
import re
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from registry.auditor import COMMANDS as AUDITING

ROOT = Path(__file__).parents[2]
LOCKED = re.findall(
    r"^([a-z0-9-]+)==", (ROOT / "requirements" / "client.txt").read_text(), re.MULTILINE
)
MOST_PACKAGES = 15
LIGHT = (
    "jwks",
    "keygen",
    "lint",
    "operator",
    "recover",
    "register",
    "revoke",
    "rotate",
    "search",
    "sign",
    "update",
    "withdraw",
)
WHOLE = ("serve", "demo", "crawl", "bench", "db", "doctor", "publish", "report")
NEEDING_MORE = "needs more than the client: pip install 'fair-registry[server]'"
RECOMPUTING = ("exposure", "profile", "reproduce", "reproduce-report", "trials")


@pytest.fixture(scope="module")
def light_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site-packages")
    for name in LOCKED:
        installed = distribution(name)
        tops = {Path(str(row)).parts[0] for row in installed.files or ()}
        for top in tops - {"..", "__pycache__"}:
            (folder / top).symlink_to(Path(str(installed.locate_file(top))).resolve())
    return folder


def run(
    light_path: Path, *arguments: str, code: str = ""
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PYTHONPATH": os.pathsep.join([str(light_path), str(ROOT)]),
        "PATH": os.environ["PATH"],
        "HOME": str(light_path),
    }
    program = ["-c", code] if code else ["-m", "registry"]
    return subprocess.run(
        [sys.executable, "-S", *program, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def test_few_packages_are_locked() -> None:
    assert len(LOCKED) + 1 <= MOST_PACKAGES
    assert {"litestar", "sqlalchemy", "numpy", "granian", "mcp"}.isdisjoint(LOCKED)


def test_the_client_is_there_and_no_package_of_the_server(light_path: Path) -> None:
    code = (
        "import sys, registry.client\n"
        "print(registry.client.Client, sorted(n for n in sys.modules if n.split('.')[0] in"
        " ('litestar', 'sqlalchemy', 'numpy', 'rich', 'asyncpg')))"
    )
    done = run(light_path, code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith(" []\n")


def invoke(light_path: Path, *calls: list[str]) -> list[tuple[int, str]]:
    """Exit code and output of each call, all in one process; starting takes the time."""
    code = (
        "import json, sys\n"
        "from click.testing import CliRunner\n"
        "from registry.cli import main\n"
        "calls = json.loads(sys.argv[1])\n"
        "ended = [CliRunner().invoke(main, call) for call in calls]\n"
        "print(json.dumps([(result.exit_code, result.output) for result in ended]))"
    )
    done = run(light_path, json.dumps(calls), code=code)
    assert done.returncode == 0, done.stderr
    return [(status, output) for status, output in json.loads(done.stdout)]


def test_light_commands_explain_themselves(light_path: Path) -> None:
    commands = [*LIGHT, *AUDITING]
    groups = [["audit"] if command in AUDITING else [] for command in commands]
    calls = [
        [*group, command, "--help"]
        for group, command in zip(groups, commands, strict=True)
    ]
    explained = dict(zip(commands, invoke(light_path, *calls), strict=True))
    assert {name: code for name, (code, _) in explained.items() if code} == {}
    words = {name: " ".join(output.split()) for name, (_, output) in explained.items()}
    needing_more = {name for name, text in words.items() if NEEDING_MORE in text}
    assert needing_more == set(RECOMPUTING)


def test_other_commands_say_what_to_install(light_path: Path) -> None:
    ended = invoke(light_path, *([command, "--any", "option"] for command in WHOLE))
    assert [(code, output.strip()) for code, output in ended] == [
        (1, f"Error: `{command}` {NEEDING_MORE}") for command in WHOLE
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("--strict", "wab.json"), 0, "strict  "),
        (("--strict", "--json", "abp.json"), 0, '"conformance": "strict"'),
        (("README.md",), 1, "refused  "),
    ],
)
def test_lint_reads_documents_without_the_server(
    light_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    *options, name = arguments
    file = ROOT / "docs" / "examples" / name
    done = run(light_path, "lint", *options, str(file))
    assert (done.returncode, done.stderr.count("Traceback")) == (code, 0)
    assert words in done.stdout
    assert "[green]" not in done.stdout


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[red]x[/]", "x"),
        (r"\[red]x", "[red]x"),
        ("[1] [a.b] [/x]", "[1] [a.b] [/x]"),
        ("\x1b[31mred", "\ufffd[31mred"),
    ],
)
def test_plain_output_has_no_tags_and_steers_no_terminal(
    light_path: Path, text: str, shown: str
) -> None:
    code = (
        "import sys; from registry.terminal.styled import Console, escape\n"
        "Console().print(sys.argv[1]); Console().print(escape(sys.argv[1]))"
    )
    done = run(light_path, text, code=code)
    plain, escaped = done.stdout.splitlines()
    assert plain == shown
    assert escaped == text.replace("\x1b", "\ufffd")
