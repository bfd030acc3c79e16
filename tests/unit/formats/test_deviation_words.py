"""The words of deviations: each is used, and gets the facts that it names."""

import ast
import string
import tomllib
from pathlib import Path

import pytest

FORMATS = Path("registry/formats")
WORDS = tomllib.loads((FORMATS / "reading/deviations.toml").read_text())
SOURCES = [path.read_text() for path in FORMATS.rglob("*.py")]
CALLS = [
    node
    for source in SOURCES
    for node in ast.walk(ast.parse(source))
    if isinstance(node, ast.Call)
    and isinstance(node.func, ast.Attribute)
    and node.func.attr in {"deviate", "deviate_instead"}
]


def kind_of(call):
    """Return the first constant that is a row: a pointer may stand before it."""
    texts = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    return texts[-1] if texts else None


@pytest.mark.parametrize("kind", WORDS)
def test_each_row_is_used(kind):
    assert any(f'"{kind}"' in source for source in SOURCES)


def test_each_call_has_a_row_and_gives_its_facts():
    named = [call for call in CALLS if kind_of(call)]
    assert len(named) > 50
    for call in named:
        row = WORDS[kind_of(call)]
        text = row["detail"] + row.get("fix", "")
        facts = {name for _, name, _, _ in string.Formatter().parse(text) if name}
        given = {keyword.arg for keyword in call.keywords}
        assert given == facts, kind_of(call)
