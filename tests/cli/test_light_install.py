"""What `pip install fair-registry` brings: the client, `lint` and the auditor's commands.

Simulated by a path that has only the packages locked in requirements/client.txt; `.ci/run`
installs the wheel itself.
"""

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


@pytest.mark.parametrize("command", [*LIGHT, *AUDITING])
def test_a_light_command_explains_itself(light_path: Path, command: str) -> None:
    group = ["audit"] if command in AUDITING else []
    done = run(light_path, *group, command, "--help")
    assert done.returncode == 0, done.stderr
    assert (NEEDING_MORE in " ".join(done.stdout.split())) == (command in RECOMPUTING)


@pytest.mark.parametrize("command", WHOLE)
def test_another_command_says_what_to_install(light_path: Path, command: str) -> None:
    done = run(light_path, command, "--any", "option")
    assert done.returncode == 1
    assert done.stderr.strip() == f"Error: `{command}` {NEEDING_MORE}"


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
