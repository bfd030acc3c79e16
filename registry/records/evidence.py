"""Evidence of a broken promise, which anyone can check without asking anybody.

The registry signed that a record would be in its log, and signed a checkpoint later.
The evidence holds the leaves of that log around the promised time, joined to the
checkpoint by hashes alone: the edge of the tree before them, and a consistency proof
behind them. The record's leaf is not among them. The first of them is a record from well
before the promise and the last one from well after it, so no other place is left.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Annotated, Literal

import msgspec

from registry.errors import Refused
from registry.records.promise import Promise, parse_promise, verify_promise
from registry.records.record import parse_record
from registry.records.refusals import EVIDENCE_INVALID
from registry.records.rules.calendar_days import MERGE_DELAY, OUT_OF_ORDER, RESOLUTION
from registry.tlog.checkpoint import VerifiedCheckpoint, verify_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash, verify_consistency
from registry.tlog.note import VerifierKey, parse_vkey

How = Literal["record", "witness", "reporter"]


class Evidence(
    msgspec.Struct, rename="camel", kw_only=True, forbid_unknown_fields=True
):
    """log_key, promise_key: C2SP verifier keys. leaf_hash: in hex.

    first_index: of `leaves`. levels: of the edge of the tree of the leaves before them.
    consistency: from their end to the checkpoint. first_entry: the entry of the first
    leaf, "" where the log begins there; last_entry: that of the last leaf.
    seen_at: by the clock of who reports it.
    """

    version: Literal["fair-registry/broken-promise/v1"]
    log_key: str
    promise_key: str
    leaf_hash: str
    promise: dict[str, str]
    checkpoint: str
    first_index: int
    levels: list[list[bytes]]
    leaves: list[bytes]
    consistency: list[bytes]
    first_entry: str
    last_entry: str
    seen_at: Annotated[datetime, msgspec.Meta(tz=True)]


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenPromise:
    """Promise that the evidence shows broken. last_index: of the last leaf that was looked at.

    shown_by: how it is known that the checkpoint is late enough. Only a record in the log
    proves it: the reporter may lie, and a witness may cosign an older checkpoint late.
    """

    promise: Promise
    leaf: bytes
    checkpoint: VerifiedCheckpoint
    first_index: int
    last_index: int
    shown_by: How


def parse_evidence(data: bytes) -> Evidence:
    """Raises: Refused."""
    with Refused.on(ValueError, EVIDENCE_INVALID, "not of its form: {}".format):
        return msgspec.json.decode(data, type=Evidence)


def verify_evidence(
    evidence: Evidence, witness_keys: Sequence[VerifierKey] = ()
) -> BrokenPromise:
    """The broken promise. Raises: Refused if the evidence does not show it.

    That the two keys are the registry's is for the reader to know.
    """
    # 1. The registry promised this leaf.
    leaf = _unhex(evidence.leaf_hash)
    promise = parse_promise(evidence.promise)
    verify_promise(promise, leaf, parse_vkey(evidence.promise_key).public)
    # 2. The log signed the checkpoint.
    log_key = parse_vkey(evidence.log_key)
    head = verify_checkpoint(evidence.checkpoint.encode(), log_key, witness_keys)
    # 3. The leaves are leaves of its tree.
    edge = TreeEdge(
        size=evidence.first_index, levels=tuple(map(tuple, evidence.levels))
    )
    edge, _ = edge.append(evidence.leaves)
    verify_consistency(
        evidence.consistency,
        old_size=edge.size,
        new_size=head.checkpoint.size,
        old_root=edge.root(),
        new_root=head.checkpoint.root,
    )
    # 4. They are all that could be it, and it is none of them.
    if leaf in evidence.leaves:
        raise Refused(EVIDENCE_INVALID, "the leaf is among those of the log")
    _check_begin(evidence, promise)
    shown_by = _check_end(evidence, promise, head)
    return BrokenPromise(
        promise=promise,
        leaf=leaf,
        checkpoint=head,
        first_index=evidence.first_index,
        last_index=edge.size - 1,
        shown_by=shown_by,
    )


@lru_cache(maxsize=4_096)  # promises of one minute stand behind the same entries
def minute_of(entry: bytes) -> datetime:
    """Return when the record was made, cut to the minute. Raises: Refused."""
    minute = str(parse_record(entry)["t"])
    with Refused.on(ValueError, EVIDENCE_INVALID, f"no such time: {minute}"):
        return datetime.fromisoformat(minute)


def is_well_before(entry: bytes, promise: Promise) -> bool:
    """Return whether all entries before this one are older than the promise."""
    return minute_of(entry) + RESOLUTION + OUT_OF_ORDER <= promise.promised_at


def is_well_behind(entry: bytes, promise: Promise) -> bool:
    """Return whether the merge delay was over when the entry's record was made."""
    return minute_of(entry) >= promise.promised_at + OUT_OF_ORDER


def _check_begin(evidence: Evidence, promise: Promise) -> None:
    if evidence.first_index == 0:
        return
    entry = _entry(evidence.first_entry, evidence.leaves[:1])
    if not is_well_before(entry, promise):
        raise Refused(EVIDENCE_INVALID, "it begins too late: the leaf may stand before")


def _check_end(evidence: Evidence, promise: Promise, head: VerifiedCheckpoint) -> How:
    if is_well_behind(_entry(evidence.last_entry, evidence.leaves[-1:]), promise):
        return "record"
    if evidence.first_index + len(evidence.leaves) != head.checkpoint.size:
        raise Refused(EVIDENCE_INVALID, "it ends too early: the leaf may stand behind")
    times = [cosignature.cosigned_unix_s or 0 for cosignature in head.cosignatures]
    seen = datetime.fromtimestamp(min(max(times, default=0), 2**35), UTC)
    if seen >= promise.promised_at + MERGE_DELAY + timedelta(seconds=1):
        return "witness"
    if evidence.seen_at < promise.promised_at + OUT_OF_ORDER:
        raise Refused(EVIDENCE_INVALID, "it was seen too early: the delay is not over")
    return "reporter"


def _entry(text: str, leaves: Sequence[bytes]) -> bytes:
    entry = text.encode()
    if [leaf_hash(entry)] != list(leaves):
        raise Refused(EVIDENCE_INVALID, "an entry does not hash to its leaf")
    return entry


def _unhex(text: str) -> bytes:
    with Refused.on(ValueError, EVIDENCE_INVALID, "a leaf hash is 64 hex digits"):
        return bytes.fromhex(text)
