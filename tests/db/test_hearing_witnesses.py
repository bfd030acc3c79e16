"""A publisher signs nothing before its witnesses have said where the log ends."""

import asyncio
import math
from dataclasses import replace
from pathlib import Path

import pytest

from registry.db.engine.engines import Engine, Role
from registry.db.log import entries
from registry.db.log.cosignatures import list_evidence
from registry.records.record import Record
from registry.sites.identifier import ULID_LENGTH, encode_base32
from registry.tlog.checkpoint import Checkpoint
from registry.usecases.log.continuity import Continuity, LogDamaged
from registry.usecases.log.sequence import Sequencer
from registry.usecases.log.served_log import WitnessPolicy
from tests.crawler.net import Net
from tests.crawler.witness_server import WitnessServer
from tests.db.filled_log import SIGNER, FilledLog
from tests.db.scene import NOON
from tests.db.test_cosigning import asking, cosigning, serve
from tests.db.test_sequencing import running
from tests.waiting import PATIENCE_S, until

SIZE = 12


@pytest.fixture
def server() -> WitnessServer:
    return WitnessServer("w1.test/a", SIGNER.verifier_key)


@pytest.fixture
def continuity(server: WitnessServer, tmp_path: Path) -> Continuity:
    """The file was put back too, so that it knows no better than the database."""
    policy = WitnessPolicy((server.witness,), 0)
    keys = [SIGNER.verifier_key]
    return Continuity(tmp_path / "checkpoint", keys, None, policy, hearing_s=math.inf)


@pytest.fixture
async def waiting(engines: dict[Role, Engine], log: FilledLog) -> None:
    """A log of some entries, and one record that waits."""
    await log.grow(SIZE)
    record = Record(
        id=encode_base32(9_999, ULID_LENGTH), kind="ranking", body=b'{"i":9999}'
    )
    async with engines[Role.API].begin() as connection:
        await entries.accept(connection, record, NOON)


def sequencer(engines: dict[Role, Engine], continuity: Continuity) -> Sequencer:
    return Sequencer(
        engines[Role.PUBLISHER], SIGNER, lambda: NOON, continuity=continuity
    )


async def published_size(engines: dict[Role, Engine]) -> int:
    async with engines[Role.PUBLISHER].connect() as connection:
        newest = await entries.latest_checkpoint(connection)
    return newest.size if newest else 0


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize("seen", [SIZE + 4, SIZE, SIZE - 4])
async def test_data_that_was_put_back_whole_is_refused_before_anything_is_signed(
    engines: dict[Role, Engine],
    net: Net,
    server: WitnessServer,
    continuity: Continuity,
    seen: int,
) -> None:
    """The witness cosigned a larger tree, or another one of that size, or of a smaller."""
    server.seen = Checkpoint(origin=SIGNER.name, size=seen, root=bytes(32))
    await serve(net, [server])
    async with asking(cosigning(engines, net, [server])):
        with pytest.raises(
            LogDamaged, match=rf"w1\.test/a.* cosigned .*{seen} entries"
        ):
            async with asyncio.timeout(PATIENCE_S):
                await sequencer(engines, continuity).run()
    assert await published_size(engines) == SIZE


@pytest.mark.usefixtures("waiting")
async def test_once_the_witness_has_cosigned_it_again_the_log_goes_on(
    engines: dict[Role, Engine],
    net: Net,
    server: WitnessServer,
    continuity: Continuity,
) -> None:
    await serve(net, [server])
    async with asking(cosigning(engines, net, [server])):
        await until("it has cosigned", lambda: 200 in server.statuses)
        async with running(sequencer(engines, continuity)):
            await until("the record is published", lambda: has_grown(engines))
    assert len(server.statuses) > 1


@pytest.mark.usefixtures("waiting")
async def test_a_witness_that_says_nothing_does_not_stop_a_log_without_a_quorum(
    engines: dict[Role, Engine], continuity: Continuity
) -> None:
    hasty = replace(continuity, hearing_s=0.1)
    async with running(sequencer(engines, hasty)):
        await until("the record is published", lambda: has_grown(engines))


@pytest.mark.usefixtures("waiting")
async def test_with_a_quorum_the_publisher_waits(
    engines: dict[Role, Engine],
    net: Net,
    server: WitnessServer,
    continuity: Continuity,
) -> None:
    policy = replace(continuity.policy, quorum=1)
    strict = replace(continuity, policy=policy, hearing_s=0.1)
    async with running(sequencer(engines, strict)):
        await asyncio.sleep(1)
        assert not await has_grown(engines)
        await serve(net, [server])
        async with asking(cosigning(engines, net, [server], 1)):
            await until("the record is published", lambda: has_grown(engines))


async def is_asked(engines: dict[Role, Engine]) -> bool:
    async with engines[Role.API].connect() as connection:
        return bool(await list_evidence(connection))


async def has_grown(engines: dict[Role, Engine]) -> bool:
    return await published_size(engines) == SIZE + 1
