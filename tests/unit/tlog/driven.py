"""A reading of a log, driven by a function that has its files."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from registry.tlog.checkpoint import Checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.follow import CHECKPOINT_PATH, LogWalk, Visit, verify_head
from registry.tlog.note import VerifiedSignature, VerifierKey


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedLog:
    """A log that was read to its end. edge: the right edge of its tree, to read on from."""

    checkpoint: Checkpoint
    cosignatures: tuple[VerifiedSignature, ...]
    edge: TreeEdge


def follow_log(
    log_key: VerifierKey,
    *,
    witness_keys: Sequence[VerifierKey] = (),
    quorum: int = 0,
    previous: Checkpoint | None = None,
    visit: Visit = lambda _index, _entry: None,
) -> Generator[str, bytes | None, FollowedLog]:
    """Verifies the whole log under its current checkpoint.

    quorum: how many of the witnesses must have cosigned it. previous: a checkpoint of
    this log that was verified earlier; the tree must extend it.
    Raises: LogInvalid at the first thing that is wrong.
    """
    data = yield CHECKPOINT_PATH
    head = verify_head(data, log_key, witness_keys, quorum)
    walk = LogWalk(head=head.checkpoint, previous=previous, visit=visit)
    yield from walk.read()
    return FollowedLog(
        checkpoint=head.checkpoint, cosignatures=head.cosignatures, edge=walk.edge
    )


def read_log(
    reading: Generator[str, bytes | None, FollowedLog],
    fetch: Callable[[str], bytes | None],
) -> FollowedLog:
    """Drive a reading. fetch: returns the bytes at a path, None if there are none."""
    try:
        path = next(reading)
        while True:
            path = reading.send(fetch(path))
    except StopIteration as done:
        followed: FollowedLog = done.value
        return followed
