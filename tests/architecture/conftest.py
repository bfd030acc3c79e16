"""What the tests of the project's own shape share: its files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = (
    *(".ci", "crawler", "deploy", "docs", "migrations"),
    *("registry", "requirements", "tests"),
)
TOP = r"[A-Z].*|.*\.(toml|ini|md)|\.gitignore"


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project_files() -> list[Path]:
    """Every file that is part of the project, whether or not git knows it yet."""
    top = [
        one for one in ROOT.iterdir() if one.is_file() and re.fullmatch(TOP, one.name)
    ]
    below = [one for name in FOLDERS for one in (ROOT / name).rglob("*")]
    return [
        one for one in top + below if one.is_file() and "__pycache__" not in one.parts
    ]


@pytest.fixture(scope="session")
def sources(project_files: list[Path]) -> dict[Path, str]:
    """The Python files of the service, by their path in the project."""
    return {
        one.relative_to(ROOT): one.read_text(encoding="utf-8")
        for one in project_files
        if one.suffix == ".py"
        and one.relative_to(ROOT).parts[0] in {"registry", "crawler", "migrations"}
    }
