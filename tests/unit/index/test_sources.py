"""The code digest moves with every constant that can move a score."""

import ast
from dataclasses import fields, replace
from pathlib import Path

import pytest

import crawler
import registry
from registry.index.sources import (
    NOT_COVERED,
    PACKAGES,
    digest_of_code,
    digest_sources,
)
from registry.ranking.policy import DEFAULT_POLICY

ROOT = Path(registry.__file__).parent.parent
BEFORE = digest_of_code()


def sources():
    """Files of Python with a constant outside the policy."""
    for name in PACKAGES:
        for path in sorted((ROOT / name).rglob("*.py")):
            inside = str(path.relative_to(ROOT))
            if not any(inside.startswith(f"{folder}/") for folder in NOT_COVERED):
                yield path


def constants_of(path):
    """Assignments of a number, a text or an expression to a name in capitals."""
    for node in ast.parse(path.read_text()).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id.strip("_").isupper():
                yield target.id, node.value


class Changed:
    """A folder of sources in which one file has other bytes."""

    def __init__(self, path, changed, content):
        self.path, self.changed, self.content = path, changed, content
        self.name = path.name

    def is_dir(self):
        return self.path.is_dir()

    def iterdir(self):
        return [
            Changed(entry, self.changed, self.content) for entry in self.path.iterdir()
        ]

    def read_bytes(self):
        return self.content if self.path == self.changed else self.path.read_bytes()


def digest_with(changed, content):
    return digest_sources(
        [(name, Changed(ROOT / name, changed, content)) for name in PACKAGES]
    )


def test_an_unchanged_tree_has_the_digest_of_the_code():
    assert Path(crawler.__file__).parent.parent == ROOT
    assert digest_with(None, b"") == BEFORE


@pytest.mark.parametrize(
    ("file", "constant"),
    [
        ("registry/ranking/quality.py", "QUALITY_WINDOW"),
        ("registry/sites/place.py", "CELL_LENGTH"),
        ("registry/sites/place.py", "EARTH_RADIUS_KM"),
        ("registry/ranking/proximity.py", "_RADIUS_UNITS"),
        ("registry/ranking/quality.py", "NOT_COUNTED"),
        ("registry/ranking/quality.py", "ANSWERED"),
    ],
)
def test_the_constant_stands_where_it_is_covered(file, constant):
    path = ROOT / file
    values = dict(constants_of(path))
    assert constant in values
    text = path.read_text()
    start = text.index(f"{constant} = ") + len(f"{constant} = ")
    changed = text[:start] + "0 or " + text[start:]
    assert digest_with(path, changed.encode()) != BEFORE


def test_each_source_with_a_constant_moves_the_digest():
    """One file after the other: whichever holds a constant, its bytes are covered."""
    with_constants = [path for path in sources() if any(constants_of(path))]
    assert len(with_constants) > 100
    covered = {
        ROOT / file for name in PACKAGES for file in _covered_files(ROOT / name, name)
    }
    assert set(with_constants) <= covered


def _covered_files(folder, path):
    seen = []

    class Listing(Changed):
        def iterdir(self):
            return [Listing(entry, None, b"") for entry in self.path.iterdir()]

        def read_bytes(self):
            seen.append(str(self.path.relative_to(ROOT)))
            return b""

    digest_sources([(path, Listing(folder, None, b""))])
    return seen


@pytest.mark.parametrize(
    "file",
    [
        "registry/formats/semantic.py",
        "registry/sites/geonames/cities.tsv.gz",
        "registry/ranking/encoders/projection.npy",
        "registry/usecases/search/answer_search.py",
        "registry/interfaces/rest/search/search.py",
        "crawler/probes/outcome.py",
    ],
)
def test_modules_and_tables_beside_the_formulas_are_covered(file):
    path = ROOT / file
    if not path.exists():
        pytest.fail(f"{file} has another name now: name it here")
    assert digest_with(path, path.read_bytes() + b"\n") != BEFORE


def test_a_constant_of_the_policy_moves_its_digest():
    for field in fields(DEFAULT_POLICY):
        value = getattr(DEFAULT_POLICY, field.name)
        other = value + 1 if isinstance(value, int) else value + type(value)("x")
        changed = replace(DEFAULT_POLICY, **{field.name: other})
        assert changed.digest != DEFAULT_POLICY.digest, field.name
