"""`lint`: what the registry would make of a document, before it is published."""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from urllib.parse import urlsplit

import click
import msgspec

from registry.cli.owners.document_source import read_source
from registry.cli.owners.questionnaire import write_new
from registry.cli.service.command_settings import settings_or_exit
from registry.formats.document import Deviation, Document
from registry.formats.inspection import Report, inspect
from registry.formats.reading.call_targets import resolve_target
from registry.formats.repair import Incomplete, OwnerStatement, Repaired, repair
from registry.interfaces.rest.sites.lint_views import view_report
from registry.terminal.output import console, errors, json_option, print_json
from registry.terminal.printable import counted
from registry.terminal.styled import escape

_COLOURS = {
    "strict": "green",
    "tolerated": "yellow",
    "refused": "red",
    "points on": "green",
}
_BEGIN = "[dim]No document yet? fair-registry lint --new[/]"
_FACTORS = {
    "eligibility": "being found by filters",
    "relevance": "relevance",
    "proximity": "proximity",
    "capability_depth": "capability depth",
    "quality": "quality",
}


@click.command()
@click.argument("document", required=False)
@click.option("--url", default="", help="Where a file, or a new document, will be.")
@click.option("--strict", is_flag=True, help="Fail unless it is conforming.")
@click.option(
    "--fix",
    is_flag=True,
    help="Write a conforming WAB document to standard output, nothing guessed.",
)
@click.option(
    "--new",
    is_flag=True,
    help="Write a first document to standard output, from six answers: the options "
    "below, or asked for at a terminal.",
)
@click.option("--name", default="", help="With --fix, --new: the site's name.")
@click.option("--category", default="", help="With --fix, --new: such as restaurant.")
@click.option("--city", default="", help="With --fix, --new.")
@click.option("--country", default="", help="With --fix, --new: two letters: DE.")
@click.option(
    "--bridge", default="", help="With --fix, --new: base URL of your bridge."
)
@click.option(
    "--action", default="", help="With --new: what agents can do, a sentence."
)
@json_option
def lint(
    document: str | None,
    url: str,
    *,
    strict: bool,
    fix: bool,
    new: bool,
    as_json: bool,
    action: str,
    **stated: str,
) -> None:
    """Read DOCUMENT, a URL, a file or - for standard input, as the registry would.

    --new makes a first document. Exit code 1 if the document is refused,
    or not strict under --strict, or --fix needs to know more.
    """
    allow_loopback = settings_or_exit().allow_loopback
    if new:
        if document or fix or strict:
            raise click.UsageError("--new takes no DOCUMENT, --fix or --strict.")
        answers = {**stated, "url": url, "action": action}
        write_new(answers, allow_loopback=allow_loopback)
        return
    if document is None or action:
        raise click.UsageError("Name a DOCUMENT; a site without one begins with --new.")
    report = _look(document, url, is_advised=not fix)
    if fix:
        _fix(report, OwnerStatement(**stated), allow_loopback=allow_loopback)
    elif as_json:
        print_json(msgspec.to_builtins(view_report(report)))
    else:
        _print_report(report, document, has_url=bool(url) or "://" in document)
    _exit_by(report, is_strict=strict, is_silent=as_json)


def _look(document: str, url: str, *, is_advised: bool) -> Report:
    """Read the document as the registry would, with advice or without."""
    settings = settings_or_exit()
    allow_loopback = settings.allow_loopback
    if url and resolve_target(url, base="", allow_loopback=allow_loopback) is None:
        needed = "an absolute https URL that the public can reach is needed"
        raise click.BadParameter(needed, param_hint="--url")
    source = read_source(document, settings)
    look = _advising(allow_loopback=allow_loopback) if is_advised else None
    if look is None:
        look = partial(inspect, allow_loopback=allow_loopback)
    return look(
        source.body,
        url=url or source.url,
        file_name=source.file_name,
        content_type=source.content_type,
    )


def _exit_by(report: Report, *, is_strict: bool, is_silent: bool) -> None:
    """Raises: SystemExit (1) if it is refused, or not strict where --strict is given."""
    is_refused = report.conformance == "refused" and not report.points_on
    if is_refused and report.format is None and not is_silent:
        errors.print(_BEGIN)
    if is_refused or (is_strict and report.conformance != "strict"):
        raise SystemExit(1)


@cache
def _advising(*, allow_loopback: bool) -> Callable[..., Report] | None:
    """Return the lint with advice; None where only the client is installed."""
    try:
        linting = import_module("registry.usecases.sites.lint")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("registry"):
            raise
        return None
    look: Callable[..., Report] = linting.load_linter(allow_loopback).lint
    return look


