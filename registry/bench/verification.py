"""The speed of `audit verify` over a synthetic log of rankings.

The log is written as files. It is read once from the folder and once over HTTP on
loopback, each time by the command itself in a process of its own.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.bench.synthetic.rankings import Stock
from registry.ranking.policy import DEFAULT_POLICY
from registry.records import record as records
from registry.records.canonical import digest_of
from registry.records.record import format_minute
from registry.records.seed import commit_secret
from registry.sites.identifier import make_ulid
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hashes
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.tlog.tiles import (
    TILE_WIDTH,
    Bundle,
    Tile,
    encode_bundle,
    format_tile_path,
    hash_count,
)
from registry.usecases.ids import IdSource

_ENTRIES_PER_S = 1_000
_START = datetime(2026, 11, 20, 8, tzinfo=UTC)
_SIGNER = Signer(
    name="bench.example/log",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"bench").digest()),
)
_SERVER = Path(__file__).with_name("file_server.py")


def measure_verification(entries: int = 200_000) -> dict[str, Any]:
    """Verify a log from files and over HTTP, which `verify_entries_per_s` is of."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-bench-") as name:
        folder = Path(name)
        write_log(folder, synthetic_entries(entries), _SIGNER)
        from_files = _verify(str(folder))
        with subprocess.Popen(  # noqa: S603 — this Python
            [sys.executable, str(_SERVER), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout  # noqa: S101 — as asked for
            over_http = _verify(f"http://127.0.0.1:{server.stdout.readline().strip()}")
            server.terminate()
    return {
        "verify_entries": entries,
        "verify_entries_per_s": round(entries / over_http["wall_s"]),
        "verify_cpu_us_per_entry": round(over_http["cpu_s"] / entries * 1e6, 1),
        "verify_files_entries_per_s": round(entries / from_files["wall_s"]),
        "verify_files_cpu_us_per_entry": round(from_files["cpu_s"] / entries * 1e6, 1),
        "verify_rss_mb": max(over_http["rss_mb"], from_files["rss_mb"]),
    }


def synthetic_entries(count: int, start: datetime = _START) -> Iterator[bytes]:
    """Yield a policy, a seed, and rankings of 20 sites of some 1,000 bytes."""
    yield records.policy_record(
        record_id=entry_id(0, start),
        at=start,
        policy_json=DEFAULT_POLICY.canonical_json,
        code_digest=digest_of(b"code"),
    ).body
    yield records.seed_commitment_record(
        record_id=entry_id(1, start),
        at=start,
        day=start.date(),
        commitment=commit_secret(bytes(32)),
    ).body
    minute = format_minute(start).encode()
    stock = Stock.make(IdSource(clock=lambda: start))
    rankings = [stock.record(answer).record for answer in stock.answers]
    for number in range(2, count):
        ranking = rankings[number % len(rankings)]
        name = entry_id(number, start).encode()
        body = ranking.body.replace(ranking.id.encode(), name)
        yield body.replace(minute, format_minute(entry_time(number, start)).encode())


def write_log(folder: Path, entries: Iterator[bytes], signer: Signer) -> str:
    """Write bundles, tiles and checkpoint as files; return the log's verifier key."""
    edge = TreeEdge()
    levels: dict[int, list[bytes]] = {}
    batch: list[bytes] = []

    def append() -> None:
        nonlocal edge
        leaves = leaf_hashes(batch)
        index, width = edge.size // TILE_WIDTH, len(batch)
        _write(folder, Bundle(index=index, width=width), encode_bundle(batch))
        _write(folder, Tile(level=0, index=index, width=width), b"".join(leaves))
        edge, hashes = edge.append(leaves)
        for tile_hash in hashes:
            levels.setdefault(tile_hash.level, []).append(tile_hash.hash)
        batch.clear()

    for entry in entries:
        batch.append(entry)
        if len(batch) == TILE_WIDTH:
            append()
    if batch:
        append()
    for level, hashes in levels.items():
        for first in range(0, hash_count(edge.size, level), TILE_WIDTH):
            part = hashes[first : first + TILE_WIDTH]
            tile = Tile(level=level, index=first // TILE_WIDTH, width=len(part))
            _write(folder, tile, b"".join(part))
    head = Checkpoint(origin=signer.name, size=edge.size, root=edge.root())
    (folder / "checkpoint").write_bytes(sign_checkpoint(head, signer))
    return format_vkey(signer.verifier_key)


def _write(folder: Path, part: Tile | Bundle, data: bytes) -> None:
    file = folder / format_tile_path(part)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)


def entry_time(number: int, start: datetime) -> datetime:
    return start + timedelta(seconds=number // _ENTRIES_PER_S)


def entry_id(number: int, start: datetime) -> str:
    unix_ms = int(entry_time(number, start).timestamp()) * 1_000
    return make_ulid(unix_ms, number.to_bytes(10, "big"))


def _verify(url: str) -> dict[str, float]:
    """Measure the command. Raises: RuntimeError if it reports a fault."""
    vkey = format_vkey(_SIGNER.verifier_key)
    command = [sys.executable, "-m", "registry", "audit", "verify", url, "--key", vkey]
    began_s = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)  # noqa: S603 — this Python
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"audit verify ended with {process.returncode}")
    return {
        "wall_s": time.monotonic() - began_s,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "rss_mb": round(usage.ru_maxrss / 1024),
    }
