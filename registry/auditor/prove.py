"""`audit prove`: that one record stands in the log, in a form that proves itself."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from registry.auditor.command import (
    named_registry_option,
    print_refusals,
    run_audit,
    sole_registry,
)
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.source import LogSource, NotThere
from registry.auditor.trust import TrustOptions, trust_options
from registry.errors import Refused, RegistryError
from registry.records.record import parse_record
from registry.sites.identifier import ULID_LENGTH
from registry.terminal.options import READABLE, WRITABLE
from registry.terminal.output import DEFAULT_URL, console, json_option, print_json
from registry.tlog.checkpoint import VerifiedCheckpoint
from registry.tlog.follow import CHECKPOINT_PATH, verify_head
from registry.tlog.merkle import leaf_hash
from registry.tlog.proof import LogProof, format_log_proof, verify_entry_proof
from registry.tlog.refusals import LOG_ENTRY_OTHER, LogInvalid
from registry.tlog.tiles import TILE_WIDTH, Bundle, format_tile_path


@click.command()
@click.argument("arguments", nargs=-1, metavar="[ID_OR_INDEX]")
@named_registry_option
@trust_options
@click.option("--proof", type=READABLE, help="Offline: a c2sp.org/tlog-proof@v1.")
@click.option("--record", type=READABLE, help="Offline: the record's bytes.")
@click.option(
    "--leaf-hash",
    "expected_hash",
    help="The leaf hash that the record must have, in hex.",
)
@click.option("--proof-out", type=WRITABLE, help="Where to write the proof.")
@click.option("--record-out", type=WRITABLE, help="Where to write the record.")
@json_option
def prove(
    arguments: tuple[str, ...],
    named: str | None,
    proof: Path | None,
    record: Path | None,
    expected_hash: str | None,
    *,
    proof_out: Path | None,
    record_out: Path | None,
    as_json: bool,
    **trust: Any,
) -> None:
    """Prove that the record with this id and leaf hash is in the log.

    Of a registry, or a copy of its log, the proof is made from its tiles. Offline, --proof, --record and
    --key are enough: nobody is asked.
    """
    options = TrustOptions(**trust)
    if proof and record and not arguments:
        document, entry = proof.read_bytes(), record.read_bytes()
        summary = _check(document, entry, options, expected_hash, as_json=as_json)
    elif len(arguments) in {1, 2} and not proof and not record:
        subject, *older = arguments
        document, entry, summary = run_audit(
            sole_registry(older[0] if older else None, named) or DEFAULT_URL,
            lambda source: _make(source, subject, options, expected_hash),
            as_json=as_json,
        )
    else:
        raise click.UsageError("give ID_OR_INDEX, or --proof and --record")
    if proof_out:
        proof_out.write_bytes(document)
    if record_out:
        record_out.write_bytes(entry)
    if as_json:
        texts = {"proof": document.decode(), "record": entry.decode(errors="replace")}
        print_json({"proven": True, **summary, **texts})
        return
    console.print(
        f"[green]Entry {summary['index']} stands in the log[/] {summary['origin']} "
        f"of size {summary['size']}"
    )
    console.print(f"  leaf {summary['leafHash']}")


async def leaf_index_of(source: LogSource, subject: str) -> int:
    """subject: an index, or the id of a record. Raises: LogUnreadable."""
    if _is_index(subject):
        return int(subject)
    record_id = subject.partition(".")[0]
    record = await source.get_json(f"/v1/records/{quote(record_id, safe='')}")
    index = record.get("leafIndex")
    if type(index) is not int or index < 0:
        raise NotThere(f"{subject} is not published yet; try again in a second")
    return index


def _is_index(subject: str) -> bool:
    """Return whether it is none of 26 characters: a registry may make up an id of digits."""
    return subject.isdecimal() and len(subject) < ULID_LENGTH


async def open_entries(
    source: LogSource, options: TrustOptions
) -> tuple[ProvenEntries, bytes]:
    """The entries below the newest checkpoint, and that note. Raises: LogInvalid."""
    trust = await options.settle(source)
    note = await source.fetch(CHECKPOINT_PATH)
    head = verify_head(note, trust.log_key, trust.witness_keys, trust.quorum)
    return ProvenEntries(source, head.checkpoint), note or b""


async def _make(
    source: LogSource, subject: str, options: TrustOptions, expected_hash: str | None
) -> tuple[bytes, bytes, dict[str, Any]]:
    """Return the proof, the entry and a summary of both.

    Raises: LogInvalid, LogUnreadable.
    """
    index = await leaf_index_of(source, subject)
    entries, note = await open_entries(source, options)
    if index >= entries.head.size:
        raise NotThere(f"the log has {entries.head.size} entries, none at {index}")
    entry = await entries.at(index)
    _verify_subject(entry, index, subject, expected_hash)
    hashes = await entries.proof(index)
    proof = LogProof(index=index, hashes=hashes, checkpoint=note)
    trust = await options.settle(source)
    document = format_log_proof(proof)
    verified = verify_entry_proof(document, entry, trust.log_key, trust.witness_keys)
    return document, entry, _summary(*verified, entry)


def _verify_subject(
    entry: bytes, index: int, subject: str, expected_hash: str | None
) -> None:
    """Compare the entry with what was asked for: the registry names its index alone.

    Raises: LogInvalid.
    """
    record_id = subject.partition(".")[0]
    is_other = not _is_index(subject) and parse_record(entry).get("id") != record_id
    if is_other or not has_leaf_hash(entry, expected_hash):
        raise LogInvalid(
            LOG_ENTRY_OTHER,
            f"entry {index} is not {record_id if is_other else expected_hash}",
            path=format_tile_path(Bundle(index=index // TILE_WIDTH)),
            entry_index=index,
        )


def has_leaf_hash(entry: bytes, expected: str | None) -> bool:
    """Return whether the entry has this leaf hash, in hex; None: any."""
    return expected is None or leaf_hash(entry).hex() == expected.lower()


def _check(
    document: bytes,
    entry: bytes,
    options: TrustOptions,
    expected_hash: str | None,
    *,
    as_json: bool,
) -> dict[str, Any]:
    if options.key is None:
        raise click.UsageError("offline, the log's key must be given with --key")
    trust = options.trust(options.key)
    try:
        verified = verify_entry_proof(
            document, entry, trust.log_key, trust.witness_keys, trust.quorum
        )
        if not has_leaf_hash(entry, expected_hash):
            raise Refused(LOG_ENTRY_OTHER, f"the record is not {expected_hash}")
    except RegistryError as refused:
        print_refusals(refused, as_json=as_json)
        raise SystemExit(1) from refused
    return _summary(*verified, entry)


def _summary(index: int, head: VerifiedCheckpoint, entry: bytes) -> dict[str, Any]:
    return {
        "index": index,
        "origin": head.checkpoint.origin,
        "size": head.checkpoint.size,
        "leafHash": leaf_hash(entry).hex(),
        "witnesses": [cosignature.key.name for cosignature in head.cosignatures],
    }
