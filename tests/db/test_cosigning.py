"""Witnesses, honest and otherwise: real servers, real proofs, one database."""

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from sqlalchemy.engine import URL

from crawler.cosigning import Cosigning
from registry.cli.service.doctor import examine_quorum
from registry.db.engine.engines import Engine, Role
from registry.db.log.cosignatures import list_evidence, save_evidence
from registry.settings import Settings, as_environment
from registry.sites.hosts_file import Endpoint
from registry.tlog.checkpoint import (
    Checkpoint,
    VerifiedCheckpoint,
    verify_checkpoint,
)
from registry.tlog.note import (
    NoteSignature,
    cosign_text,
    format_note,
    format_vkey,
    parse_note,
    parse_vkey,
)
from registry.tlog.witness import Witness
from registry.usecases.log.continuity import (
    Continuity,
    LogDamaged,
)
from registry.usecases.log.sequence import load_edge
from registry.usecases.log.served_log import ServedLog, WitnessPolicy
from tests.crawler.net import Net
from tests.crawler.witness_server import WitnessServer, answer, witness_signer
from tests.db.asgi import open_client
from tests.db.filled_log import SIGNER, FilledLog, empty_log
from tests.waiting import until

PATIENCE_S = 10.0
NAMES = ("w1.test/a", "w2.test/b", "w3.test/c")


@pytest.fixture
def servers() -> list[WitnessServer]:
    return [WitnessServer(name, SIGNER.verifier_key) for name in NAMES]


def cosigning(
    engines: dict[Role, Engine], net: Net, servers: list[WitnessServer], quorum: int = 0
) -> Cosigning:
    return Cosigning(
        engines[Role.COSIGNER],
        net.fetcher(),
        [server.witness for server in servers],
        quorum=quorum,
        pause_s=0.01,
        round_s=2.0,
    )


@contextlib.asynccontextmanager
async def asking(work: Cosigning):
    task = asyncio.create_task(work.run())
    try:
        yield task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def serve(net: Net, servers: list[WitnessServer]) -> None:
    for server in servers:
        await net.serve(server, server.host)


def served_log(
    engines: dict[Role, Engine], servers: list[WitnessServer], quorum: int
) -> ServedLog:
    policy = WitnessPolicy(
        witnesses=tuple(server.witness for server in servers), quorum=quorum
    )
    return ServedLog(engines[Role.API], policy)


async def until_served(
    served: ServedLog, servers: list[WitnessServer], size: int, cosigned: int
) -> VerifiedCheckpoint:
    keys = [server.witness.key for server in servers]
    async with asyncio.timeout(PATIENCE_S):
        while True:
            newest = await served.checkpoint()
            if newest is not None and newest.size == size:
                checkpoint = verify_checkpoint(newest.note, SIGNER.verifier_key, keys)
                if len(checkpoint.cosignatures) >= cosigned:
                    return checkpoint
            await asyncio.sleep(0.01)


