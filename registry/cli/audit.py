"""`audit verify`: reading the whole served log and checking every hash of it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from registry.audit.record import parse_record
from registry.cli.output import console, errors, json_option, print_json, with_client
from registry.client import RegistryClient
from registry.errors import RegistryError
from registry.tlog.checkpoint import Checkpoint
from registry.tlog.follow import follow_log
from registry.tlog.note import parse_vkey


@click.group()
def audit() -> None:
    """Check what the registry has put on record."""


@audit.command()
@click.argument("url")
@click.option(
    "--key",
    "vkey",
    help="The log's verifier key. Without it the one that the registry names is "
    "taken, which shows that the log is sound, not whose it is.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    help="File that keeps the last checkpoint, so that the next run finds a fork.",
)
@json_option
def verify(url: str, vkey: str | None, state: Path | None, *, as_json: bool) -> None:
    """Check the log served at URL: every entry, every tile, the signed checkpoint."""
    previous = load_state(state) if state and state.exists() else None
    try:
        found = with_client(url, lambda client: verify_log(client, vkey, previous))
    except RegistryError as refused:
        tell_finding(refused, as_json=as_json)
        raise SystemExit(1) from refused
    if state:
        save_state(state, found.checkpoint)
    summary = found.summary()
    if as_json:
        print_json(summary)
    else:
        console.print(f"[green]The log is sound:[/] {summary['size']} entries")
        for kind, count in sorted(summary["records"].items()):
            console.print(f"  {count:>8} {kind}")
        console.print(f"  root {summary['root']}")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedLog:
    """A log that was read whole and found sound. records: entries by kind."""

    checkpoint: Checkpoint
    records: dict[str, int]

    def summary(self) -> dict[str, Any]:
        return {
            "verified": True,
            "origin": self.checkpoint.origin,
            "size": self.checkpoint.size,
            "root": self.checkpoint.root.hex(),
            "records": self.records,
        }


async def verify_log(
    client: RegistryClient, vkey: str | None = None, previous: Checkpoint | None = None
) -> VerifiedLog:
    """Raises: LogInvalid naming what is wrong and where."""
    key = parse_vkey(vkey or (await client.get("/v1/log"))["verifierKey"])
    records: dict[str, int] = {}

    def visit(_: int, entry: bytes) -> None:
        kind = str(parse_record(entry)["kind"])
        records[kind] = records.get(kind, 0) + 1

    reading = follow_log(key, previous=previous, visit=visit)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True) as progress:
        task = progress.add_task("reading the log")
        path = next(reading)
        while True:
            progress.update(task, description=f"checking {path}")
            try:
                path = reading.send(await client.fetch(path))
            except StopIteration as finished:
                return VerifiedLog(
                    checkpoint=finished.value.checkpoint, records=records
                )


def tell_finding(refused: RegistryError, *, as_json: bool) -> None:
    path = getattr(refused, "path", None)
    index = getattr(refused, "entry_index", None)
    if as_json:
        problem = refused.problem
        finding = {"code": problem.code, "detail": problem.detail}
        print_json({"verified": False, **finding, "path": path, "entryIndex": index})
        return
    errors.print(f"[red]The log is not sound:[/] {refused.problem.detail}")
    errors.print(f"  {refused.problem.code} at {path}, entry {index}")


def load_state(path: Path) -> Checkpoint:
    state = json.loads(path.read_text())
    return Checkpoint(
        origin=state["origin"],
        size=state["size"],
        root=bytes.fromhex(state["root"]),
    )


def save_state(path: Path, checkpoint: Checkpoint) -> None:
    state = {
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
    }
    draft = path.with_suffix(f"{path.suffix}.draft")
    draft.write_text(json.dumps(state) + "\n")
    draft.replace(path)
