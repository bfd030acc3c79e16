"""Documentation agrees with the code."""

import json
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.errors import ProblemType
from registry.interfaces.web.catalogue import PROBLEM_TYPES

LINK = re.compile(r"\]\(([^)#]+)")
_PAGE = r"\[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\)"
STATUS = re.compile(rf"accepted|(superseded|amended) by {_PAGE}(, {_PAGE})*")
PATH = re.compile(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`")
REFUSALS = re.compile(r"^from ([\w.]+) import (?:\w+, )*refusals$", re.MULTILINE)
NAMED_REFUSAL = re.compile(r"\brefusals\.([A-Z][A-Z0-9_]+)\b")
README_LINES = 130
SITE = "https://shop.example"
BLOCK = re.compile(r"^```(?:bash|sh|console)\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\.venv/bin/)?fair-registry (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def checked(root: Path) -> subprocess.CompletedProcess[str]:
    """The generator's comparison, in one process: it imports every module."""
    return subprocess.run(
        [sys.executable, root / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def problem_types(
    checked: subprocess.CompletedProcess[str],
) -> list[tuple[str, ProblemType]]:
    """Constants of registry and crawler, with the names where they are declared."""
    return [(name, ProblemType(**kind)) for name, kind in json.loads(checked.stdout)]


@pytest.fixture(scope="module")
def pages(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *root.glob("docs/**/*.md"), *root.glob("deploy/*.md")]


@pytest.fixture(scope="module")
def commands(pages: list[Path]) -> list[str]:
    """Calls of `fair-registry` in the fenced blocks of all pages."""
    return [
        command
        for page in pages
        for block in BLOCK.findall(page.read_text())
        for command in COMMAND.findall(block.replace("\\\n", " "))
    ]


def test_settings_and_problems_are_documented_as_the_code_has_them(
    checked: subprocess.CompletedProcess[str],
) -> None:
    assert checked.returncode == 0, checked.stderr


def test_each_decision_is_listed_with_its_status(root: Path) -> None:
    index = (root / "docs" / "decisions" / "README.md").read_text()
    listed = re.findall(
        r"^\| \[\d{4}\]\((.+?)\) \| .+ \| (.+) \|$", index, re.MULTILINE
    )

    assert listed == [
        (page.name, re.sub(r"\[(\d{4})\]\([^)]*\)", r"\1", status_of(page)))
        for page in decisions(root)
    ]


def test_each_lab_note_is_listed(root: Path) -> None:
    folder = root / "docs" / "lab"
    listed = re.findall(
        r"\((\d{4}-[a-z0-9-]+\.md)\)", (folder / "README.md").read_text()
    )

    assert sorted(listed) == sorted(page.name for page in folder.glob("[0-9]*.md"))


def test_each_decision_has_its_parts(root: Path) -> None:
    parts = ("Status", "Context", "Decision", "Consequences", "Alternatives", "Kept by")
    for page in decisions(root):
        text = page.read_text()

        assert text.startswith(f"# {page.name[:4]} "), page
        assert [part for part in parts if f"**{part}.**" not in text] == [], page


def test_each_decision_is_accepted_or_names_the_later_one(root: Path) -> None:
    for page in decisions(root):
        status = status_of(page)
        named = re.findall(r"\[(\d{4})\]\((\d{4})-[a-z0-9-]+\.md\)", status)

        assert STATUS.fullmatch(status), f"{page.name}: {status}"
        for number, file in named:  # that the file is there, the test of links says
            assert number == file, page
            assert number > page.name[:4], page


def decisions(root: Path) -> list[Path]:
    return sorted((root / "docs" / "decisions").glob("[0-9]*.md"))


def status_of(page: Path) -> str:
    """Return the status line of a decision, "" where it has none."""
    match = re.search(r"^\*\*Status\.\*\* (.+)$", page.read_text(), re.MULTILINE)
    return match[1] if match else ""


def test_no_link_between_pages_is_dead(pages: list[Path]) -> None:
    dead = [
        f"{page.name}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert dead == []


@pytest.mark.parametrize("page", ["docs/architecture.md"])
def test_the_paths_that_a_page_names_exist(root: Path, page: str) -> None:
    named = set(PATH.findall((root / page).read_text()))
    homes = (root, root / "registry")

    assert len(named) > 5
    assert {
        path
        for path in named
        if not any(
            (home / f"{path}{end}").exists() for home in homes for end in ("", ".py")
        )
    } == set()


def test_each_code_of_a_problem_is_declared_once(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    declared = defaultdict(set)
    for name, kind in problem_types:
        declared[kind.code].add(name)

    assert {code: names for code, names in declared.items() if len(names) > 1} == {}


def test_each_problem_says_what_is_wrong_and_what_to_do(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    for name, kind in problem_types:
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", kind.code), name
        assert kind.title.strip() == kind.title != "", name
        assert kind.fix.strip() == kind.fix != "", name


def test_each_problem_that_code_names_is_in_its_table(sources: dict[Path, str]) -> None:
    """`refusals.NAME` is looked up when it is raised: a name that is not there comes late."""
    for path, source in sources.items():
        imported = REFUSALS.search(source)
        if imported:
            table = import_module(f"{imported[1]}.refusals")
            named = set(NAMED_REFUSAL.findall(source))
            assert [name for name in named if not hasattr(table, name)] == [], path


def test_each_problem_is_met_somewhere(
    problem_types: list[tuple[str, ProblemType]], sources: dict[Path, str]
) -> None:
    names = set(re.findall(r"\w+", " ".join(sources.values())))

    assert {full.rpartition(".")[2] for full, _ in problem_types} <= names


def test_each_problem_has_a_page_that_says_the_same(
    problem_types: list[tuple[str, ProblemType]],
) -> None:
    assert dict(PROBLEM_TYPES) == {kind.code: kind for _, kind in problem_types}


def test_the_commands_in_the_pages_exist(commands: list[str]) -> None:
    assert len(commands) > 5
    for command in commands:
        verify_command(main, shlex.split(command, comments=True))


def test_the_readme_is_short_and_starts_with_the_two_commands(root: Path) -> None:
    text = (root / "README.md").read_text()
    first = BLOCK.findall(text)[0]

    assert text.count("\n") <= README_LINES
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]


@pytest.mark.parametrize("name", ["wab", "awp", "awas", "abp", "webmcp"])
def test_the_example_of_each_format_is_strict(root: Path, name: str) -> None:
    (page,) = (root / "docs" / "examples").glob(f"{name}.*")
    linted = CliRunner().invoke(
        main, ["lint", str(page), "--strict", "--json", "--url", f"{SITE}/{page.name}"]
    )

    assert linted.exit_code == 0, linted.output
    report = json.loads(linted.output)
    assert (report["format"], report["conformance"]) == (name, "strict")


def verify_command(command: click.Command, words: list[str]) -> None:
    """Assert that each subcommand and each option of the words is known."""
    context = click.Context(command)
    if isinstance(command, click.Group) and words and not words[0].startswith("-"):
        following = command.get_command(context, words[0])
        assert following is not None, f"no command {words[0]!r}"
        verify_command(following, words[1:])
        return
    parameters = command.get_params(context)
    known = {option for parameter in parameters for option in parameter.opts}
    known |= {option for parameter in parameters for option in parameter.secondary_opts}
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert given <= known, f"{command.name} has no {given - known}"
