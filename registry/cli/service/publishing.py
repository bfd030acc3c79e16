"""`publish`: the log as files, for a CDN or a mirror."""

import asyncio
from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from registry.auditor.source import LogUnreadable, open_source
from registry.errors import RegistryError
from registry.terminal.output import (
    DEFAULT_URL,
    console,
    errors,
    json_option,
    print_json,
    print_problem,
)
from registry.terminal.printable import counted
from registry.tlog.note import parse_vkey
from registry.usecases.log.log_folder import FolderBusy
from registry.usecases.log.publish_files import Published, publish_files


@click.command()
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder that is served as it is, below the log's name.",
)
@click.option(
    "--registry",
    "--from",
    "source",
    default=DEFAULT_URL,
    show_default=True,
    envvar="FAIR_REGISTRY_URL",
    help="The registry, or any other copy of its log.",
)
@click.option(
    "--key",
    "vkey",
    help="The log's verifier key. Without it, the key that the registry names.",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Trust the files published before; without it every file is checked.",
)
@json_option
def publish(
    folder: Path, source: str, vkey: str | None, *, quick: bool, as_json: bool
) -> None:
    """Bring a folder of tiles and entry bundles to the log's newest checkpoint.

    It can be run again at any time, also after it was killed: what is missing or wrong
    is written again, and the checkpoint comes last.
    """
    try:
        summary = asyncio.run(_publish(folder, source, vkey, quick=quick))
    except RegistryError as refused:
        print_problem({"code": refused.code, "detail": refused.problem.detail})
        raise SystemExit(1) from refused
    except (LogUnreadable, FolderBusy) as stopped:
        errors.print_line(f"[red]{stopped}[/]")
        raise SystemExit(1) from stopped
    if as_json:
        print_json(
            {
                "entries": summary.entries,
                "bundlesFetched": summary.fetched,
                "filesWritten": summary.written,
                "filesRepaired": summary.repaired,
            }
        )
        return
    console.print_line(
        f"{folder} holds {counted(summary.entries, 'entry')}; "
        f"{counted(summary.written, 'file')} written, "
        f"{summary.repaired} of them in place of wrong ones"
    )


async def _publish(
    folder: Path, url: str, vkey: str | None, *, quick: bool
) -> Published:
    columns = (TextColumn("publishing"), BarColumn(), MofNCompleteColumn())
    async with open_source(url) as source:
        former: list[str] = []
        if vkey is None:
            log: dict[str, Any] = await source.get_json("/v1/log")
            vkey, former = log["verifierKey"], log["formerKeys"]
        with Progress(*columns, console=errors, transient=True) as progress:
            task = progress.add_task("entries", total=None)
            return await publish_files(
                folder,
                source.fetch,
                parse_vkey(vkey),
                former_keys=[parse_vkey(former_key) for former_key in former],
                quick=quick,
                on_progress=lambda done, size: progress.update(
                    task, completed=done, total=size
                ),
            )
