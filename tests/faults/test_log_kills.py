"""The log under sixteen writers while everything that writes it is killed or stopped."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from itertools import groupby
from operator import itemgetter

import psutil
import pytest

from registry import keyring
from registry.db.engine.embedded import EmbeddedPostgres
from registry.tlog.checkpoint import parse_checkpoint
from registry.tlog.note import VerifierKey, parse_vkey, verify_note
from tests.faults.log_scene import LogScene
from tests.faults.nest import Nest
from tests.faults.postgres import kill_and_start

pytestmark = pytest.mark.slow
KILLS, POSTGRES_KILLS = 10, 2
EARLY_KILLS = 8


@pytest.fixture(scope="module")
async def nest(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Nest]:
    folder = tmp_path_factory.mktemp("nest")
    async with Nest.open("tests.faults.log_nest", folder) as result:
        yield result


@pytest.fixture
async def scene(
    own_postgres: EmbeddedPostgres, nest: Nest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[LogScene]:
    folder = tmp_path_factory.mktemp("log")
    name = folder.name.replace("-", "_")
    own_postgres.create_database(name)
    async with LogScene(folder, own_postgres.url(name), nest) as log_scene:
        yield log_scene


async def kill(*processes: psutil.Process) -> None:
    """With signal 9, which no process can catch."""
    for process in processes:
        process.kill()
    await asyncio.to_thread(psutil.wait_procs, processes, 10)


async def test_kill_9_of_writers_sequencers_and_postgres_loses_and_doubles_nothing(
    scene: LogScene, own_postgres: EmbeddedPostgres
) -> None:
    dice = random.Random(6)
    writer = await scene.start_writer()
    publishers = [await scene.start_publisher() for _ in range(2)]
    await scene.goes_on()
    for number in range(KILLS):
        await kill(writer)
        writer = await scene.start_writer()
        await kill(publishers.pop(dice.randrange(2)))
        publishers.append(await scene.start_publisher())
        if number % (KILLS // POSTGRES_KILLS) == 0:
            await kill_and_start(own_postgres)
        await scene.goes_on()
    await kill(writer)
    await scene.verify()
    await kill(*publishers)
    assert len(scene.acknowledged()) >= KILLS, "each writer was answered"


async def test_writer_that_acknowledges_before_the_commit_is_found_out(
    scene: LogScene,
) -> None:
    """The control: the same kills, and the same count finds the loss."""
    publisher = await scene.start_publisher()
    for _ in range(EARLY_KILLS):
        writer = await scene.start_writer(early=True)
        await scene.goes_on()
        await kill(writer)
    leaves = await scene.drained()
    await kill(publisher)
    assert scene.lost_or_doubled(leaves)


async def test_sequencer_that_stands_still_is_replaced_and_can_not_fork_the_log(
    scene: LogScene,
) -> None:
    """Paused with the lock in its hand, it wakes up after another has worked on."""
    writer = await scene.start_writer()
    first = await scene.start_publisher()
    await scene.goes_on()
    second = await scene.start_publisher()
    held_by = await scene.holder()
    first.suspend()
    await scene.goes_on()  # perhaps by what it signed before
    await scene.goes_on(200)
    assert await scene.holder() not in {0, held_by}
    first.resume()
    await scene.goes_on(200)
    second.suspend()
    await scene.goes_on(200)
    second.resume()
    await kill(writer)
    await scene.verify()
    await kill(first, second)


async def test_key_of_the_log_can_be_replaced_while_the_log_goes_on(
    scene: LogScene,
) -> None:
    """Who knows the old key alone follows until it is taken away, the new one after."""
    keys, origin = scene.settings.keys, scene.settings.log_origin
    old = scene.log_key
    writer, publisher = await scene.start_writer(), await scene.start_publisher()
    await scene.goes_on()
    await kill(publisher)
    keyring.rotate_log_key(keys, origin)
    new = scene.log_key
    publisher = await scene.start_publisher()
    await scene.goes_on()
    await kill(publisher)
    (keys / f"{keyring.RETIRING}.pem").unlink()
    publisher = await scene.start_publisher()
    await scene.goes_on()
    await kill(writer)
    await scene.verify([old, new])
    await kill(publisher)

    assert [parse_vkey(vkey) for vkey in keyring.load_former_vkeys(keys)] == [old]
    signed = sorted(map(size_and_signers(old, new), scene.served), key=itemgetter(0))
    turns = [by for by, _ in groupby(item for _, item in signed)]
    assert turns == [{old}, {old, new}, {new}]


def size_and_signers(
    *keys: VerifierKey,
) -> Callable[[str], tuple[int, frozenset[VerifierKey]]]:
    def look(note: str) -> tuple[int, frozenset[VerifierKey]]:
        verified = verify_note(note.encode(), keys)
        signers = frozenset(signature.key for signature in verified.signatures)
        return parse_checkpoint(verified.text).size, signers

    return look
