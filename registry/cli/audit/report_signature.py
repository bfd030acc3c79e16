"""`audit report-signature`: whether a report that was kept is the registry's."""

from pathlib import Path

import click

from registry.cli.audit.running import run_audit, tell_refused
from registry.cli.audit.source import LogSource
from registry.cli.output import DEFAULT_URL, console, json_option, print_json
from registry.cli.reporting import signature_beside
from registry.errors import RegistryError
from registry.identity.detached_jws import REPORT_TYP, verify_detached
from registry.identity.keys import PublicKey
from registry.tlog.note import parse_vkey

READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("report-signature")
@click.argument("file", type=READABLE)
@click.argument("url", default=DEFAULT_URL, envvar="FAIR_REGISTRY_URL")
@click.option(
    "--signature", type=READABLE, help="The detached JWS. [default: FILE.jws]"
)
@click.option(
    "--promise-key",
    metavar="VKEY",
    help="Who must have signed. Without it the key that the registry at URL names.",
)
@json_option
def report_signature(
    file: Path,
    url: str,
    signature: Path | None,
    promise_key: str | None,
    *,
    as_json: bool,
) -> None:
    """Check that FILE is a fairness report as the registry signed it."""
    beside = signature or signature_beside(file)
    try:
        token, body = beside.read_bytes().strip(), file.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    vkey = promise_key or run_audit(url, _ask_key, as_json=as_json)
    try:
        public = PublicKey(alg="Ed25519", raw=parse_vkey(vkey).public)
        verify_detached(token, body, public, typ=REPORT_TYP)
    except RegistryError as refused:
        tell_refused(refused, as_json=as_json)
        raise SystemExit(1) from refused
    if as_json:
        print_json({"verified": True, "file": str(file), "kid": public.kid})
    else:
        told = f"{file}: signed by the registry's key {public.kid}"
        console.print(told, soft_wrap=True, markup=False)


async def _ask_key(source: LogSource) -> str:
    return str((await source.ask("/v1/log"))["promiseKey"])
