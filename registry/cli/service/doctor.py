"""`doctor`: what this installation is made of, and what its operator has to do."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import click
import httpx
from rich.table import Table
from rich.text import Text

from registry import keyring
from registry.cli.service.command_settings import settings_of_log, settings_or_exit
from registry.cli.service.database import reached_database
from registry.cli.service.ports import verify_port_is_free
from registry.compiled.library import explain_absence, find_library, how_to_compile
from registry.db.engine.engines import (
    DatabaseError,
    Engine,
    cause_of,
    denied_roles,
    engine_at,
)
from registry.db.engine.server_facts import ServerFacts, read_facts
from registry.db.log.cosignatures import newest_checkpoint
from registry.db.log.entries import latest_checkpoint, read_times
from registry.db.schema.migrate import newest_revision
from registry.publisher import continuity_of
from registry.ranking.encoders.encoder import load_encoder
from registry.settings import Settings
from registry.terminal.options import data_option
from registry.terminal.output import console, json_option, print_json
from registry.usecases.log.continuity import Continuity, LogDamaged
from registry.usecases.log.promiser import STANDSTILL
from registry.usecases.log.sequence import load_edge
from registry.usecases.log.served_log import WitnessPolicy

OLDEST_POSTGRES = 15
CLOCKS_AGREE_WITHIN = timedelta(seconds=2)
REQUEST_TIMEOUT_S = 10.0

State = Literal["good", "advice", "act"]
_COLOURS: dict[State, str] = {"good": "green", "advice": "yellow", "act": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """state: "act" where something must be done, "advice" where it can be better."""

    area: str
    state: State
    detail: str
    fix: str = ""


@click.command()
@data_option("Folder of the registry.")
@json_option
def doctor(data: Path | None, *, as_json: bool) -> None:
    """Say what is installed here, how it stands, and what to do.

    Reads only, but for an embedded database that is not running: it is started for the
    look. Exit code 1 where something must be done.
    """
    settings = settings_or_exit(data=data)
    findings = [*examine_machine(settings), *_examine_database(settings)]
    if as_json:
        print_json({"findings": [asdict(finding) for finding in findings]})
    else:
        console.print(_table_of(findings))
    raise SystemExit(any(finding.state == "act" for finding in findings))


def examine_machine(settings: Settings) -> Iterator[Finding]:
    """Look at what needs no database."""
    if find_library() is None:
        detail = f"{explain_absence()}; NumPy ranks, much slower"
        yield Finding("compiled", "advice", detail, how_to_compile())
    else:
        yield Finding("compiled", "good", "the kernel is compiled of these sources")
    yield _examine_encoder(settings)
    yield from examine_keys(settings)
    yield _examine_port(settings)


def _examine_encoder(settings: Settings) -> Finding:
    try:
        load_encoder(settings.policy)
    except RuntimeError as error:
        fix = "install what requirements/runtime.txt locks"
        return Finding("encoder", "act", f"{settings.encoder}: {error}", fix)
    return Finding("encoder", "good", f"{settings.encoder}, as the policy names it")


def examine_keys(settings: Settings) -> Iterator[Finding]:
    """Look at owner and mode of the keys' folder and of all in it."""
    folder = settings.keys
    if not folder.is_dir():
        detail = f"there are none in {folder} yet"
        yield Finding("keys", "advice", detail, "serve or fair-registry keyring")
        return
    public = sorted(folder.glob("*.vkey"))
    paths = [folder, *(path for path in sorted(folder.iterdir()) if path not in public)]
    exposed = [path for path in paths if path.lstat().st_mode & 0o077]
    for path in exposed:
        detail = f"{path} can be read or changed by others than its owner"
        mode = "700" if path.is_dir() else "600"
        yield Finding("keys", "act", detail, f"chmod {mode} {path}")
    for path in paths:
        if path not in exposed and not os.access(path, os.R_OK):
            detail = f"{path} can't be read by this user"
            yield Finding("keys", "act", detail, "run it as the owner of the keys")
    if not exposed:
        yield Finding("keys", "good", f"{len(paths) - 1} secret ones in {folder}")


def _examine_port(settings: Settings) -> Finding:
    where = f"{settings.host}:{settings.port}"
    try:
        verify_port_is_free(settings.host, settings.port)
    except (click.ClickException, OSError):
        return _examine_registry_at(where)
    return Finding("port", "good", f"{where} is free; no registry runs there")


def _examine_registry_at(where: str) -> Finding:
    with suppress(httpx.HTTPError, AttributeError, KeyError, ValueError):
        answer = httpx.get(
            f"http://{where}/health/ready", timeout=REQUEST_TIMEOUT_S
        ).json()
        if answer.get("status") == "ready":
            return Finding("port", "good", f"a registry that is ready runs at {where}")
        return Finding("port", "act", str(answer["detail"]), str(answer["fix"]))
    detail = f"the program that listens on {where} does not answer as a registry"
    return Finding("port", "act", detail, "name another FAIR_REGISTRY_PORT, or end it")