async def test_every_witness_cosigns_and_its_line_is_served(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    await serve(net, servers)
    served = served_log(engines, servers, 3)
    async with asking(cosigning(engines, net, servers, 3)):
        for size in (1, 2, 255, 256, 257, 700):
            await log.grow(size)
            await until_served(served, servers, size, 3)
    for server in servers:
        assert set(server.statuses) == {200}
        assert server.seen is not None
        assert server.seen.size == 700


async def test_with_a_quorum_the_log_shows_nothing_newer(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    """Two of three; one refuses, then another falls silent."""
    await serve(net, servers)
    served = served_log(engines, servers, 2)
    servers[2].always = answer("403 Forbidden", b"")
    await log.grow(10)
    assert await served.checkpoint() is None
    async with asking(cosigning(engines, net, servers, 2)):
        await until_served(served, servers, 10, 2)
        servers[1].always = answer("503 Service Unavailable", b"")
        await log.grow(300)
        async with asyncio.timeout(PATIENCE_S):
            while not (servers[0].seen and servers[0].seen.size == 300):
                await asyncio.sleep(0.01)
        newest = await served.checkpoint()
        assert newest is not None
        assert newest.size == 10
        async with open_client(api=engines[Role.API], served=served) as client:
            assert (await client.get("/tile/entries/000.p/10")).status_code == 200
            assert (await client.get("/tile/entries/000.p/11")).status_code == 404
            assert (await client.get("/tile/0/000")).status_code == 404
            proof = await client.get("/v1/log/inclusion?leaf=10")
            assert proof.status_code == 404
            pending = await client.get(f"/v1/records/{'0' * 25}A/proof")
            assert pending.json()["code"] == "record_pending"
            assert pending.headers["Retry-After"] == "1"
            record = (await client.get(f"/v1/records/{'0' * 25}A")).json()
            assert record["leafIndex"] is None
        servers[1].always = None
        await until_served(served, servers, 300, 2)


async def test_doctor_names_entries_that_wait_for_a_quorum(
    owner: Engine, log: FilledLog, servers: list[WitnessServer], tmp_path: Path
) -> None:
    named = [f"{format_vkey(own.witness.key)} https://{own.host}" for own in servers]
    settings = Settings(data=tmp_path, witnesses=",".join(named), witness_quorum=2)
    assert await examine_quorum(owner, settings) == []
    await log.grow(10)
    (waiting,) = await examine_quorum(owner, settings)
    assert (waiting.area, waiting.state) == ("witnesses", "act")
    assert waiting.detail == "10 entries are signed, 0 have a quorum"
    assert await examine_quorum(owner, replace(settings, witness_quorum=0)) == []


async def test_without_a_quorum_the_newest_is_served_at_once(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    await serve(net, servers)
    served = served_log(engines, servers, 0)
    await log.grow(3)
    assert (await until_served(served, servers, 3, 0)).cosignatures == ()
    async with asking(cosigning(engines, net, servers)):
        await until_served(served, servers, 3, 3)


@pytest.mark.parametrize(
    "lie",
    [
        pytest.param({"signer": witness_signer("w1.test/z")}, id="an unknown key"),
        pytest.param({"always": answer("200 OK", b"")}, id="no line"),
        pytest.param(
            {"always": answer("200 OK", "\u2014 w1.test/a AAAA\n".encode())},
            id="a line that is cut off",
        ),
        pytest.param({"always": answer("200 OK", b"x" * 20_000)}, id="a flood"),
        pytest.param(
            {"always": answer("409 Conflict", b"9" * 18 + b"\n", "text/x.tlog.size")},
            id="a size that no log has",
        ),
        pytest.param(
            {"always": answer("409 Conflict", b"2\n", "text/x.tlog.size")},
            id="the same size over and over",
        ),
        pytest.param({"always": answer("302 Found", b"")}, id="a redirect"),
        pytest.param({"always": b"HTTP/1.1 0 \r\n\r\n"}, id="no HTTP"),
        pytest.param({"delay_s": 60.0}, id="no answer"),
    ],
)
async def test_a_witness_that_lies_holds_up_nobody(
    engines: dict[Role, Engine],
    net: Net,
    log: FilledLog,
    servers: list[WitnessServer],
    lie: dict[str, object],
) -> None:
    for name, value in lie.items():
        setattr(servers[0], name, value)
    await serve(net, servers)
    served = served_log(engines, servers, 2)
    async with asking(cosigning(engines, net, servers, 2)) as task:
        for size in (3, 300, 301):
            await log.grow(size)
            result = await until_served(served, servers, size, 2)
            names = {cosignature.key.name for cosignature in result.cosignatures}
            assert names == {"w2.test/b", "w3.test/c"}
        assert servers[0].requests
        assert not task.done()
    async with engines[Role.PUBLISHER].connect() as connection:
        await continuity_of(served).verify_undisputed(connection)


@pytest.mark.parametrize(
    ("quorum", "claimants", "stops"),
    [(0, 1, False), (0, 2, True), (2, 1, False), (2, 2, True), (3, 1, True)],
)
async def test_witnesses_of_a_larger_tree_stop_a_log_that_was_put_back(
    engines: dict[Role, Engine],
    net: Net,
    log: FilledLog,
    servers: list[WitnessServer],
    *,
    quorum: int,
    claimants: int,
    stops: bool,
) -> None:
    """So many that the others are no quorum; who never answers claims nothing."""
    await serve(net, servers)
    await log.grow(300)
    for server in servers[:claimants]:
        server.seen = Checkpoint(origin=SIGNER.name, size=301, root=bytes(32))
    served = served_log(engines, servers, quorum)
    continuity = continuity_of(served)

    async def claimed() -> set[str]:
        async with engines[Role.API].connect() as connection:
            return set(await list_evidence(connection))

    expected = {server.witness.id for server in servers[:claimants]}
    async with asking(cosigning(engines, net, servers, quorum)):
        await until("all of them have claimed it", lambda: has_all(claimed, expected))
    async with engines[Role.PUBLISHER].connect() as connection:
        edge = await load_edge(connection)
        if not stops:
            await continuity.verify(connection, edge)
            return
        with pytest.raises(
            LogDamaged, match="cosigned 301 entries, the database has 300"
        ):
            await continuity.verify(connection, edge)
    # The log has the entries again, or the witness admits that it was wrong.
    await log.grow(301)
    assert await claimed() == set()


def continuity_of(served: ServedLog) -> Continuity:
    """With no file: the word of the witnesses alone."""
    return Continuity(Path("/nowhere"), [SIGNER.verifier_key], None, served.policy)


async def has_all(
    claimed: Callable[[], Awaitable[set[str]]], expected: set[str]
) -> bool:
    return await claimed() == expected


async def test_a_claim_that_a_witness_takes_back_is_dropped(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    await serve(net, servers[:1])
    await log.grow(3)
    async with engines[Role.COSIGNER].begin() as connection:
        await save_evidence(connection, servers[0].witness.id, "it cosigned 9", 9)
    served = served_log(engines, servers[:1], 1)
    async with asking(cosigning(engines, net, servers[:1], 1)):
        await until_served(served, servers[:1], 3, 1)
    async with engines[Role.API].connect() as connection:
        assert await list_evidence(connection) == {}


async def test_a_cosignature_by_a_forged_key_of_the_same_name_is_not_stored(
    engines: dict[Role, Engine],
    net: Net,
    log: FilledLog,
    owner: Engine,
    servers: list[WitnessServer],
) -> None:
    """The right name and key id, the signature by another key."""
    [server, *_] = servers
    honest = witness_signer(server.name)
    await log.grow(5)
    text = parse_note(log.notes[5]).text
    forged = cosign_text(text, witness_signer("other.test"), 1_767_000_000)
    line = NoteSignature(
        name=honest.name,
        key_id=honest.verifier_key.key_id,
        signature=forged.signature,
    )
    server.always = answer("200 OK", format_note(text, [line])[len(text) + 1 :])
    await serve(net, [server])
    work = cosigning(engines, net, [server], 1)
    async with asking(work):
        async with asyncio.timeout(PATIENCE_S):
            while not server.requests:
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
    assert await served_log(engines, [server], 1).checkpoint() is None


async def test_a_witness_that_saw_more_or_less_is_met_where_it_is(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    """Our memory of it is gone, as after a restore; and then its memory is."""
    [server, *_] = servers
    await serve(net, [server])
    served = served_log(engines, [server], 1)
    await log.grow(100)
    server.seen = verify_checkpoint(log.notes[100], SIGNER.verifier_key).checkpoint
    async with asking(cosigning(engines, net, [server], 1)):
        await log.grow(400)
        await until_served(served, [server], 400, 1)
        assert server.statuses[:2] in ([409, 200], [200, 200])
        server.seen = None
        await log.grow(401)
        await until_served(served, [server], 401, 1)
        assert server.statuses[-2:] == [409, 200]


async def test_a_forked_log_finds_no_witness(
    engines: dict[Role, Engine],
    net: Net,
    owner: Engine,
    log: FilledLog,
    servers: list[WitnessServer],
) -> None:
    [server, *_] = servers
    await serve(net, [server])
    await log.grow(50)
    async with asking(cosigning(engines, net, [server], 1)):
        await until_served(served_log(engines, [server], 1), [server], 50, 1)
    other = await empty_log(owner)
    await other.grow(60)
    server.seen = server.seen and type(server.seen)(
        origin=server.seen.origin, size=50, root=b"\1" * 32
    )
    async with asking(cosigning(engines, net, [server], 1)):
        async with asyncio.timeout(PATIENCE_S):
            while 422 not in server.statuses:
                await asyncio.sleep(0.01)
    assert await served_log(engines, [server], 1).checkpoint() is None


async def test_of_two_processes_one_asks(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    await serve(net, servers)
    served = served_log(engines, servers, 3)
    first, second = (cosigning(engines, net, servers, 3) for _ in range(2))
    async with asking(first), asking(second):
        for size in range(1, 6):
            await log.grow(size)
            await until_served(served, servers, size, 3)
    assert all(set(server.statuses) == {200} for server in servers)


async def test_the_served_checkpoint_is_text_with_all_lines(
    engines: dict[Role, Engine], net: Net, log: FilledLog, servers: list[WitnessServer]
) -> None:
    await serve(net, servers)
    served = served_log(engines, servers, 3)
    await log.grow(9)
    async with asking(cosigning(engines, net, servers, 3)):
        await until_served(served, servers, 9, 3)
    async with open_client(api=engines[Role.API], served=served) as client:
        answered: httpx.Response = await client.get("/checkpoint")
        proof = await client.get(f"/v1/records/{'0' * 26}/proof")
    assert answered.content.startswith(log.notes[9])
    assert answered.text.count("\n\u2014 ") == 4
    assert proof.content.endswith(answered.content)


async def test_the_process_asks_until_it_is_told_to_stop(  # noqa: PLR0917 — fixtures
    database: URL,
    engines: dict[Role, Engine],
    net: Net,
    log: FilledLog,
    servers: list[WitnessServer],
    tmp_path: Path,
) -> None:
    """As a process it is started, with the settings of an operator."""
    await serve(net, servers)
    hosts = tmp_path / "hosts"
    hosts.write_text(
        "".join(f"{name} {at.address}:{at.port}\n" for name, at in net.hosts.items())
    )
    witnesses = (
        f"{format_vkey(server.witness.key)} {server.witness.prefix}"
        for server in servers
    )
    settings = Settings(
        data=tmp_path,
        database_url=database.render_as_string(hide_password=False),
        allow_loopback=True,
        hosts_file=hosts,
        ca_file=net.ca_file,
        witnesses=", ".join(witnesses),
        witness_quorum=3,
    )
    await log.grow(300)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "crawler.witnesses"),
        env={**os.environ, **as_environment(settings)},
    )
    try:
        async with asyncio.timeout(60):
            served = served_log(engines, servers, 3)
            while await served.checkpoint() is None:
                await asyncio.sleep(0.05)
    finally:
        process.terminate()
        assert await process.wait() == 0
    await until_served(served, servers, 300, 3)


async def test_a_witness_of_our_own_is_asked_as_any_other(
    engines: dict[Role, Engine], net: Net, log: FilledLog, tmp_path: Path
) -> None:
    """`fair-registry witness` in a process of its own, by TLS; killed, and come back."""
    host, vkey = "w9.test", format_vkey(SIGNER.verifier_key)
    certified = net.authority.issue_cert(host)
    certified.private_key_pem.write_to_path(str(tmp_path / "key.pem"))
    for blob in certified.cert_chain_pems:
        blob.write_to_path(str(tmp_path / "cert.pem"), append=True)
    with closing(socket.create_server(("127.0.0.1", 0))) as trial:
        port: int = trial.getsockname()[1]
    net.hosts[host] = Endpoint("127.0.0.1", port)
    arguments = [
        *("-m", "registry", "witness", "--name", host, "--follow", vkey),
        *("--port", str(port), "--data", str(tmp_path / "witness")),
        *("--certificate", str(tmp_path / "cert.pem")),
        *("--certificate-key", str(tmp_path / "key.pem")),
    ]
    for size in (3, 700):
        process = await asyncio.create_subprocess_exec(sys.executable, *arguments)
        try:
            await until_listening(port)
            key = parse_vkey(
                (tmp_path / "witness" / "witness.vkey").read_text().strip()
            )
            witness = Witness(key=key, prefix=f"https://{host}")
            work = Cosigning(
                engines[Role.COSIGNER], net.fetcher(), [witness], quorum=1, pause_s=0.01
            )
            await log.grow(size)
            policy = WitnessPolicy(witnesses=(witness,), quorum=1)
            served = ServedLog(engines[Role.API], policy)
            async with asking(work), asyncio.timeout(PATIENCE_S):
                while (newest := await served.checkpoint()) is None or (
                    newest.size != size
                ):
                    await asyncio.sleep(0.01)
            verified = verify_checkpoint(newest.note, SIGNER.verifier_key, [key])
            assert len(verified.cosignatures) == 1
        finally:
            process.kill()
            await process.wait()


async def until_listening(port: int) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
