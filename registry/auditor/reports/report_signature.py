"""`audit report-signature`: whether a report that was kept is the registry's."""

from pathlib import Path

import click

from registry.auditor.command import print_refusals, registry_options, run_audit
from registry.auditor.source import LogSource
from registry.errors import RegistryError
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import (
    LABELS_TYP,
    REPORT_TYP,
    verify_detached,
)
from registry.terminal.options import READABLE, signature_beside
from registry.terminal.output import console, json_option, print_json
from registry.tlog.note import parse_vkey

promise_key_option = click.option(
    "--promise-key",
    metavar="VKEY",
    help="Who must have signed. Without it the key that the registry names.",
)


@click.command("report-signature")
@click.argument("file", type=READABLE)
@registry_options
@click.option(
    "--signature", type=READABLE, help="The detached JWS. [default: FILE.jws]"
)
@promise_key_option
@click.option("--labels", is_flag=True, help="FILE is a page of GET /v1/labels.")
@json_option
def report_signature(
    file: Path,
    url: str,
    signature: Path | None,
    promise_key: str | None,
    *,
    labels: bool,
    as_json: bool,
) -> None:
    """Check that FILE is a fairness report as the registry signed it."""
    token, body = read_signed(file, signature)
    vkey = promise_key or run_audit(url, fetch_promise_key, as_json=as_json)
    try:
        public = key_of_promises(vkey)
        typ = LABELS_TYP if labels else REPORT_TYP
        verify_detached(token, body, public, typ=typ)
    except RegistryError as refused:
        print_refusals(refused, as_json=as_json)
        raise SystemExit(1) from refused
    if as_json:
        print_json({"verified": True, "file": str(file), "kid": public.kid})
    else:
        whose = "the given key" if promise_key else "the key that the registry names,"
        sentence = f"{file}: signed by {whose} {public.kid}"
        console.print(sentence, soft_wrap=True, markup=False)


def read_signed(file: Path, signature: Path | None = None) -> tuple[bytes, bytes]:
    """The signature, beside the file by default, and the file.

    Raises: click.ClickException.
    """
    beside = signature or signature_beside(file)
    try:
        return beside.read_bytes().strip(), file.read_bytes()
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error


def key_of_promises(vkey: str) -> PublicKey:
    """Raises: Refused."""
    return PublicKey(alg="Ed25519", raw=parse_vkey(vkey).public)


async def fetch_promise_key(source: LogSource) -> str:
    """Return the key of promises as a verifier key. Raises: LogUnreadable."""
    return str((await source.get_json("/v1/log"))["promiseKey"])
