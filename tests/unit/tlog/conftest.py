import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer
from registry.tlog.tiles import (
    HashRun,
    bundles_of,
    encode_bundle,
    format_tile_path,
    tiles_of,
)

VECTORS = Path(__file__).parents[2] / "vectors" / "tlog.json"


@pytest.fixture(scope="session")
def vectors() -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = json.loads(VECTORS.read_text(encoding="utf-8"))
    return loaded


def signer(name: str, seed_of: str, algorithm: NoteAlgorithm) -> Signer:
    seed = sha256(seed_of.encode()).digest()
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return Signer(name=name, algorithm=algorithm, private=private)


@pytest.fixture(scope="session")
def log_signer() -> Signer:
    return signer("registry.example/audit", "lab log key", NoteAlgorithm.ED25519)


@pytest.fixture(scope="session")
def witness_signer() -> Signer:
    return signer("witness.example/w1", "lab witness key", NoteAlgorithm.COSIGNATURE_V1)


@dataclass(frozen=True)
class StoredLog:
    """A log as a registry stores it: entries, and the hashes of every tile level."""

    entries: Sequence[bytes]
    levels: Sequence[Sequence[bytes]]
    edge: TreeEdge
    signer: Signer

    @property
    def checkpoint(self) -> Checkpoint:
        root = self.edge.root()
        return Checkpoint(origin=self.signer.name, size=self.edge.size, root=root)

    def read(self, run: HashRun) -> Sequence[bytes]:
        return self.levels[run.level][run.first : run.first + run.count]

    def serve(self) -> dict[str, bytes]:
        served = {"checkpoint": sign_checkpoint(self.checkpoint, self.signer)}
        for tile in tiles_of(len(self.entries)):
            served[format_tile_path(tile)] = b"".join(self.read(tile.run))
        for bundle in bundles_of(len(self.entries)):
            entries = self.entries[bundle.first : bundle.first + bundle.width]
            served[format_tile_path(bundle)] = encode_bundle(entries)
        return served


def store(entries: Sequence[bytes], by: Signer) -> StoredLog:
    leaves = [leaf_hash(entry) for entry in entries]
    edge, placed = TreeEdge().append(leaves)
    levels = [leaves, *([] for _ in edge.levels[1:])]
    for level, position, value in placed:
        assert position == len(levels[level])
        levels[level].append(value)
    return StoredLog(entries=entries, levels=levels, edge=edge, signer=by)


@pytest.fixture(scope="session")
def make_log(log_signer: Signer):
    """Logs of the published entries, or of another history."""

    def make(
        size: int, *, kind: str = "selection", rewritten: int | None = None
    ) -> StoredLog:
        entries = [f'{{"i":{i},"kind":"{kind}","v":1}}'.encode() for i in range(size)]
        if rewritten is not None:
            entries[rewritten] = b"rewritten"
        return store(entries, log_signer)

    return make


@pytest.fixture(scope="session")
def log_70000(make_log) -> StoredLog:
    log: StoredLog = make_log(70_000)
    return log
