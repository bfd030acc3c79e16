"""`lint`: what the registry would make of a document, before it is published."""

import asyncio
import sys
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import click
import msgspec
from rich.markup import escape

from registry.client import DocumentUnreachable, fetch_document
from registry.formats.document import Deviation, Document
from registry.formats.reading.call_targets import resolve_target
from registry.formats.repair import Incomplete, OwnerStatement, Repaired, repair
from registry.interfaces.rest.sites.lint import view_report
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.terminal.output import console, errors, json_option, print_json
from registry.usecases.sites.lint import Linter, Report, inspect

_COLOURS = {"strict": "green", "tolerated": "yellow", "refused": "red"}
_FACTORS = {
    "relevance": "relevance",
    "proximity": "proximity",
    "capability_depth": "capability depth",
    "quality": "quality",
}


@click.command()
@click.argument("document")
@click.option("--url", default="", help="Where a file will be served.")
@click.option("--strict", is_flag=True, help="Fail unless it is conforming.")
@click.option(
    "--fix",
    is_flag=True,
    help="Write a conforming WAB document to standard output, nothing guessed.",
)
@click.option("--name", default="", help="With --fix: the site's name.")
@click.option("--category", default="", help="With --fix: such as restaurant.")
@click.option("--city", default="", help="With --fix.")
@click.option("--country", default="", help="With --fix: two letters, such as DE.")
@click.option("--bridge", default="", help="With --fix: base URL of your WAB bridge.")
@json_option
def lint(
    document: str, url: str, *, strict: bool, fix: bool, as_json: bool, **stated: str
) -> None:
    """Read DOCUMENT, a URL, a file or - for standard input, as the registry would.

    Exit code 1 if it is refused, or not strict under --strict, or --fix needs to know
    more.
    """
    if url and resolve_target(url, base="") is None:
        raise click.BadParameter("an absolute https URL is needed", param_hint="--url")
    body, content_type, found_at = _read(document)
    look = inspect if fix else _load_linter().lint
    report = look(body, url=url or found_at, content_type=content_type)
    if fix:
        _fix(report, OwnerStatement(**stated), document)
    elif as_json:
        print_json(msgspec.to_builtins(view_report(report)))
    else:
        _tell(report, document)
    if report.conformance == "refused" or (strict and report.conformance != "strict"):
        raise SystemExit(1)


@cache
def _load_linter() -> Linter:
    return Linter(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )


def _read(document: str) -> tuple[bytes, str, str]:
    """Its bytes, media type and address, as far as they are known."""
    if document == "-":
        return sys.stdin.buffer.read(), "", ""
    if "://" not in document:
        try:
            return Path(document).read_bytes(), "", ""
        except OSError as error:
            raise click.ClickException(f"{document}: {error.strerror}") from None
    try:
        fetched = asyncio.run(fetch_document(document))
    except DocumentUnreachable as error:
        raise click.ClickException(f"{document}: {error}") from None
    return fetched.body, fetched.content_type, fetched.url


# --- telling --------------------------------------------------------------------------


def _tell(report: Report, shown_as: str) -> None:
    colour = _COLOURS[report.conformance]
    document = report.document
    about = (
        f"{document.format}, {document.dialect}" if document else report.format or ""
    )
    console.print(
        f"[{colour}]{report.conformance}[/]  {escape(shown_as)}  [dim]{about}[/]",
        soft_wrap=True,
    )
    if report.problem:
        problem = report.problem
        _tell_one(problem.code, problem.pointer or "", problem.detail, problem.fix)
    if document:
        for deviation in document.deviations:
            _tell_one(
                deviation.rule, deviation.pointer, deviation.detail, deviation.fix
            )
        _tell_listing(document)
    for conflict in report.conflicts:
        values = "; ".join(f"{name}: {value}" for name, value in conflict.values)
        _tell_one("conflict", conflict.field, values, "")
    for link in report.links:
        console.print(f"  points to {escape(link.url)} [dim]({link.format})[/]")
    _tell_advice(report)


def _tell_one(rule: str, pointer: str, detail: str, fix: str) -> None:
    console.print(
        f"  [yellow]{escape(rule)}[/] {escape(pointer)}: {escape(detail)}",
        soft_wrap=True,
    )
    if fix:
        console.print(f"      {escape(fix)}", soft_wrap=True)


def _tell_listing(document: Document) -> None:
    site = document.site
    names = ", ".join(action.name for action in site.actions[:8])
    more = f" and {len(site.actions) - 8} more" if len(site.actions) > 8 else ""
    title = site.name or "a site without a name"
    console.print(
        f"  listed as {escape(title)}, with {len(site.actions)} actions"
        f"{': ' if names else ''}{escape(names)}{more}",
        soft_wrap=True,
    )
    if document.provenance.source == "synthetic":
        console.print("  [dim]made by others: ranked behind a document of your own[/]")


def _tell_advice(report: Report) -> None:
    if report.advice:
        console.print("\n  What would help:")
    for advice in report.advice:
        gain = f" (+{advice.gain / 100:.1f}%)" if advice.gain else ""
        console.print(
            f"  [cyan]{_FACTORS[advice.factor]}[/]{gain}: {escape(advice.how)}",
            soft_wrap=True,
        )
        if advice.actions:
            rest = advice.count - len(advice.actions)
            more = f" and {rest} more" if rest else ""
            names = escape(", ".join(advice.actions))
            console.print(f"      [dim]{names}{more}[/]", soft_wrap=True)


# --- repairing ------------------------------------------------------------------------


def _fix(report: Report, stated: OwnerStatement, shown_as: str) -> None:
    if report.document is None:
        _tell(report, shown_as)
        return
    host = urlsplit(report.url).netloc if report.is_placed else ""
    match repair(report.document, stated, host=host):
        case Repaired() as repaired:
            print_json(repaired.document)
            _tell_names("left out", repaired.left_out)
            _tell_names("left open, marked undeclared", repaired.left_open)
        case Incomplete(missing):
            _tell_missing(missing)
            raise SystemExit(1)


def _tell_names(what: str, names: tuple[str, ...]) -> None:
    if names:
        errors.print(f"[dim]{what}: {escape(', '.join(names))}[/]", soft_wrap=True)


def _tell_missing(missing: tuple[Deviation, ...]) -> None:
    errors.print("[red]Not written:[/] nothing is guessed.")
    for deviation in missing:
        errors.print(
            f"  {escape(deviation.pointer)}: {escape(deviation.detail)}. "
            f"{escape(deviation.fix)}",
            soft_wrap=True,
        )
