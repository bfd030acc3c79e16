"""Code serves the service or a bench: what a test alone would miss stands with the test."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.conftest import parse

WORD = re.compile(r"[A-Za-z_]\w*")
# Templates and settings name what is Python's.
ALSO_READ = {".html", ".toml"}
# A library looks for these by name.
SOUGHT = frozenset(
    (
        *("on_message_begin", "on_status", "on_header"),
        *("on_headers_complete", "on_body", "on_message_complete"),  # httptools
        *("cache_ok", "impl", "get_col_spec"),
        *("process_bind_param", "process_result_value"),  # sqlalchemy
        *("scopes", "exclude_opt_key"),  # litestar
        *("_fields_", "requires_request_body", "auth_flow"),  # ctypes, httpx
        *("connection_made", "connection_lost"),
        *("data_received", "datagram_received"),  # asyncio
        *("revision", "down_revision", "branch_labels", "depends_on"),  # alembic
        *("upgrade", "downgrade"),
    )
)
Scope = ast.Module | ast.ClassDef
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def definitions(scope: Scope) -> Iterator[str]:
    """Return names of a module and its classes but of fields, and of what is handed over.

    A decorator that is called, such as of a route, takes a function for itself.
    """
    for node in scope.body:
        if isinstance(node, Defined):
            if isinstance(node, ast.ClassDef):
                yield from definitions(node)
            if all(isinstance(by, ast.Name) for by in node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign):
            yield from (to.id for to in node.targets if isinstance(to, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(scope, ast.Module):
            yield ast.unparse(node.target)


def uses(tree: ast.AST) -> Iterator[str]:
    """Return the names that are read, and the words of texts that are no docstring."""
    nodes = list(ast.walk(tree))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.alias(name=name, asname=str()):
                yield name
            case ast.MatchClass(kwd_attrs=names):
                yield from names
            case ast.Constant(value=str() as text) if id(node) not in prose:
                yield from WORD.findall(text)
            case _:
                pass


def test_no_code_serves_only_tests(
    sources: dict[Path, str], project_files: list[Path]
) -> None:
    trees = {path: parse(source) for path, source in sources.items()}
    used = {name for tree in trees.values() for name in uses(tree)} | SOUGHT
    for path in project_files:
        if path.suffix in ALSO_READ or path.name == "hatch_build.py":
            used |= set(WORD.findall(path.read_text(encoding="utf-8")))

    unused = [
        f"{path}: {name}"
        for path, tree in trees.items()
        for name in definitions(tree)
        if name not in used and not re.fullmatch(r"_|__\w+__", name)
    ]

    assert "\n".join(unused) == ""
