"""What the database's own master changes is found by whoever reads the log.

And the log as it is served is read by a client that shares no code with it.
"""

import json
from base64 import b64decode
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import text

from registry.auditor.follow_log import Findings, Follower
from registry.auditor.trust import Trust
from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log_table
from registry.records.record import Record
from registry.tlog.merkle import leaf_hash
from registry.usecases.log.sequence import Sequencer, load_edge
from tests.db.filled_log import SIGNER, FilledLog
from tests.db.scene import NOON, Clock
from tests.unit.records.history import History

ROOT_5 = "93aecd020b41045366cf111ba87d648729715e91091377e8ceb772768744d03a"
ROOT_70000 = "f753b430a9c51ef3d9bd937d53cc36e21c6bc956c85d98d84efd21d7634a07c4"


# --- an independent client ---


def path_of(number: int) -> str:
    """N in groups of three digits, all but the last with an x (C2SP tlog-tiles)."""
    digits = str(number).zfill(-(-len(str(number)) // 3) * 3)
    groups = [digits[i : i + 3] for i in range(0, len(digits), 3)]
    return "/".join([f"x{group}" for group in groups[:-1]] + groups[-1:])


def root_of(hashes: list[bytes]) -> bytes:
    """Of RFC 6962, from leaf hashes."""
    if len(hashes) <= 1:
        return hashes[0] if hashes else sha256(b"").digest()
    split = 1 << ((len(hashes) - 1).bit_length() - 1)
    both = root_of(hashes[:split]) + root_of(hashes[split:])
    return sha256(b"\x01" + both).digest()


def parts_of(count: int) -> list[tuple[int, int, str]]:
    """Number, width and suffix of each tile of a row of so many hashes."""
    full, rest = divmod(count, 256)
    parts = [(number, 256, "") for number in range(full)]
    return parts + ([(full, rest, f".p/{rest}")] if rest else [])


async def read_checkpoint(client: httpx.AsyncClient) -> tuple[int, bytes]:
    """Size and root, the signature verified."""
    answer = await client.get("/checkpoint")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    body, _, signatures = answer.content.partition(b"\n\n")
    origin, size, root = body.decode().split("\n")[:3]
    lines = [line.split(" ") for line in signatures.decode().splitlines()]
    [line] = [b64decode(words[2]) for words in lines if words[1] == origin]
    public = SIGNER.private.public_key().public_bytes_raw()
    named = origin.encode() + b"\n\x01" + public
    assert line[:4] == sha256(named).digest()[:4]
    Ed25519PublicKey.from_public_bytes(public).verify(line[4:], body + b"\n")
    return int(size), b64decode(root)


async def read_whole(client: httpx.AsyncClient) -> tuple[list[bytes], bytes]:
    """All entries and the signed root; every tile agrees with them."""
    size, root = await read_checkpoint(client)
    entries: list[bytes] = []
    for number, width, suffix in parts_of(size):
        answer = await client.get(f"/tile/entries/{path_of(number)}{suffix}")
        data, result = answer.content, []
        while data:
            end = 2 + int.from_bytes(data[:2], "big")
            result.append(data[2:end])
            data = data[end:]
        assert len(result) == width
        entries += result
    row, level = [sha256(b"\x00" + entry).digest() for entry in entries], 0
    assert root_of(row) == root
    while row:
        for number, width, suffix in parts_of(len(row)):
            answer = await client.get(f"/tile/{level}/{path_of(number)}{suffix}")
            hashes = row[number * 256 : number * 256 + width]
            assert answer.content == b"".join(hashes), (level, number)
        full = len(row) // 256
        row = [root_of(row[i * 256 : (i + 1) * 256]) for i in range(full)]
        level += 1
    return entries, root


async def test_an_independent_client_finds_the_log_as_the_vectors_have_it(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    await log.sign()
    assert await read_whole(client) == ([], sha256(b"").digest())
    roots = {}
    for size in (1, 5, 255, 256, 257, 65_536, 70_000):
        await log.grow(size)
        entries, root = await read_whole(client)
        assert len(entries) == size
        assert entries[-1] == b'{"i":%d,"kind":"selection","v":1}' % (size - 1)
        roots[size] = root.hex()
    assert roots[5] == ROOT_5
    assert roots[70_000] == ROOT_70000


# --- tampering ---

SIZE = 600


@pytest.fixture(scope="module")
def bodies() -> list[bytes]:
    history = History().begin()
    while len(history.bodies) < SIZE:
        history.pass_by(seconds=20)
        history.rank()
    return history.bodies


@pytest.fixture
async def filled(
    log: FilledLog, bodies: list[bytes], engines: dict[Role, Engine]
) -> None:
    """The log of records, as a registry makes it."""
    async with engines[Role.API].begin() as connection:
        for body in bodies:
            members = json.loads(body)
            record = Record(id=members["id"], kind=members["kind"], body=body)
            await log_table.accept(connection, record, NOON)
    publisher = engines[Role.PUBLISHER]
    async with publisher.connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        while edge.size < SIZE:
            sequencer = Sequencer(publisher, SIGNER, Clock())
            edge = await sequencer.step(connection, edge)


async def audited(client: httpx.AsyncClient) -> tuple[str, str | None, int | None]:
    """What `audit verify` finds first: code, path and entry."""

    async def fetch(path: str) -> bytes | None:
        answer = await client.get(f"/{path}")
        return answer.content if answer.status_code == 200 else None

    source: Any = SimpleNamespace(place="here", fetch=fetch)
    try:
        await Follower(source, Trust(log_key=SIGNER.verifier_key)).run()
    except Findings as findings:
        result = findings.findings[0]
        return result.code, getattr(result, "path", None), result.entry_index
    return "sound", None, None


async def change(owner: Engine, table: str, statement: str, **values: Any) -> None:
    """As a superuser can, who puts the guard aside."""
    async with owner.begin() as connection:
        await connection.execute(
            text(f"ALTER TABLE audit.{table} DISABLE TRIGGER USER")
        )
        done = await connection.execute(text(statement), values)
        assert done.rowcount == 1


FORGED = "UPDATE audit.entry SET body = :body WHERE leaf_index = 300"
HASHED = "UPDATE audit.entry SET leaf_hash = :hash WHERE leaf_index = 300"


async def test_an_untouched_log_is_sound(
    client: httpx.AsyncClient, filled: None
) -> None:
    assert await audited(client) == ("sound", None, None)


async def test_a_changed_entry_is_found(
    client: httpx.AsyncClient, owner: Engine, filled: None, bodies: list[bytes]
) -> None:
    await change(owner, "entry", FORGED, body=b"\0" + bodies[301])
    result = await audited(client)
    assert result == ("log_entry_forged", "tile/entries/001", 300)


async def test_a_changed_entry_with_its_leaf_hash_is_found(
    client: httpx.AsyncClient, owner: Engine, filled: None, bodies: list[bytes]
) -> None:
    await change(owner, "entry", FORGED, body=b"\0" + bodies[301])
    await change(owner, "entry", HASHED, hash=leaf_hash(bodies[301]))
    assert await audited(client) == ("log_tile_forged", "tile/0/001", None)


async def test_a_changed_tile_is_found(
    client: httpx.AsyncClient, owner: Engine, filled: None
) -> None:
    tile = "UPDATE audit.tile_hash SET hash = :hash WHERE level = 1 AND position = 1"
    await change(owner, "tile_hash", tile, hash=bytes(32))
    assert await audited(client) == ("log_root_wrong", "checkpoint", None)


async def test_a_changed_checkpoint_is_found(
    client: httpx.AsyncClient, owner: Engine, filled: None
) -> None:
    note = """UPDATE audit.checkpoint SET note = replace(note, E'\\n600\\n', E'\\n599\\n')
        WHERE size = 600"""
    await change(owner, "checkpoint", note)
    result = await audited(client)
    assert result == ("log_checkpoint_invalid", "checkpoint", None)


async def test_a_removed_row_is_found(
    client: httpx.AsyncClient, owner: Engine, filled: None
) -> None:
    removed = "DELETE FROM audit.entry WHERE leaf_index = 300"
    await change(owner, "entry", removed)
    code, path, _ = await audited(client)
    assert code in {"log_part_malformed", "log_part_missing"}
    assert path == "tile/0/001"
