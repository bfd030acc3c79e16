"""Policies and daily secrets: in the log before they are used, revealed when they are past."""

import asyncio
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.db.engine.engines import Role
from registry.db.log import policies
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.packing import unpack
from registry.records.record import parse_record
from registry.records.seed import verify_reveal
from registry.tlog.edge import TreeEdge
from registry.tlog.note import NoteAlgorithm, Signer
from registry.usecases.log.commit_ahead import commit_ahead
from registry.usecases.log.policy_history import trace_policies
from registry.usecases.log.sequence import Sequencer, load_edge
from registry.usecases.search.todays_seed import SeedReader
from tests.db.scene import NOON, Scene

SIGNER = Signer(
    name="registry.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(b"l" * 32),
)
CODE, OTHER_CODE = f"sha256:{'c' * 64}", f"sha256:{'d' * 64}"
TODAY = NOON.date()
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture(autouse=True)
async def first_day(scene: Scene) -> None:
    for table in ("entry", "tile_hash", "checkpoint", "policy"):
        await scene.sql(f"ALTER TABLE audit.{table} DISABLE TRIGGER USER")
        await scene.sql(f"TRUNCATE audit.{table}")
    await scene.sql("TRUNCATE audit.pending, audit.day_seed")


async def commit(scene: Scene, code: str = CODE) -> None:
    publisher = scene.engines[Role.PUBLISHER]
    await commit_ahead(publisher, DEFAULT_POLICY, code, scene.ids)


async def publish(scene: Scene) -> None:
    """Log all that is pending."""
    publisher = scene.engines[Role.PUBLISHER]
    async with publisher.connect() as connection:
        edge: TreeEdge = await load_edge(connection)
        await connection.commit()
        sequencer = Sequencer(publisher, SIGNER, scene.clock)
        await sequencer.step(connection, edge)


async def records(scene: Scene, kind: str) -> list[dict[str, Any]]:
    """All of the kind, in the order of their acceptance."""
    bodies: Sequence[Any] = await scene.sql(
        "SELECT body FROM (SELECT body, kind, leaf_index AS at FROM audit.entry "
        "UNION ALL SELECT body, kind, 1000000 + position FROM audit.pending) AS one "
        "WHERE kind = :kind ORDER BY at",
        kind=kind,
    )
    return [dict(parse_record(unpack(row.body))) for row in bodies]


def reader(scene: Scene) -> SeedReader:
    return SeedReader(scene.api, DEFAULT_POLICY.digest, CODE)


async def test_policy_is_logged_whole_and_once(scene: Scene) -> None:
    for _ in range(3):
        await commit(scene)
    (record,) = await records(scene, "policy")
    assert record["policy"] == DEFAULT_POLICY.digest
    assert str(record["text"]).encode() == DEFAULT_POLICY.canonical_json


async def test_policy_is_logged_again_when_other_code_ranks_by_it(scene: Scene) -> None:
    await commit(scene)
    await publish(scene)
    other = SeedReader(scene.api, DEFAULT_POLICY.digest, OTHER_CODE)
    assert await other.find(TODAY) is None, "what would rank does not stand in the log"
    for _ in range(2):
        await commit(scene, OTHER_CODE)
    await publish(scene)
    logged = await records(scene, "policy")
    assert [record["code"] for record in logged] == [CODE, OTHER_CODE]
    assert {record["policy"] for record in logged} == {DEFAULT_POLICY.digest}
    assert await other.find(TODAY)
    async with scene.api.connect() as connection:
        history = trace_policies(await policies.logged_policies(connection))
    assert [policy.code_digest for policy in history] == [OTHER_CODE, CODE]


async def test_secrets_of_today_and_tomorrow_are_committed_and_not_told(
    scene: Scene,
) -> None:
    await commit(scene)
    seeds = await records(scene, "seed")
    assert [seed["day"] for seed in seeds] == [TODAY.isoformat(), TOMORROW.isoformat()]
    assert all("secret" not in seed for seed in seeds)
    assert seeds[0]["commitment"] != seeds[1]["commitment"]


async def test_tomorrow_is_committed_before_it_begins(scene: Scene) -> None:
    await commit(scene)
    commitment = (await records(scene, "seed"))[1]["commitment"]
    scene.clock.advance(days=1)
    await commit(scene)
    seeds = await records(scene, "seed")
    of_today = [seed for seed in seeds if seed["day"] == TOMORROW.isoformat()]
    assert [element.get("commitment") for element in of_today] == [commitment]


async def test_secret_is_revealed_after_its_day_and_is_the_committed_one(
    scene: Scene,
) -> None:
    await commit(scene)
    commitment = (await records(scene, "seed"))[0]["commitment"]
    scene.clock.now = NOON.replace(hour=23, minute=59)
    await commit(scene)
    assert not [record for record in await records(scene, "seed") if "secret" in record]
    scene.clock.advance(minutes=60)
    await commit(scene)
    assert not [record for record in await records(scene, "seed") if "secret" in record]
    scene.clock.advance(minutes=1)
    for _ in range(2):
        await commit(scene)
    (reveal,) = (
        record for record in await records(scene, "seed") if "secret" in record
    )
    assert reveal["day"] == TODAY.isoformat()
    verify_reveal(bytes.fromhex(str(reveal["secret"])), str(commitment))


async def test_all_missed_days_are_revealed(scene: Scene) -> None:
    await commit(scene)
    scene.clock.advance(days=9)
    await commit(scene)
    days = [
        record["day"] for record in await records(scene, "seed") if "secret" in record
    ]
    assert days == [TODAY.isoformat(), TOMORROW.isoformat()]


async def test_many_processes_commit_once(scene: Scene) -> None:
    for _ in range(2):
        await asyncio.gather(*(commit(scene) for _ in range(5)))
        scene.clock.advance(days=1)
    days = [
        (record["day"], "secret" in record) for record in await records(scene, "seed")
    ]
    third = (TOMORROW + timedelta(days=1)).isoformat()
    assert sorted(days) == sorted(
        [
            (TODAY.isoformat(), False),
            (TODAY.isoformat(), True),
            (TOMORROW.isoformat(), False),
            (third, False),
        ]
    )
    assert len(await records(scene, "policy")) == 1


async def test_no_seed_is_given_before_its_commitment_stands_in_the_log(
    scene: Scene,
) -> None:
    seeds = reader(scene)
    assert await seeds.find(TODAY) is None
    await commit(scene)
    assert await seeds.find(TODAY) is None, "committed, but not yet logged"
    await publish(scene)
    result = await seeds.find(TODAY)
    assert result
    commitment, *_ = await records(scene, "seed")
    verify_reveal(result.secret, str(commitment["commitment"]))
    (row,) = await scene.sql(
        "SELECT body FROM audit.entry WHERE leaf_index = :leaf", leaf=result.leaf_index
    )
    assert parse_record(unpack(row.body))["commitment"] == commitment["commitment"]


async def test_no_seed_is_given_before_the_policy_stands_in_the_log(
    scene: Scene,
) -> None:
    await commit(scene)
    await publish(scene)
    other = SeedReader(scene.api, f"sha256:{'0' * 64}", CODE)
    assert await other.find(TODAY) is None
    assert await reader(scene).find(TODAY)


async def test_seed_of_a_day_without_one_is_not_invented(scene: Scene) -> None:
    await commit(scene)
    await publish(scene)
    assert await reader(scene).find(date(2026, 12, 24)) is None
