"""Proofs from stored tiles, and the document that carries one (C2SP tlog-proof).

Without I/O: `inclusion_runs` and `consistency_runs` return which hashes are needed; load
them, and pass a reader of runs to the `prove_*` function.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from registry.errors import Refused
from registry.tlog.canonical_text import (
    format_base64,
    parse_base64,
    parse_decimal,
    parse_hash,
)
from registry.tlog.checkpoint import VerifiedCheckpoint, verify_checkpoint
from registry.tlog.edge import ReadRun
from registry.tlog.merkle import (
    consistency_ranges,
    inclusion_ranges,
    leaf_hash,
    node_hash,
    tree_root,
    verify_inclusion,
)
from registry.tlog.note import VerifierKey
from registry.tlog.refusals import LOG_PROOF_MALFORMED, LOG_UNWITNESSED
from registry.tlog.tiles import (
    TILE_HEIGHT,
    TILE_WIDTH,
    HashRun,
    Tile,
    parse_tile,
    tile_of_run,
)

MAX_PROOF_HASHES = 63  # the height of the largest tree

_HEADER = "c2sp.org/tlog-proof@v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogProof:
    """A tlog-proof. checkpoint: the signed note. extra: unauthenticated, b"" if absent."""

    index: int
    hashes: tuple[bytes, ...]
    checkpoint: bytes
    extra: bytes = b""


def inclusion_runs(index: int, size: int) -> tuple[HashRun, ...]:
    """Return the runs that prove_inclusion reads; none crosses a tile."""
    ranges = inclusion_ranges(index, size)
    return tuple(run for leaves in ranges for run in _runs(leaves))


def consistency_runs(old_size: int, new_size: int) -> tuple[HashRun, ...]:
    """Return the runs that prove_consistency reads; none crosses a tile."""
    ranges = consistency_ranges(old_size, new_size)
    return tuple(run for leaves in ranges for run in _runs(leaves))


def prove_inclusion(index: int, size: int, read: ReadRun) -> tuple[bytes, ...]:
    return tuple(_range_root(r, read) for r in inclusion_ranges(index, size))


def prove_consistency(old_size: int, new_size: int, read: ReadRun) -> tuple[bytes, ...]:
    return tuple(_range_root(r, read) for r in consistency_ranges(old_size, new_size))


def tiles_for(runs: Iterable[HashRun], size: int) -> frozenset[Tile]:
    """Return the tiles to fetch from a log of that size to have these runs."""
    return frozenset(tile_of_run(run, size) for run in runs)


def read_from_tiles(tiles: Mapping[Tile, bytes], size: int) -> ReadRun:
    """Return a reader of runs over fetched tiles, which it does not authenticate."""
    hashes = {tile: parse_tile(data, tile.width) for tile, data in tiles.items()}

    def read(run: HashRun) -> tuple[bytes, ...]:
        start = run.first % TILE_WIDTH
        return hashes[tile_of_run(run, size)][start : start + run.count]

    return read


def format_log_proof(proof: LogProof) -> bytes:
    lines = [_HEADER]
    if proof.extra:
        lines.append(f"extra {format_base64(proof.extra)}")
    lines.append(f"index {proof.index}")
    lines += map(format_base64, proof.hashes)
    return "\n".join([*lines, "", ""]).encode() + proof.checkpoint


def parse_log_proof(data: bytes) -> LogProof:
    """Parse a tlog-proof, but not the checkpoint in it. Raises: Refused."""
    head, blank, checkpoint = data.partition(b"\n\n")
    if not blank or not head.isascii():
        raise Refused(LOG_PROOF_MALFORMED, "no blank line before the checkpoint")
    header, *lines = head.decode("ascii").split("\n")
    if header != _HEADER:
        raise Refused(LOG_PROOF_MALFORMED, f"the first line is not {_HEADER}")
    extra = b""
    if lines and lines[0].startswith("extra "):
        encoded = lines.pop(0).removeprefix("extra ")
        extra = parse_base64(encoded, LOG_PROOF_MALFORMED)
    if not lines or not lines[0].startswith("index "):
        raise Refused(LOG_PROOF_MALFORMED, "no index line")
    if len(lines) > 1 + MAX_PROOF_HASHES:
        raise Refused(LOG_PROOF_MALFORMED, f"over {MAX_PROOF_HASHES} hashes")
    return LogProof(
        index=parse_decimal(lines[0].removeprefix("index "), LOG_PROOF_MALFORMED),
        hashes=tuple(parse_hash(line, LOG_PROOF_MALFORMED) for line in lines[1:]),
        checkpoint=checkpoint,
        extra=extra,
    )


def verify_log_proof(
    proof: LogProof,
    leaf: bytes,
    log_key: VerifierKey,
    witness_keys: Iterable[VerifierKey] = (),
) -> VerifiedCheckpoint:
    """Return the checkpoint that covers the leaf hash. Raises: Refused, ProofInvalid."""
    verified = verify_checkpoint(proof.checkpoint, log_key, witness_keys)
    checkpoint = verified.checkpoint
    verify_inclusion(
        leaf,
        proof.hashes,
        index=proof.index,
        size=checkpoint.size,
        root=checkpoint.root,
    )
    return verified


def verify_entry_proof(
    document: bytes,
    entry: bytes,
    log_key: VerifierKey,
    witness_keys: Iterable[VerifierKey] = (),
    quorum: int = 0,
) -> tuple[int, VerifiedCheckpoint]:
    """Return the index of the entry, and the checkpoint that covers it.

    document: a tlog-proof. Raises: Refused, TooLarge, ProofInvalid.
    """
    proof = parse_log_proof(document)
    verified = verify_log_proof(proof, leaf_hash(entry), log_key, witness_keys)
    if len(verified.cosignatures) < quorum:
        detail = f"{len(verified.cosignatures)} witnesses cosigned it, {quorum} must"
        raise Refused(LOG_UNWITNESSED, detail)
    return proof.index, verified


def _runs(leaves: range) -> list[HashRun]:
    """Return the complete subtrees of a range, left to right, as runs of stored hashes.

    leaves: begins at a multiple of the largest power of two that fits into it, as the
    ranges of proofs do. A subtree of 2**h leaves is 2**(h mod 8) hashes of level h // 8.
    """
    runs = []
    start = leaves.start
    for height in reversed(range(len(leaves).bit_length())):
        if len(leaves) >> height & 1:
            level, within = divmod(height, TILE_HEIGHT)
            first = start >> (TILE_HEIGHT * level)
            runs.append(HashRun(level=level, first=first, count=1 << within))
            start += 1 << height
    return runs


def _range_root(leaves: range, read: ReadRun) -> bytes:
    *left, root = (tree_root(read(run)) for run in _runs(leaves))
    for subtree in reversed(left):
        root = node_hash(subtree, root)
    return root
