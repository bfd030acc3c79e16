"""`audit prove`: that one record stands in the log, in a form that proves itself."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from registry.cli.audit.following import Findings
from registry.cli.audit.proven import ProvenEntries
from registry.cli.audit.running import run_audit, tell_refused
from registry.cli.audit.source import LogSource, LogUnreadable
from registry.cli.audit.trust import TrustOptions, trust_options
from registry.cli.output import console, json_option, print_json
from registry.errors import RegistryError
from registry.tlog.checkpoint import VerifiedCheckpoint
from registry.tlog.follow import CHECKPOINT_PATH, verify_head
from registry.tlog.merkle import leaf_hash
from registry.tlog.proof import LogProof, format_log_proof, verify_entry_proof
from registry.tlog.refusals import LogInvalid

READABLE = click.Path(exists=True, dir_okay=False, path_type=Path)
WRITABLE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("arguments", nargs=-1, metavar="[ID_OR_INDEX URL]")
@trust_options
@click.option("--proof", type=READABLE, help="Offline: a c2sp.org/tlog-proof@v1.")
@click.option("--record", type=READABLE, help="Offline: the record's bytes.")
@click.option("--proof-out", type=WRITABLE, help="Where to write the proof.")
@click.option("--record-out", type=WRITABLE, help="Where to write the record.")
@json_option
def prove(
    arguments: tuple[str, ...],
    proof: Path | None,
    record: Path | None,
    proof_out: Path | None,
    record_out: Path | None,
    *,
    as_json: bool,
    **trust: Any,
) -> None:
    """Prove that a record stands in the log.

    Of a log at URL, the proof is made from its tiles. Offline, --proof, --record and
    --key are enough: nobody is asked.
    """
    options = TrustOptions(**trust)
    if proof and record and not arguments:
        document, entry = proof.read_bytes(), record.read_bytes()
        told = _check(document, entry, options, as_json=as_json)
    elif len(arguments) == 2 and not proof and not record:
        subject, url = arguments
        document, entry, told = run_audit(
            url, lambda source: _make(source, subject, options), as_json=as_json
        )
    else:
        raise click.UsageError("give ID_OR_INDEX and URL, or --proof and --record")
    if proof_out:
        proof_out.write_bytes(document)
    if record_out:
        record_out.write_bytes(entry)
    if as_json:
        texts = {"proof": document.decode(), "record": entry.decode(errors="replace")}
        print_json({"proven": True, **told, **texts})
        return
    console.print(
        f"[green]Entry {told['index']} stands in the log[/] {told['origin']} "
        f"of size {told['size']}"
    )
    console.print(f"  leaf {told['leafHash']}")


async def leaf_index_of(source: LogSource, subject: str) -> int:
    """subject: an index, or the id of a record. Raises: LogUnreadable."""
    if subject.isdecimal() and len(subject) < 20:
        return int(subject)
    record_id = subject.partition(".")[0]
    found = await source.ask(f"/v1/records/{quote(record_id, safe='')}")
    index = found.get("leafIndex")
    if not isinstance(index, int):
        raise LogUnreadable(f"{subject} is not published yet; try again in a second")
    return index


async def open_entries(
    source: LogSource, options: TrustOptions
) -> tuple[ProvenEntries, bytes]:
    """The entries below the newest checkpoint, and that note. Raises: Findings."""
    trust = await options.settle(source)
    note = await source.fetch(CHECKPOINT_PATH)
    try:
        head = verify_head(note, trust.log_key, trust.witness_keys, trust.quorum)
    except LogInvalid as invalid:
        raise Findings([invalid]) from invalid
    return ProvenEntries(source, head.checkpoint), note or b""


async def _make(
    source: LogSource, subject: str, options: TrustOptions
) -> tuple[bytes, bytes, dict[str, Any]]:
    """The proof, the entry, and what is told of them."""
    index = await leaf_index_of(source, subject)
    entries, note = await open_entries(source, options)
    if index >= entries.head.size:
        raise LogUnreadable(f"the log has {entries.head.size} entries, none at {index}")
    try:
        entry = await entries.at(index)
        hashes = await entries.proof(index)
    except LogInvalid as invalid:
        raise Findings([invalid]) from invalid
    made = LogProof(index=index, hashes=hashes, checkpoint=note)
    trust = await options.settle(source)
    document = format_log_proof(made)
    found = verify_entry_proof(document, entry, trust.log_key, trust.witness_keys)
    return document, entry, _told(*found, entry)


def _check(
    document: bytes, entry: bytes, options: TrustOptions, *, as_json: bool
) -> dict[str, Any]:
    if options.key is None:
        raise click.UsageError("offline, the log's key must be given with --key")
    trust = options.trust(options.key)
    try:
        found = verify_entry_proof(
            document, entry, trust.log_key, trust.witness_keys, trust.quorum
        )
    except RegistryError as refused:
        tell_refused(refused, as_json=as_json)
        raise SystemExit(1) from refused
    return _told(*found, entry)


def _told(index: int, head: VerifiedCheckpoint, entry: bytes) -> dict[str, Any]:
    return {
        "index": index,
        "origin": head.checkpoint.origin,
        "size": head.checkpoint.size,
        "leafHash": leaf_hash(entry).hex(),
        "witnesses": [one.key.name for one in head.cosignatures],
    }
