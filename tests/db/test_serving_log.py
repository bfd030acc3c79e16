"""The log as C2SP tlog-tiles wants it served, at the sizes where something happens."""

import gzip

import httpx
import pytest
from sqlalchemy import text

from registry.db.engine.engines import Engine, Role
from registry.tlog.merkle import (
    EMPTY_ROOT,
    leaf_hash,
    tree_root,
    verify_consistency,
    verify_inclusion,
)
from registry.tlog.proof import parse_log_proof, verify_log_proof
from registry.tlog.tiles import (
    Tile,
    bundles_of,
    encode_bundle,
    format_tile_path,
    tiles_of,
)
from registry.usecases.log.served_log import ServedLog
from tests.db.filled_log import SIGNER, FilledLog, entry_of
from tests.unit.tlog.driven import follow_log, read_log

ID_OF_THE_FIRST = "0" * 26
BINARY = "application/octet-stream"
FOREVER = "public, max-age=31536000, immutable"


def every_path(size: int) -> list[str]:
    return [format_tile_path(tiles) for tiles in (*tiles_of(size), *bundles_of(size))]


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 513])
async def test_an_independent_reading_finds_the_log_sound(
    client: httpx.AsyncClient, log: FilledLog, size: int
) -> None:
    await log.grow(size)
    served: dict[str, bytes] = {}
    for path in ("checkpoint", *every_path(size)):
        answer = await client.get(f"/{path}")
        assert answer.status_code == 200, path
        served[path] = answer.content
    entries: list[bytes] = []
    read_log(
        follow_log(SIGNER.verifier_key, visit=lambda _, entry: entries.append(entry)),
        served.get,
    )
    assert entries == [entry_of(number) for number in range(size)]


async def test_a_log_without_a_checkpoint_serves_nothing(
    client: httpx.AsyncClient,
) -> None:
    for path in ("/checkpoint", "/tile/0/000", "/tile/entries/000.p/1"):
        assert (await client.get(path)).status_code == 404


