"""Calls of a registry by a command: as whom, and how a refusal ends it."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import click
import httpx

from registry.calls.failures import AnswerInvalid, ProblemAnswered
from registry.client import (
    ApiKeyAuth,
    RegistryClient,
    RegistryUnreachable,
    RetryRule,
    SigningAuth,
)
from registry.errors import RegistryError
from registry.terminal.key_files import load_key
from registry.terminal.options import READABLE, joined
from registry.terminal.output import GARBLED, errors, print_json, print_problem, shown

T = TypeVar("T")

operator_options = joined(
    click.option(
        "--key",
        type=READABLE,
        envvar="FAIR_REGISTRY_OPERATOR_KEY",
        help="Ask as the operator of this private key: each request is signed.",
    ),
    click.option(
        "--api-key",
        envvar="FAIR_REGISTRY_API_KEY",
        help="Ask as the operator of this key; better set FAIR_REGISTRY_API_KEY.",
    ),
)
"""Options of a command that may ask as an operator; see `auth_of`."""


def auth_of(url: str, api_key: str | None, key: Path | None) -> httpx.Auth | None:
    """Return the caller; None for an anonymous one. With both, the API key is shown."""
    if api_key:
        return ApiKeyAuth(api_key)
    return SigningAuth(load_key(key), url) if key else None


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
    except RegistryUnreachable as error:
        way_out = "; is it the right --registry (FAIR_REGISTRY_URL)?"
        away = f"[red]{error.request.url} can't be reached:[/]"
        errors.print(f"{away} {error}{way_out}")
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
