"""The documentation says what the code does, or a test fails."""

import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import click
import pytest

from registry.cli import main
from registry.errors import ProblemType
from registry.interfaces.web.catalogue import PROBLEM_TYPES

LINK = re.compile(r"\]\(([^)#]+)")
BLOCK = re.compile(r"^```(?:bash|sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\.venv/bin/)?fair-registry (.+)$", re.MULTILINE)


def run_generator(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, root / "docs" / "generate.py", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def problem_types(root: Path) -> list[tuple[str, ProblemType]]:
    """Each constant of registry and crawler where it is declared."""
    listed = run_generator(root, "--list")
    assert listed.returncode == 0, listed.stderr
    return [(place, ProblemType(**kind)) for place, kind in json.loads(listed.stdout)]


@pytest.fixture(scope="module")
def pages(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("deploy/*.md")]


@pytest.fixture(scope="module")
def commands(pages: list[Path]) -> list[str]:
    """Every call of `fair-registry` in a fenced block of any page."""
    return [
        command
        for page in pages
        for block in BLOCK.findall(page.read_text())
        for command in COMMAND.findall(block.replace("\\\n", " "))
    ]


def test_settings_and_problems_are_documented_as_the_code_has_them(root: Path) -> None:
    checked = run_generator(root, "--check")

    assert checked.returncode == 0, checked.stderr


def test_each_decision_is_listed(root: Path) -> None:
    folder = root / "docs" / "decisions"
    listed = re.findall(
        r"\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "README.md").read_text()
    )

    assert listed == sorted(one.name for one in folder.glob("[0-9]*.md"))


def test_each_decision_has_its_parts(root: Path) -> None:
    parts = ("Context", "Decision", "Consequences", "Alternatives", "Kept by")
    for page in (root / "docs" / "decisions").glob("[0-9]*.md"):
        text = page.read_text()

        assert text.startswith(f"# {page.name[:4]} "), page
        assert [part for part in parts if f"**{part}.**" not in text] == [], page


def test_no_link_between_pages_is_dead(pages: list[Path]) -> None:
    dead = [
        f"{page.name}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert dead == []


def test_each_code_of_a_problem_is_declared_once(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    declared = defaultdict(set)
    for place, kind in problem_types:
        declared[kind.code].add(place)

    assert {code: places for code, places in declared.items() if len(places) > 1} == {}


def test_each_problem_says_what_is_wrong_and_what_to_do(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    for place, kind in problem_types:
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", kind.code), place
        assert kind.title.strip() == kind.title != "", place
        assert kind.fix.strip() == kind.fix != "", place


def test_each_problem_has_a_page_that_says_the_same(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    assert dict(PROBLEM_TYPES) == {kind.code: kind for _, kind in problem_types}


def test_the_commands_in_the_pages_exist(commands: list[str]) -> None:
    assert len(commands) > 5
    for command in commands:
        verify_command(main, shlex.split(command, comments=True))


def test_the_readme_starts_with_the_two_commands(root: Path) -> None:
    first = BLOCK.findall((root / "README.md").read_text())[0]

    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]


def verify_command(command: click.Command, words: list[str]) -> None:
    """Each subcommand and each option of the words must be known."""
    context = click.Context(command)
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        following = command.get_command(context, words[0])
        assert following is not None, f"no command {words[0]!r}"
        verify_command(following, words[1:])
        return
    known = {option for one in command.get_params(context) for option in one.opts}
    known |= {option for one in command.params for option in one.secondary_opts}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert given <= known, f"{command.name} has no {given - known}"
