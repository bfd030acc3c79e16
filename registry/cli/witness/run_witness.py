"""`witness`: a witness of other registries' logs."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server.embed import Server

from registry.auditor.source import LogUnreadable, open_source
from registry.cli.service.ports import verify_port_is_free
from registry.cli.witness.witness_app import create_app
from registry.cli.witness.witness_state import WitnessedLog, WitnessState
from registry.errors import RegistryError
from registry.observability import configure_logging
from registry.process import stop_requested
from registry.terminal.options import READABLE
from registry.terminal.output import console
from registry.tlog.note import NoteAlgorithm, VerifierKey, format_vkey, parse_vkey
from registry.web.granian_options import CONNECTIONS, HEAD_TIMEOUT_MS


@click.command()
@click.option(
    "--follow",
    "followed",
    multiple=True,
    required=True,
    metavar="URL|VKEY",
    help="A registry, whose key is asked for once, or a log's verifier key.",
)
@click.option("--name", help="Of the witness, such as its domain; for life.")
@click.option("--host", default="127.0.0.1", show_default=True, help="To listen on.")
@click.option("--port", default=8090, show_default=True, help="To listen on.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(".data/witness"),
    show_default=True,
    help="Folder of its key and of what it has cosigned.",
)
@click.option(
    "--certificate", type=READABLE, help="PEM, to speak https without a proxy."
)
@click.option("--certificate-key", type=READABLE, help="PEM, of the certificate.")
def witness(  # noqa: PLR0917 — options
    followed: tuple[str, ...],
    name: str | None,
    host: str,
    port: int,
    data: Path,
    certificate: Path | None,
    certificate_key: Path | None,
) -> None:
    """Cosign the checkpoints of the logs that --follow names, until SIGTERM.

    What follows is one history for each log: a checkpoint that does not extend the last
    one cosigned is refused, also after a restart.
    """
    configure_logging("console", "info")
    verify_port_is_free(host, port)
    state = WitnessState(data, name)
    asyncio.run(follow_logs(state, followed))
    server = Server(
        create_app(state),
        address=host,
        port=port,
        interface=Interfaces.ASGI,
        websockets=False,
        backpressure=CONNECTIONS,
        http1_settings=HTTP1Settings(header_read_timeout=HEAD_TIMEOUT_MS),
        log_level=LogLevels.error,
        ssl_cert=certificate,
        ssl_key=certificate_key,
    )
    for log in state.logs.values():
        size = log.cosigned.size if log.cosigned else 0
        console.print_line(f"Follows {log.origin} from size {size}.")
    console.print_line(f"The witness's verifier key: {state.vkey}")
    asyncio.run(_serve(server))


async def _serve(server: Server) -> None:
    stop = stop_requested()
    serving = asyncio.create_task(server.serve())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    server.stop()  # type: ignore[no-untyped-call]
    stopping.cancel()
    await serving


async def follow_logs(state: WitnessState, followed: Sequence[str]) -> None:
    """Make these all that the witness knows, and store their keys.

    followed: URLs or verifier keys. Raises: click.ClickException, OSError.
    """
    logs = [await _log_of(state, named) for named in followed]
    state.logs.clear()
    for log in logs:
        state.save(log)


async def _log_of(state: WitnessState, named: str) -> WitnessedLog:
    """named: a URL or a verifier key. Raises: click.ClickException."""
    is_url = "://" in named
    known = next((log for log in state.logs.values() if named == log.url), None)
    if is_url and known is not None:
        return known
    key = _parse(await _fetch_vkey(named) if is_url else named)
    log = state.logs.get(key.name, WitnessedLog(keys=[]))
    vkey = format_vkey(key)
    if is_url and log.keys and vkey not in log.keys:
        raise click.ClickException(
            f"{named} names another key of the log {key.name} than the one followed; "
            f"if its operator has replaced it, --follow '{vkey}'"
        )
    keys = log.keys if vkey in log.keys else [*log.keys, vkey]
    return msgspec.structs.replace(log, keys=keys, url=named if is_url else log.url)


async def _fetch_vkey(url: str) -> str:
    try:
        async with open_source(url) as source:
            return str((await source.get_json("/v1/log")).get("verifierKey"))
    except LogUnreadable as unreadable:
        raise click.ClickException(str(unreadable)) from unreadable


def _parse(vkey: str) -> VerifierKey:
    try:
        key = parse_vkey(vkey)
    except RegistryError as refused:
        raise click.ClickException(f"{vkey}: {refused.problem.detail}") from refused
    if key.algorithm is not NoteAlgorithm.ED25519:
        raise click.ClickException(f"{vkey} is a witness's key, and no log's")
    return key