def _examine_database(settings: Settings) -> list[Finding]:
    if not settings.database_url and not (settings.data / "postgres").is_dir():
        detail = f"there is no registry in {settings.data} yet"
        return [Finding("database", "advice", detail, "fair-registry serve makes it")]
    try:
        with reached_database(settings) as reached:
            return asyncio.run(_examined(reached))
    except (click.ClickException, DatabaseError, OSError) as error:
        detail = getattr(error, "message", "") or cause_of(error)
        return [Finding("database", "act", detail, "docs/run.md, section The database")]


async def _examined(settings: Settings) -> list[Finding]:
    has_key = (settings.keys / f"{keyring.LOG}.pem").exists()
    continuity = continuity_of(settings_of_log(settings)) if has_key else None
    async with engine_at(settings.database_url) as engine:
        findings = [finding async for finding in examine_server(engine, continuity)]
        findings += await examine_quorum(engine, settings)
    if not settings.witnesses and not settings.log_files:
        detail = (
            f"what was published is known in {settings.data} alone, and to no witness"
        )
        fix = "name one before data can be put back whole: docs/run.md, section Back up"
        findings.append(Finding("witnesses", "advice", detail, fix))
    return findings


async def examine_server(
    engine: Engine, continuity: Continuity | None = None
) -> AsyncIterator[Finding]:
    """engine: of the owner. Raises: DatabaseError, OSError."""
    async with engine.connect() as connection:
        facts = await read_facts(connection)
    for finding in _judge_server(facts):
        yield finding
    if denied := await denied_roles(engine):
        detail = f"this login may not act as {', '.join(denied)}"
        fix = "needed by serve alone; parts have logins of their own, deploy/README.md"
        yield Finding("roles", "advice", detail, fix)
    else:
        yield Finding("roles", "good", "this login may act as every part")
    if facts.revision == newest_revision():
        yield await examine_log(engine, continuity)


def _judge_server(facts: ServerFacts) -> Iterator[Finding]:
    is_new = facts.major >= OLDEST_POSTGRES
    fix = "" if is_new else f"upgrade it to {OLDEST_POSTGRES} or later"
    state: State = "good" if is_new else "act"
    yield Finding("database", state, f"PostgreSQL {facts.version}", fix)
    newest = newest_revision()
    if facts.revision == newest:
        yield Finding("schema", "good", f"the newest, {newest}")
    else:
        detail = f"{facts.revision or 'none'}, where this release needs {newest}"
        yield Finding("schema", "act", detail, "fair-registry db migrate, or serve")
    apart = abs(datetime.now(UTC) - facts.now)
    if apart <= CLOCKS_AGREE_WITHIN:
        yield Finding("clock", "good", "that of the database")
    else:
        detail = f"{apart.total_seconds():.0f} s from the database's"
        yield Finding("clock", "act", detail, "let NTP set both machines' clocks")


async def examine_log(engine: Engine, continuity: Continuity | None = None) -> Finding:
    """Hold the newest checkpoints against the stored hashes, and look at what waits."""
    async with engine.connect() as connection:
        try:
            edge = await load_edge(connection, continuity)
        except LogDamaged as damaged:
            fix = "restore the last commit, or begin a new log, as that section says"
            return Finding("log", "act", str(damaged), fix)
        oldest = (await read_times(connection)).oldest_pending
    now = datetime.now(UTC)
    if oldest and now - oldest > STANDSTILL:
        detail = f"records wait for their place since {oldest:%Y-%m-%d %H:%M} UTC"
        return Finding("log", "act", detail, "start the publisher, or read its log")
    return Finding("log", "good", f"{edge.size} leaves, as they were signed")


async def examine_quorum(engine: Engine, settings: Settings) -> list[Finding]:
    """Look whether witnesses hold up what is served; nothing where they do not."""
    async with engine.connect() as connection:
        signed = await latest_checkpoint(connection)
        policy = WitnessPolicy(settings.witness_list, settings.witness_quorum)
        served = await newest_checkpoint(connection, policy.ids, policy.quorum)
    if not signed or served == signed:
        return []
    detail = f"{signed.size} entries are signed, {served.size if served else 0} have a quorum"
    fix = "each witness must run, and follow log.vkey: docs/run.md, section Begin a new log"
    return [Finding("witnesses", "advice" if served else "act", detail, fix)]


def _table_of(findings: list[Finding]) -> Table:
    table = Table(box=None, show_header=False)
    for finding in findings:
        advice = f"{finding.detail}. To do: {finding.fix}" if finding.fix else ""
        state = Text(finding.state, style=_COLOURS[finding.state])
        table.add_row(Text(finding.area), state, Text(advice or finding.detail))
    return table