async def test_the_empty_tree_has_a_checkpoint_and_no_tile(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    await log.sign()
    note = (await client.get("/checkpoint")).text
    assert note.splitlines()[1] == "0"
    assert log.edge.root() == EMPTY_ROOT
    for path in ("0/000", "0/000.p/1", "entries/000", "entries/000.p/1", "1/000.p/1"):
        assert (await client.get(f"/tile/{path}")).status_code == 404


@pytest.mark.parametrize(
    ("size", "there", "absent"),
    [
        pytest.param(
            255,
            ["0/000.p/1", "0/000.p/255", "entries/000.p/255", "entries/000.p/7"],
            ["0/000", "entries/000", "1/000.p/1", "0/001.p/1", "0/000.p/256"],
            id="one less than a tile",
        ),
        pytest.param(
            256,
            ["0/000", "entries/000", "1/000.p/1", "0/000.p/255"],
            ["0/001", "0/001.p/1", "entries/001.p/1", "1/000.p/2", "2/000.p/1"],
            id="a full tile and its hash one level up",
        ),
        pytest.param(
            257,
            ["0/000", "0/001.p/1", "entries/001.p/1", "1/000.p/1"],
            ["0/001.p/2", "entries/001.p/2", "1/000.p/2", "1/000", "63/000.p/1"],
            id="one more than a tile",
        ),
    ],
)
async def test_a_tree_has_its_tiles_and_no_others(
    client: httpx.AsyncClient,
    log: FilledLog,
    size: int,
    there: list[str],
    absent: list[str],
) -> None:
    await log.grow(size)
    for path in there:
        assert (await client.get(f"/tile/{path}")).status_code == 200, path
    for path in absent:
        answer = await client.get(f"/tile/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "tile_unknown")
        assert answer.headers["Cache-Control"] == "no-store", path


@pytest.mark.parametrize(
    "path",
    [
        "/tile/0/0",
        "/tile/0/00",
        "/tile/0/0000",
        "/tile/00/000",
        "/tile/0/x000/000",
        "/tile/0/000.p/0",
        "/tile/0/000.p/01",
        "/tile/0/000.p/256",
        "/tile/0/000.p/+1",
        "/tile/0/000.p/1/",
        "/tile/0/000/",
        "/tile//0/000",
        "/tile/0//000",
        "/tile/0/000.p",
        "/tile/0/000.P/1",
        "/tile/8/0/000",
        "/tile/data/000",
        "/tile/64/000.p/1",
        "/tile/-1/000",
        "/tile/0/%30%30%30",
        "/tile/entries%2F000",
        "/tile/0/\u0660\u0660\u0660",
    ],
)
async def test_a_tile_has_one_spelling(
    client: httpx.AsyncClient, log: FilledLog, path: str
) -> None:
    await log.grow(300)
    assert (await client.get(path)).status_code == 404


async def test_partial_tiles_of_every_published_checkpoint_remain(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    sizes = (1, 5, 255, 256, 300)
    for size in sizes:
        await log.grow(size)
    for size in sizes:
        for tile in tiles_of(size):
            path = format_tile_path(tile)
            assert (await client.get(f"/{path}")).status_code == 200, path
        for bundle in bundles_of(size):
            answer = await client.get(f"/{format_tile_path(bundle)}")
            numbers = range(bundle.first, bundle.first + bundle.width)
            assert answer.content == encode_bundle(
                [entry_of(number) for number in numbers]
            )


async def test_headers_let_caches_keep_tiles_and_not_checkpoints(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    await log.grow(257)
    checkpoint = await client.get("/checkpoint")
    assert checkpoint.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert checkpoint.headers["Cache-Control"] == "public, max-age=1"
    for path in every_path(257):
        got, head = await client.get(f"/{path}"), await client.head(f"/{path}")
        for answer in (got, head):
            assert answer.status_code == 200
            assert answer.headers["Content-Type"] == BINARY
            assert answer.headers["Cache-Control"] == FOREVER
        assert head.content == b""
        assert head.headers["Content-Length"] == got.headers["Content-Length"]
    full = await client.get("/tile/0/000")
    assert len(full.content) == 8192


@pytest.mark.parametrize(
    ("query", "zipped"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("GZIP", True),
        ("br;q=1.0, gzip;q=0.5", True),
        ("*", True),
        ("x-gzip", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0.000, *", False),
        ("*;q=0", False),
        ("br, zstd", False),
        ("", False),
        ("," * 5000, False),
        ("gzip;", False),
    ],
)
async def test_entry_bundles_are_zipped_for_those_who_ask(
    client: httpx.AsyncClient, log: FilledLog, query: str, *, zipped: bool
) -> None:
    await log.grow(257)
    for path in ("/tile/entries/000", "/tile/entries/001.p/1"):
        request = client.build_request("GET", path, headers={"Accept-Encoding": query})
        answer = await client.send(request, stream=True)
        raw = b"".join([chunk async for chunk in answer.aiter_raw()])
        plain = (await client.get(path, headers={"Accept-Encoding": ""})).content
        assert answer.headers.get("Content-Encoding") == ("gzip" if zipped else None)
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert int(answer.headers["Content-Length"]) == len(raw)
        assert (gzip.decompress(raw) if zipped else raw) == plain
        await answer.aclose()
    tile = await client.get("/tile/0/000", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in tile.headers


async def test_the_whole_log_of_the_vectors_is_served(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    for size in (65_536, 70_000):
        await log.grow(size)
    root = "f753b430a9c51ef3d9bd937d53cc36e21c6bc956c85d98d84efd21d7634a07c4"
    assert log.edge.root().hex() == root
    lengths = {
        "0/x272": None,
        "0/272": 8192,
        "0/273.p/112": 112 * 32,
        "1/000": 8192,
        "1/001.p/17": 17 * 32,
        "2/000.p/1": 32,
        "2/000.p/2": None,
        "0/274.p/1": None,
        "1/001.p/18": None,
    }
    for path, length in lengths.items():
        answer = await client.get(f"/tile/{path}")
        assert (len(answer.content) if answer.is_success else None) == length, path
    hashes = (await client.get("/tile/2/000.p/1")).content
    leaves = [leaf_hash(entry_of(number)) for number in range(65_536)]
    assert hashes == tree_root(leaves)


async def test_parts_are_kept_in_bounded_memory(
    log: FilledLog, engines: dict[Role, Engine]
) -> None:
    await log.grow(256 * 6)
    served = ServedLog(engines[Role.API], cache_bytes=3 * 8192)
    for index in (0, 1, 2, 3, 4, 5, 0, 5):
        tile = Tile(level=0, index=index)
        leaves = [leaf_hash(entry_of(index * 256 + i)) for i in range(256)]
        assert await served.read_part(tile) == b"".join(leaves)
        assert served._cache._bytes <= 3 * 8192
    assert len(served._cache._parts) == 3


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 1000])
async def test_every_proof_leads_to_the_root(
    client: httpx.AsyncClient, log: FilledLog, size: int
) -> None:
    old_sizes = sorted({1, (size + 1) // 2, max(1, size - 1), size})
    for item in old_sizes:
        await log.grow(item)
    for index in {0, 1, size // 2, 254, 255, 256, size - 1} & set(range(size)):
        body = (await client.get(f"/v1/log/inclusion?leaf={index}")).json()
        leaf = leaf_hash(entry_of(index))
        assert (body["leafIndex"], body["treeSize"]) == (index, size)
        assert bytes.fromhex(body["leafHash"]) == leaf
        verify_inclusion(
            leaf,
            [*map(bytes.fromhex, body["hashes"])],
            index=index,
            size=size,
            root=log.edge.root(),
        )
        named = await client.get(f"/v1/log/inclusion?hash={leaf.hex().upper()}")
        assert named.json() == body
    for old_size in old_sizes:
        answer = await client.get(f"/v1/log/consistency?from={old_size}")
        body = answer.json()
        old_root = tree_root([leaf_hash(entry_of(i)) for i in range(old_size)])
        assert bytes.fromhex(body["fromRootHash"]) == old_root
        verify_consistency(
            [*map(bytes.fromhex, body["hashes"])],
            old_size=old_size,
            new_size=size,
            old_root=old_root,
            new_root=log.edge.root(),
        )


async def test_proofs_in_older_trees_are_given_too(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    await log.grow(700)
    for size in (3, 256, 300, 512, 699):
        body = (await client.get(f"/v1/log/inclusion?leaf=2&size={size}")).json()
        root = tree_root([leaf_hash(entry_of(i)) for i in range(size)])
        assert bytes.fromhex(body["rootHash"]) == root
        hashes = [*map(bytes.fromhex, body["hashes"])]
        leaf = bytes.fromhex(body["leafHash"])
        verify_inclusion(leaf, hashes, index=2, size=size, root=root)
    body = (await client.get("/v1/log/consistency?from=3&to=300")).json()
    assert (body["fromSize"], body["toSize"]) == (3, 300)


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("inclusion", 400, "parameter_missing"),
        ("inclusion?leaf=0&hash=" + "0" * 64, 400, "parameter_invalid"),
        ("inclusion?leaf=-1", 400, "parameter_invalid"),
        ("inclusion?leaf=x", 400, "parameter_invalid"),
        ("inclusion?leaf=9223372036854775808", 400, "parameter_invalid"),
        ("inclusion?leaf=10", 404, "leaf_unknown"),
        ("inclusion?leaf=5&size=5", 404, "leaf_unknown"),
        ("inclusion?leaf=0&size=11", 404, "tree_unknown"),
        ("inclusion?leaf=0&size=0", 400, "parameter_invalid"),
        ("inclusion?hash=" + "0" * 64, 404, "leaf_unknown"),
        ("inclusion?hash=" + "0" * 63, 400, "parameter_invalid"),
        ("inclusion?hash=" + "z" * 64, 400, "parameter_invalid"),
        ("consistency", 400, "parameter_missing"),
        ("consistency?from=0", 400, "parameter_invalid"),
        ("consistency?from=5&to=4", 400, "log_proof_invalid"),
        ("consistency?from=11", 400, "log_proof_invalid"),
        ("consistency?from=1&to=11", 404, "tree_unknown"),
        ("consistency?from=1&to=9223372036854775807", 404, "tree_unknown"),
    ],
)
async def test_what_cannot_be_proved_is_refused(
    client: httpx.AsyncClient, log: FilledLog, query: str, status: int, code: str
) -> None:
    await log.grow(10)
    answer = await client.get(f"/v1/log/{query}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_a_record_and_its_proof_by_its_id(
    client: httpx.AsyncClient, log: FilledLog
) -> None:
    await log.grow(300)
    leaf = leaf_hash(entry_of(0))
    place = f"/v1/records/{ID_OF_THE_FIRST}"
    body = (await client.get(place)).json()
    assert (body["leafIndex"], body["kind"]) == (0, "selection")
    assert body["record"] == {"i": 0, "kind": "selection", "v": 1}
    answer = await client.get(f"{place}/proof")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    proof = parse_log_proof(answer.content)
    assert verify_log_proof(proof, leaf, SIGNER.verifier_key).checkpoint.size == 300
    for query in (
        {"params": {"form": "json"}},
        {"headers": {"Accept": "application/json"}},
    ):
        as_json = await client.get(f"{place}/proof", **query)
        assert as_json.json()["proof"].encode() == answer.content
        assert as_json.json()["checkpoint"].encode() == log.notes[300]
    both = {"Accept": "text/plain, application/json"}
    assert (await client.get(f"{place}/proof", headers=both)).content == answer.content
    for path in (
        place + "x",
        "/v1/records/x",
        "/v1/records/7ZZZZZZZZZZZZZZZZZZZZZZZZZ",
    ):
        for call in (path, f"{path}/proof"):
            missing = await client.get(call)
            assert (missing.status_code, missing.json()["code"]) == (
                404,
                "record_unknown",
            )
    other_kind = await client.get(f"/v1/rankings/{ID_OF_THE_FIRST}/proof")
    assert other_kind.status_code == 404


async def test_a_part_whose_rows_are_missing_is_not_served_for_ever(
    client: httpx.AsyncClient, log: FilledLog, owner: Engine
) -> None:
    await log.grow(300)
    async with owner.begin() as connection:
        for statement in (
            "ALTER TABLE audit.entry DISABLE TRIGGER USER",
            "DELETE FROM audit.entry WHERE leaf_index = 7",
            "ALTER TABLE audit.entry ENABLE ALWAYS TRIGGER append_only",
        ):
            await connection.execute(text(statement))
    for path in ("/tile/0/000", "/tile/entries/000", "/tile/entries/000.p/8"):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (
            500,
            "no-store",
        )
    assert (await client.get("/tile/0/001.p/44")).status_code == 200
