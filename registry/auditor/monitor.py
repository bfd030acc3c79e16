"""`audit monitor`: what is new in the log about a site, or of an operator."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from registry.auditor.command import registry_options, run_audit
from registry.auditor.follow_log import VerifiedLog
from registry.auditor.source import LogSource
from registry.auditor.trust import TrustOptions, trust_options
from registry.auditor.verify import follow, state_option
from registry.records.record import parse_record
from registry.records.record_fields import KIND_OF_ACT
from registry.terminal.output import console, errors, json_option, shown

SOMETHING_NEW = 3
ABOUT_SITES = {*KIND_OF_ACT.values(), "moderation", "label"}
BY_OPERATORS = {"ranking", "selection"}
_SHOWN = (
    *("act", "reason", "kid", "opn", "ranking", "site", "outcome"),
    *("size", "independence", "chain", "commission", "observed"),
)


@click.command()
@registry_options
@click.option("--host", help="A listed site: what it signed and what was done to it.")
@click.option(
    "--site", help="The site's id, so that you need not trust the registry for it."
)
@click.option("--operator", help="Its rankings and selections, by their counter.")
@trust_options
@state_option
@json_option
def monitor(
    url: str,
    host: str | None,
    site: str | None,
    operator: str | None,
    state: Path | None,
    *,
    as_json: bool,
    **trust: Any,
) -> None:
    """Print what is new about a site, or of an operator, since the last run.

    Each run verifies the log from where the last one ended. Exit code 0: nothing is
    new; 3: something is; 1: the log is not sound. With --json, one record a line.
    """
    if [host, site, operator].count(None) != 2:
        raise click.UsageError("give --host, --site or --operator")
    if state is None:
        raise click.UsageError("--state keeps what was seen; without it all is new")
    options = TrustOptions(**trust)
    watcher = Watcher(as_json=as_json)

    async def work(source: LogSource) -> VerifiedLog:
        name, value = "site" if operator is None else "op", site or operator
        if host is not None:
            path = f"/v1/sites/{quote(host, safe='')}"
            value = (await source.get_json(path))["id"]
            errors.print_line(shown(f"{host} is site {value}: the registry's word"))
        watcher.look_for(name, str(value))
        watched = f"{name} {value}"
        return await follow(source, options, state, watch=watcher.see, watched=watched)

    log = run_audit(url, work, as_json=as_json)
    for notice in log.notices:
        errors.print_line(notice)
    if not as_json:
        console.print(
            f"{watcher.count} new in entries {log.first}..{log.checkpoint.size}"
        )
    raise SystemExit(SOMETHING_NEW if watcher.count else 0)


class Watcher:
    """A printer of the records in which a member has a value. count: of printed ones."""

    def __init__(self, *, as_json: bool) -> None:
        self.count = 0
        self._as_json = as_json
        self._name, self._value, self._sought = "", "", b""

    def look_for(self, name: str, value: str) -> None:
        self._name, self._value = name, value
        self._sought = f'"{name}":{json.dumps(value)}'.encode()

    def see(self, index: int, entry: bytes) -> None:
        """Parses only what holds the bytes that are sought."""
        if self._sought not in entry:
            return
        members = parse_record(entry)
        kinds = ABOUT_SITES if self._name == "site" else BY_OPERATORS
        if members["kind"] not in kinds or members.get(self._name) != self._value:
            return
        self.count += 1
        if self._as_json:
            click.echo(json.dumps({"index": index, "record": members}))
        else:
            record: dict[str, Any] = {**members}
            known = [name for name in _SHOWN if record.get(name) is not None]
            text = shown(", ".join(f"{name} {record[name]}" for name in known))
            console.print_line(f"{index:>10} {record['t']} {record['kind']} {text}")
