"""Parts that commands share: options, running a client, and printing a refusal."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click
import httpx
import msgspec

from registry.client import AnswerInvalid, ProblemAnswered, RegistryClient, RetryRule
from registry.errors import RegistryError
from registry.terminal.printable import MAX_LINE, printable
from registry.terminal.styled import Console, escape

T = TypeVar("T")
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


def with_client(
    url: str,
    work: Callable[[RegistryClient], Awaitable[T]],
    operator: httpx.Auth | None = None,
) -> T:
    """Run the work; a refusal is printed and ends the command with exit code 1.

    operator: as whom to ask.
    """

    async def run() -> T:
        retries = RetryRule()
        async with RegistryClient(url, operator=operator, retries=retries) as client:
            return await work(client)

    try:
        return asyncio.run(run())
    except ProblemAnswered as answered:
        print_problem(answered.problem)
    except httpx.TransportError as error:
        way_out = "; is it the right --registry (FAIR_REGISTRY_URL)?"
        errors.print(f"[red]{url_of(error)} can't be reached:[/] {error}{way_out}")
    except (AnswerInvalid, RegistryError, *GARBLED) as invalid:
        errors.print(f"[red]The registry's answer is not one:[/] {shown(invalid)}")
    except TimeoutError:
        errors.print("[red]The registry did not answer in time.[/]")
    raise SystemExit(1)


def print_answer(
    url: str,
    work: Callable[[RegistryClient], Awaitable[T]],
    show: Callable[[T], object],
    *,
    as_json: bool,
    operator: httpx.Auth | None = None,
) -> None:
    """Print what the work returns: an answer that can't be shown is none either."""

    async def run(client: RegistryClient) -> None:
        (print_json if as_json else show)(await work(client))

    with_client(url, run, operator)


def shown(text: object) -> str:
    """Return what others wrote, or caused, harmless to a terminal and without markup."""
    is_bare = isinstance(text, GARBLED)  # their messages are a name alone
    return escape(printable(repr(text) if is_bare else text, MAX_LINE))


def url_of(error: httpx.TransportError) -> str:
    try:
        return str(error.request.url)
    except RuntimeError:
        return "The registry"


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
