"""What the tests of the project's own shape share: its files."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *(".ci", "crawler", "deploy", "docs", "migrations"),
    *("registry", "requirements", "tests"),
)
TOP = r"[A-Z].*|.*\.(toml|ini|md)|\.gitignore"


parse = cache(ast.parse)
"""A module's syntax tree, made once for all rules of a file."""


@cache
def walk(source: str) -> tuple[ast.AST, ...]:
    """Return all nodes of the module: a walk costs as much as the tree."""
    return tuple(ast.walk(parse(source)))


@pytest.fixture(scope="module", autouse=True)
def _forget_trees() -> Iterator[None]:
    """They are a million objects, through which each later collection would go."""
    yield
    walk.cache_clear()
    parse.cache_clear()


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """Every file that is part of the project, whether or not git knows it yet."""
    top = [
        path
        for path in ROOT.iterdir()
        if path.is_file() and re.fullmatch(TOP, path.name)
    ]
    below = [path for name in FOLDERS for path in (ROOT / name).rglob("*")]
    return [
        path
        for path in top + below
        if path.is_file() and "__pycache__" not in path.parts
    ]


@pytest.fixture(scope="session")
def sources(project_files: list[Path]) -> dict[Path, str]:
    """The Python files of the service, by their path in the project."""
    return {
        path.relative_to(ROOT): path.read_text(encoding="utf-8")
        for path in project_files
        if path.suffix == ".py"
        and path.relative_to(ROOT).parts[0] in {"registry", "crawler", "migrations"}
    }
