"""`audit verify`: reading the served log and checking every hash and record of it."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from registry.auditor.command import registry_options, run_audit
from registry.auditor.follow_log import Follower, VerifiedLog
from registry.auditor.source import LogSource, RemoteSource
from registry.auditor.state import load_state
from registry.auditor.trust import TrustOptions, trust_options
from registry.terminal.output import console, json_option, print_json
from registry.terminal.printable import counted

state_option = click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File that keeps what was verified: the next run reads only what is new, "
    "finds a log that was rewritten, and goes on where this one was interrupted.",
)


@click.command()
@registry_options
@trust_options
@state_option
@click.option(
    "--all", "collect", is_flag=True, help="Show up to 100 findings, not the first."
)
@json_option
def verify(
    url: str, state: Path | None, *, collect: bool, as_json: bool, **trust: Any
) -> None:
    """Check the registry's log: tiles, signatures, and the rules for its entries.

    --registry may be a registry, a static copy of its log, or a folder.
    """
    options = TrustOptions(**trust)

    async def work(source: LogSource) -> VerifiedLog:
        return await follow(source, options, state, collect=collect)

    log = run_audit(url, work, as_json=as_json)
    if as_json:
        print_json(log.summary())
    else:
        print_verified(log)


async def follow(
    source: LogSource, options: TrustOptions, state: Path | None, **how: Any
) -> VerifiedLog:
    """The log, verified on from what the state file has.

    Raises: as Follower.run; click.ClickException if the state is of another log, or of
    a watch of another: what it passed over were news.
    """
    known, watched = load_state(state), how.get("watched", "")
    if known and known.watched not in {"", watched}:
        other = watched or "this"
        raise click.ClickException(
            f"{state} watches {known.watched}: {other} takes another"
        )
    trust = await options.settle(source, known.key if known else None)
    if known and known.head.origin != trust.log_key.name:
        raise click.ClickException(f"{state} is the state of {known.head.origin}")
    return await Follower(source, trust, state=known, keep=state, **how).run()


async def verify_log(url: str) -> VerifiedLog:
    """The whole log of a registry, by its own key. Raises: Findings, LogUnreadable."""
    with closing(RemoteSource(url)) as source:
        return await follow(source, TrustOptions(), None)


def print_verified(log: VerifiedLog) -> None:
    size = log.checkpoint.size
    console.print(f"[green]The log is sound:[/] {counted(size, 'entry')}")
    if log.first:
        console.print(f"  the first {log.first} were verified before")
    for kind, count in log.records.items():
        console.print(f"  {count:>8} {kind}")
    for cosignature in log.head.cosignatures:
        at = datetime.fromtimestamp(min(cosignature.cosigned_unix_s or 0, 2**35), UTC)
        console.print(
            f"  cosigned by {cosignature.key.name} at {at:%Y-%m-%dT%H:%M:%SZ}"
        )
    for notice in log.notices:
        console.print(f"  [yellow]{notice}[/]")
    console.print(f"  root {log.checkpoint.root.hex()}")