# --- printing -------------------------------------------------------------------------


def _print_report(report: Report, shown_as: str, *, has_url: bool) -> None:
    """has_url: where it lies or will lie."""
    verdict = "points on" if report.points_on else report.conformance
    document = report.document
    about = (
        f"{document.format}, {document.dialect}" if document else report.format or ""
    )
    console.print_line(
        f"[{_COLOURS[verdict]}]{verdict}[/]  {escape(shown_as)}  [dim]{about}[/]"
    )
    if (document or report.links) and not has_url:
        console.print_line(
            f"  [dim]read as if it lay at {escape(report.url)}; --url says where it "
            "will[/]"
        )
    if report.problem:
        problem = report.problem
        _print_line(problem.code, problem.pointer or "", problem.detail, problem.fix)
    for deviation in report.deviations:
        _print_line(deviation.rule, deviation.pointer, deviation.detail, deviation.fix)
    if document:
        _print_listing(document)
    for conflict in report.conflicts:
        values = "; ".join(f"{name}: {value}" for name, value in conflict.values)
        _print_line("conflict", conflict.field, values, "")
    for link in report.links:
        console.print_line(f"  points to {escape(link.url)} [dim]({link.format})[/]")
    _print_advice(report)


def _print_line(rule: str, pointer: str, detail: str, fix: str) -> None:
    console.print_line(
        f"  [yellow]{escape(rule)}[/] {escape(pointer)}: {escape(detail)}"
    )
    if fix:
        console.print_line(f"      {escape(fix)}")


def _print_listing(document: Document) -> None:
    site = document.site
    names = ", ".join(action.name for action in site.actions[:8])
    more = f" and {len(site.actions) - 8} more" if len(site.actions) > 8 else ""
    title = site.name or "a site without a name"
    console.print_line(
        f"  listed as {escape(title)}, with {counted(len(site.actions), 'action')}"
        f"{': ' if names else ''}{escape(names)}{more}"
    )
    if document.provenance.source == "synthetic":
        console.print("  [dim]made by others: ranked behind a document of your own[/]")


def _print_advice(report: Report) -> None:
    if report.advice:
        console.print("\n  What would help:")
    for advice in report.advice:
        gain = f" (+{advice.gain / 100:.1f}%)" if advice.gain else ""
        console.print_line(
            f"  [cyan]{_FACTORS[advice.factor]}[/]{gain}: {escape(advice.how)}"
        )
        if advice.actions:
            rest = advice.count - len(advice.actions)
            more = f" and {rest} more" if rest else ""
            names = escape(", ".join(advice.actions))
            console.print_line(f"      [dim]{names}{more}[/]")


# --- repairing ------------------------------------------------------------------------


def _fix(report: Report, stated: OwnerStatement, *, allow_loopback: bool) -> None:
    """Write the repaired document to standard output, and nothing else.

    Raises: SystemExit (1) if there is none.
    """
    if report.document is None:
        _print_refused(report)
        raise SystemExit(1)
    host = urlsplit(report.url).netloc if report.has_address else ""
    outcome = repair(report.document, stated, host=host, allow_loopback=allow_loopback)
    match outcome:
        case Repaired() as repaired:
            print_json(repaired.document)
            _print_names("left out", repaired.left_out)
            _print_names("left open, marked undeclared", repaired.left_open)
        case Incomplete(missing):
            _print_missing(missing)
            raise SystemExit(1)


def _print_refused(report: Report) -> None:
    problem = report.problem
    if problem:
        errors.print_line(
            f"[red]Not written:[/] {problem.code}: {escape(problem.detail.rstrip('.'))}. "
            f"{escape(problem.fix)}"
        )
    for deviation in report.deviations:
        _print_deviation(deviation)
    errors.print(_BEGIN)


def _print_names(what: str, names: tuple[str, ...]) -> None:
    if names:
        errors.print_line(f"[dim]{what}: {escape(', '.join(names))}[/]")


def _print_missing(missing: tuple[Deviation, ...]) -> None:
    errors.print("[red]Not written:[/] nothing is guessed.")
    for deviation in missing:
        _print_deviation(deviation)


def _print_deviation(deviation: Deviation) -> None:
    errors.print_line(
        f"  {escape(deviation.pointer)}: {escape(deviation.detail)}. "
        f"{escape(deviation.fix)}"
    )
