"""`audit promises`: whether what the registry promised with its answers was kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click
import msgspec

from registry.auditor.command import (
    EXIT_UNPROVEN,
    decode_lines,
    named_registry_option,
    print_refusals,
    run_audit,
    sole_registry,
)
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.prove import open_entries
from registry.auditor.source import LogSource, LogUnreadable, NotThere
from registry.auditor.trust import TrustOptions, trust_options
from registry.auditor.verify import follow, state_option
from registry.calls.promise_file import PromiseLine
from registry.errors import RegistryError
from registry.records.evidence import (
    Evidence,
    is_well_before,
    is_well_behind,
    parse_evidence,
    verify_evidence,
)
from registry.records.promise import Promise, parse_promise, verify_promise
from registry.records.record import parse_record
from registry.records.rules.calendar_days import MERGE_DELAY, OUT_OF_ORDER
from registry.terminal.options import READABLE
from registry.terminal.output import console, errors, json_option, print_json, shown
from registry.tlog.edge import edge_runs, rebuild_edge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import format_vkey, parse_vkey
from registry.tlog.proof import consistency_runs, prove_consistency
from registry.tlog.refusals import LOG_ENTRY_OTHER, LogInvalid
from registry.tlog.tiles import TILE_WIDTH

LONG_AGO = datetime.min.replace(tzinfo=UTC)
SUCCESSES = {"kept", "not due"}
ANSWERED_IN = timedelta(minutes=5)
"""Time in which each search has its own answer: one of before leaves out what came since."""
CLOCKS = timedelta(seconds=1)  # of two web processes may differ by so much
UNPROVEN = (
    "Not proven: a clock alone shows that its time was over, no entry of the log."
)


@click.command()
@click.argument("file", type=READABLE)
@click.argument("url", metavar="[URL]", required=False)
@named_registry_option
@trust_options
@state_option
@click.option("--promise-key", metavar="VKEY", help="The registry's by default.")
@click.option(
    "--evidence",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    help="Where to write evidence of a broken promise.",
)
@json_option
def promises(
    file: Path,
    url: str | None,
    named: str | None,
    state: Path | None,
    *,
    promise_key: str | None,
    folder: Path,
    as_json: bool,
    **trust: Any,
) -> None:
    """Check that every promise in FILE was kept by the log of the registry.

    FILE has a line for each answer, as `Client(promises=FILE)` writes it, with
    the registry that gave it. The command asks this registry or the one you name, and
    verifies its log: a record that is late is out of order in it.
    """
    options = TrustOptions(**trust)
    receipts = list(decode_lines(file.read_bytes().splitlines(), PromiseLine))
    address = sole_registry(url, named) or _registry_of(receipts)

    async def work(source: LogSource) -> list[dict[str, Any]]:
        vkey = promise_key or str((await source.get_json("/v1/log"))["promiseKey"])
        entries, note = await open_entries(source, options)
        log_key = format_vkey((await options.settle(source)).log_key)
        check = _Check(source, entries, note, log_key, vkey)
        verdicts = await check.judge_all(receipts, folder)
        if {verdict.outcome for verdict in verdicts} <= SUCCESSES:
            log = await follow(source, options, state)
            await check.stand_in(ProvenEntries(source, log.checkpoint), verdicts)
        return [
            {"id": receipt.id, "outcome": verdict.outcome, "detail": verdict.detail}
            for receipt, verdict in zip(receipts, verdicts, strict=True)
        ]

    checks = run_audit(address, work, as_json=as_json)
    if as_json:
        print_json({"promises": checks})
    else:
        for check in checks:
            console.print_line(shown("{id}: {outcome} {detail}".format_map(check)))
    if others := {check["outcome"] for check in checks} - SUCCESSES:
        raise SystemExit(EXIT_UNPROVEN if others == {"old"} else 1)


@click.command()
@click.argument("file", type=READABLE)
@click.option("--witness", "witnesses", multiple=True, metavar="VKEY")
@json_option
def evidence(file: Path, witnesses: tuple[str, ...], *, as_json: bool) -> None:
    """Check the evidence of a broken promise in FILE, asking nobody.

    Exit code 3: nothing but a clock shows that the promised time was over.
    """
    try:
        keys = [parse_vkey(witness) for witness in witnesses]
        parsed = parse_evidence(file.read_bytes())
        broken = verify_evidence(parsed, keys)
    except RegistryError as refused:
        print_refusals(refused, as_json=as_json)
        raise SystemExit(1) from refused
    is_proven = broken.shown_by == "record"
    summary = {
        "broken": is_proven,
        "leafHash": broken.leaf.hex(),
        "promisedAt": broken.promise.promised_at.isoformat(),
        "promiseKey": parsed.promise_key,
        "logKey": parsed.log_key,
        "size": broken.checkpoint.checkpoint.size,
        "first": broken.first_index,
        "last": broken.last_index,
        "shownBy": broken.shown_by,
    }
    if as_json:
        print_json(summary)
    else:
        console.print("[red]The promise was broken.[/]" if is_proven else UNPROVEN)
        console.print_line(
            f"Promised at {summary['promisedAt']}: leaf {summary['leafHash']}. It is none "
            f"of the entries {summary['first']}..{summary['last']} of the log of size "
            f"{summary['size']}, which are all that could be it. That the time was over is "
            f"shown by the {summary['shownBy']}. Compare the keys with those that the "
            f"registry publishes:\n  {summary['promiseKey']}\n  {summary['logKey']}"
        )
    if not is_proven:
        raise SystemExit(EXIT_UNPROVEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPromise:
    """outcome: kept, late, not due, ahead, foreign, other, old or broken.

    index: where the record stands.
    """

    outcome: str
    detail: str
    index: int = -1
    promised_at: datetime = LONG_AGO


def to_the_second(verdicts: Sequence[JudgedPromise]) -> list[JudgedPromise]:
    """Find more that are late: those behind a record that was accepted after their time.

    Records have their minute only, but promises the instant of acceptance, before which
    no record can be in the log.
    """
    late: dict[int, JudgedPromise] = {}
    newest = LONG_AGO
    ordered = sorted(verdicts, key=lambda verdict: verdict.index)
    for verdict in (verdict for verdict in ordered if verdict.outcome == "kept"):
        if newest - verdict.promised_at >= MERGE_DELAY + CLOCKS:
            by = (newest - verdict.promised_at).total_seconds()
            detail = (
                f"entry {verdict.index} stands behind one accepted {by:.1f} s later"
            )
            late[verdict.index] = replace(verdict, outcome="late", detail=detail)
        newest = max(newest, verdict.promised_at)
    return [late.get(verdict.index, verdict) for verdict in verdicts]


@dataclass(slots=True)
class _Check:
    """Check promises against one checkpoint, whose note it is."""

    source: LogSource
    entries: ProvenEntries
    note: bytes
    log_key: str
    promise_key: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    async def judge_all(
        self, receipts: Sequence[PromiseLine], folder: Path
    ) -> Sequence[JudgedPromise]:
        """Raises: LogInvalid."""
        return to_the_second([await self.judge(line, folder) for line in receipts])

    async def judge(self, receipt: PromiseLine, folder: Path) -> JudgedPromise:
        """Raises: LogInvalid."""
        try:
            leaf = bytes.fromhex(receipt.leaf_hash)
            promise = parse_promise(receipt.promise)
            verify_promise(promise, leaf, parse_vkey(self.promise_key).public)
        except (RegistryError, ValueError) as error:
            return JudgedPromise(outcome="foreign", detail=str(error))
        if promise.promised_at > (receipt.received_at or self.now) + OUT_OF_ORDER:
            return JudgedPromise(outcome="ahead", detail="dated after it was received")
        hinted = await self._hinted_index(receipt.id)
        if hinted is not None and leaf_hash(await self.entries.at(hinted)) == leaf:
            return await self._judge_record(hinted, promise, receipt)
        if self.now < promise.promised_at + OUT_OF_ORDER:
            return JudgedPromise(outcome="not due", detail="ask again in two minutes")
        index, evidence = await self._search(leaf, promise, receipt)
        if index is not None:
            return await self._judge_record(index, promise, receipt)
        file = _write(folder, leaf, evidence)
        errors.print(f"[red]A broken promise:[/] the evidence is in {file}")
        return JudgedPromise(outcome="broken", detail=str(file))

    async def stand_in(
        self, verified: ProvenEntries, verdicts: Sequence[JudgedPromise]
    ) -> None:
        """Find the records in a log that was verified: this one may have been another.

        Only a whole log shows its order: decoys of an old time hide a late record from
        whoever looks at the entries around it. Raises: LogInvalid, LogUnreadable.
        """
        for index in sorted(
            verdict.index for verdict in verdicts if verdict.index >= 0
        ):
            if index >= verified.head.size:
                raise NotThere(f"the log that was verified ends before entry {index}")
            if await verified.at(index) != await self.entries.at(index):
                detail = f"entry {index} is another than a moment ago"
                raise LogInvalid(LOG_ENTRY_OTHER, detail, path="", entry_index=index)

    async def _judge_record(
        self, index: int, promise: Promise, receipt: PromiseLine
    ) -> JudgedPromise:
        """Judge a record: one entry may be promised to many, but has one id."""
        record = parse_record(await self.entries.at(index))
        if (own := record.get("id")) != receipt.id.partition(".")[0]:
            return JudgedPromise(outcome="other", detail=f"entry {index} is {own}")
        since = receipt.received_at or promise.promised_at
        if record["kind"] == "ranking" and since > promise.promised_at + ANSWERED_IN:
            detail = f"an answer of {promise.promised_at.isoformat()}, by your clock"
            return JudgedPromise(outcome="old", detail=detail)
        return await self._judge_time(index, promise)

    async def _judge_time(self, index: int, promise: Promise) -> JudgedPromise:
        """Judge the time: late if a record before it was made after the delay.

        More than the last are looked at: late records stand behind each other.
        """
        bundle = await self.entries.bundle(max(0, index - 1) // TILE_WIDTH)
        before = bundle[: (index - 1) % TILE_WIDTH + 1] if index else ()
        if any(is_well_behind(entry, promise) for entry in before):
            detail = f"entry {index} stands behind records of a later time"
            return JudgedPromise(outcome="late", detail=detail)
        verdict = JudgedPromise(outcome="kept", detail=f"entry {index}", index=index)
        return replace(verdict, promised_at=promise.promised_at)

    async def _hinted_index(self, record_id: str) -> int | None:
        """Return the index that the registry names: it saves a search, and is not believed."""
        try:
            path = f"/v1/records/{quote(record_id, safe='')}"
            index = (await self.source.get_json(path)).get("leafIndex")
        except LogUnreadable:
            return None
        is_there = isinstance(index, int) and 0 <= index < self.entries.head.size
        return index if is_there else None

    async def _search(
        self, leaf: bytes, promise: Promise, receipt: PromiseLine
    ) -> tuple[int | None, Evidence | None]:
        """Return the index of the leaf, or the evidence that it is not there in time."""
        first, leaves = -1, list[bytes]()
        first_entry = last_entry = b""
        bundles = self.entries.bundles_from(lambda e: is_well_before(e, promise))
        async for number, bundle in bundles:
            hashed = [leaf_hash(entry) for entry in bundle]
            if leaf in hashed:
                return number * TILE_WIDTH + hashed.index(leaf), None
            if first < 0:
                first, first_entry = number * TILE_WIDTH, bundle[0]
            last_entry = bundle[-1]
            leaves += hashed
            if is_well_behind(last_entry, promise):
                break
        size = first + len(leaves)
        return None, Evidence(
            version="fair-registry/broken-promise/v1",
            log_key=self.log_key,
            promise_key=self.promise_key,
            leaf_hash=receipt.leaf_hash,
            promise=receipt.promise,
            checkpoint=self.note.decode(),
            first_index=first,
            levels=await self._levels(first),
            leaves=leaves,
            consistency=await self._consistency(size),
            first_entry=first_entry.decode(),
            last_entry=last_entry.decode(),
            seen_at=self.now,
        )

    async def _levels(self, size: int) -> list[list[bytes]]:
        """Return the levels of the edge of the tree of that size."""
        edge = rebuild_edge(size, await self.entries.reader(edge_runs(size)))
        return [list(level) for level in edge.levels]

    async def _consistency(self, size: int) -> list[bytes]:
        head = self.entries.head.size
        if size in {0, head}:
            return []
        read = await self.entries.reader(consistency_runs(size, head))
        return list(prove_consistency(size, head, read))


def _write(folder: Path, leaf: bytes, evidence: Evidence | None) -> Path:
    """Named by the leaf: what the registry calls the record may be no file's name."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"broken-promise-{leaf.hex()[:16]}.json"
    file.write_bytes(msgspec.json.encode(evidence) + b"\n")
    return file


def _registry_of(receipts: list[PromiseLine]) -> str:
    """Return the registry that gave all of them. Raises: click.UsageError."""
    registries = {receipt.registry for receipt in receipts}
    if len(registries) != 1:
        names = ", ".join(sorted(registries)) or "none"
        raise click.UsageError(f"FILE names {names}; give --registry")
    return registries.pop()
