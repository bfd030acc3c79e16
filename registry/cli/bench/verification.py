"""How fast a log is verified: `audit verify` over a made-up log of rankings.

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

from registry.audit import record as records
from registry.audit.canonical import digest_of
from registry.audit.seed import commit_secret
from registry.identity import base64url
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import make_ulid, spell_site_id
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hashes
from registry.tlog.note import Algorithm, Signer, format_vkey
from registry.tlog.tiles import (
    TILE_WIDTH,
    Bundle,
    Tile,
    encode_bundle,
    format_tile_path,
    hash_count,
)

SITES, DIGESTS, TEMPLATES, A_MINUTE = 20, 8, 500, 60_000
_START = datetime(2026, 11, 20, 8, tzinfo=UTC)
_SIGNER = Signer(
    name="bench.example/log",
    algorithm=Algorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"bench").digest()),
)
_SERVER = Path(__file__).with_name("file_server.py")


def measure_verification(entries: int = 200_000) -> dict[str, Any]:
    """verify_entries_per_s: over HTTP. verify_rss_mb: at most, of both ways."""
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


def synthetic_entries(count: int) -> Iterator[bytes]:
    """A policy, a seed, and rankings of 20 sites of some 1,000 bytes."""
    yield records.policy_record(
        record_id=_ulid(0),
        at=_START,
        policy_json=DEFAULT_POLICY.canonical_json,
        code_digest=digest_of(b"code"),
    ).body
    yield records.seed_commitment_record(
        record_id=_ulid(1),
        at=_START,
        day=_START.date(),
        commitment=commit_secret(bytes(32)),
    ).body
    templates: list[tuple[bytes, bytes]] = []
    for number in range(2, count):
        if number % A_MINUTE == 2:
            templates = _templates(_START + timedelta(minutes=number // A_MINUTE))
        head, tail = templates[number % TEMPLATES]
        yield head + _ulid(number).encode() + tail


def write_log(folder: Path, entries: Iterator[bytes], signer: Signer) -> str:
    """Bundles, tiles and checkpoint as files; the log's verifier key."""
    edge = TreeEdge()
    levels: dict[int, list[bytes]] = {}
    batch: list[bytes] = []

    def append() -> None:
        nonlocal edge
        leaves = leaf_hashes(batch)
        index, width = edge.size // TILE_WIDTH, len(batch)
        _write(folder, Bundle(index=index, width=width), encode_bundle(batch))
        _write(folder, Tile(level=0, index=index, width=width), b"".join(leaves))
        edge, placed = edge.append(leaves)
        for one in placed:
            levels.setdefault(one.level, []).append(one.hash)
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


def _templates(at: datetime) -> list[tuple[bytes, bytes]]:
    """Rankings without their id: what stands before and behind it."""
    marker = _ulid(2**40)
    parts = []
    for number in range(TEMPLATES):
        made = records.ranking_record(
            record_id=marker,
            at=at,
            operator=records.ANONYMOUS,
            policy=DEFAULT_POLICY.digest,
            snapshot=digest_of(b"snapshot"),
            seed_index=1,
            eligible_count=4_000 + number,
            order=[spell_site_id(_number(number, rank)) for rank in range(SITES)],
            sd_digests=sorted(
                base64url.encode(sha256(b"%d %d" % (number, one)).digest())
                for one in range(DIGESTS)
            ),
        )
        head, _, tail = made.body.partition(marker.encode())
        parts.append((head, tail))
    return parts


def _number(ranking: int, rank: int) -> int:
    digest = sha256(b"%d/%d" % (ranking, rank)).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _ulid(number: int) -> str:
    return make_ulid(1_795_000_000_000, number.to_bytes(10, "big"))


def _verify(url: str) -> dict[str, float]:
    """What the command takes. Raises: RuntimeError if it finds anything."""
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
