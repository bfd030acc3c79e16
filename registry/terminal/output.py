"""Parts that commands share: options, and printing an answer or a refusal."""

import json
import sys
from typing import Any

import click
import msgspec

from registry.terminal.printable import MAX_LINE, printable
from registry.terminal.styled import Console, escape

DEFAULT_URL = "http://127.0.0.1:8080"

GARBLED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    msgspec.MsgspecError,
)
"""Errors of who reads an answer in which something is missing, or of another type."""

console = Console()
errors = Console(stderr=True)

registry_option = click.option(
    "--registry",
    "url",
    default=DEFAULT_URL,
    show_default=True,
    envvar="FAIR_REGISTRY_URL",
    help="Origin of the registry.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document."
)


def shown(text: object) -> str:
    """Return what others wrote, or caused, harmless to a terminal and without markup."""
    is_bare = isinstance(text, GARBLED)  # their messages are a name alone
    return escape(printable(repr(text) if is_bare else text, MAX_LINE))


def print_problem(problem: dict[str, Any]) -> None:
    code, detail = shown(problem.get("code")), shown(problem.get("detail"))
    errors.print_line(f"[red]{code}[/]: {detail}")
    if pointer := problem.get("pointer"):
        errors.print_line(f"  at {shown(pointer)}")
    if fix := problem.get("fix"):
        errors.print_line(f"  {shown(fix)}")


def print_progress(line: str) -> None:
    """Print progress beside the result, on standard error."""
    errors.print(line, highlight=False)


def print_json(value: object) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False, default=str)
    sys.stdout.write("\n")
