"""Run of an audit: the source is opened, and faults are reported with exit code 1."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

import click
import msgspec

from registry.auditor.follow_log import Finding, Findings
from registry.auditor.source import LogSource, LogUnreadable, open_source
from registry.errors import RegistryError
from registry.terminal.output import DEFAULT_URL, GARBLED, errors, print_json, shown
from registry.tlog.refusals import LogInvalid
from registry.tlog.tiles import TILE_WIDTH, Bundle, format_tile_path

T = TypeVar("T")
EXIT_UNPROVEN = 3
"""Exit code where nothing differs, and not all could be computed or proven."""

named_registry_option = click.option(
    "--registry",
    "named",
    metavar="URL",
    envvar="FAIR_REGISTRY_URL",
    help=f"Origin of the registry, or a copy of its log.  [default: {DEFAULT_URL}]",
)


def registry_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add --registry, which may stand as the last argument too, as before it was one."""

    @wraps(command)
    def called(*, url: str | None, named: str | None, **rest: Any) -> None:
        command(url=sole_registry(url, named) or DEFAULT_URL, **rest)

    argument = click.argument("url", metavar="[URL]", required=False)
    return argument(named_registry_option(called))


def sole_registry(argument: str | None, named: str | None) -> str | None:
    """Return the address that was given. Raises: click.UsageError if two were."""
    source = click.get_current_context().get_parameter_source("named")
    if argument and source is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("give the registry once: --registry URL")
    return argument or named


def run_audit(
    url: str, work: Callable[[LogSource], Awaitable[T]], *, as_json: bool
) -> T:
    """Return the work's result; faults are printed and end the command with exit code 1."""

    async def run() -> T:
        async with open_source(url) as source:
            return await work(source)

    try:
        return asyncio.run(run())
    except Findings as findings:
        print_findings(findings.findings, as_json=as_json)
    except LogInvalid as invalid:
        print_findings([invalid], as_json=as_json)
    except RegistryError as refused:
        print_refusals(refused, as_json=as_json)
    except (LogUnreadable, *GARBLED) as unreadable:
        cause = shown(unreadable)
        if as_json:
            print_json({"verified": None, "unreadable": cause})
        summary = getattr(unreadable, "summary", LogUnreadable.summary)
        errors.print_line(f"[red]{summary}:[/] {cause}")
    raise SystemExit(1)


def decode_lines(lines: Iterable[bytes], of: type[T]) -> Iterator[T]:
    """Yield the objects of JSON lines. Raises: click.ClickException."""
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=of)
        except msgspec.MsgspecError as error:
            raise click.ClickException(f"line {number}: {error}") from error


def print_findings(findings: list[Finding], *, as_json: bool) -> None:
    listed = [finding_members(finding) for finding in findings]
    if as_json:
        print_json({"verified": False, **listed[0], "findings": listed})
        return
    errors.print("[red]The log is not sound:[/]")
    for members in listed:
        errors.print_line(f"  {members['code']}: {shown(members['detail'])}")
        errors.print_line(f"    at {members['path']}; {members['fix']}")


def finding_members(finding: Finding) -> dict[str, Any]:
    """path: of the part concerned. entryIndex: null where it is no entry."""
    problem, index = finding.problem, finding.entry_index
    path = getattr(finding, "path", None)
    if path is None and index is not None:
        path = format_tile_path(Bundle(index=index // TILE_WIDTH))
    return {
        "code": problem.code,
        "detail": problem.detail,
        "path": path,
        "entryIndex": index,
        "fix": problem.fix,
    }


def print_refusals(refused: RegistryError, *, as_json: bool) -> None:
    problem = refused.problem
    if as_json:
        refusal = {"code": problem.code, "detail": problem.detail, "fix": problem.fix}
        print_json({"verified": False, **refusal})
        return
    errors.print_line(f"[red]{problem.code}[/]: {shown(problem.detail)}")
    errors.print_line(f"  {problem.fix}")
