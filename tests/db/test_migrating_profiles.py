"""Profiles of a data folder that was made before profiles had features."""

from pathlib import Path

from alembic import command
from sqlalchemy import Connection

from registry.db.engine.engines import Engine, Role
from registry.db.schema.migrate import alembic_config, migrate
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import parse_profile
from registry.usecases.search.build_index import IndexBuilder
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.sites.list_site import stored_profiles
from tests.db.scene import Scene

BEFORE = "0011"
STORED = "SELECT profile, features, policy FROM registry.site_profile ORDER BY site_id"


def _downgrade(connection: Connection) -> None:
    command.downgrade(alembic_config(connection), BEFORE)


async def take_back(owner: Engine) -> None:
    async with owner.connect() as connection:
        await connection.run_sync(_downgrade)
        await connection.commit()


async def test_sites_stay_in_the_answers(
    scene: Scene, owner: Engine, tmp_path: Path
) -> None:
    site_ids = {(await scene.entry(await scene.register())).site_id for _ in range(3)}
    await take_back(owner)
    await migrate(owner)
    builder = IndexBuilder(scene.engines[Role.RANKER], tmp_path, DEFAULT_POLICY)
    await builder.catch_up()
    follower = IndexFollower(tmp_path, scene.lister.encoder, DEFAULT_POLICY)
    follower.catch_up()
    assert follower.index.profiles().keys() >= site_ids


async def test_features_are_those_that_are_written_today(
    scene: Scene, owner: Engine
) -> None:
    for _ in range(3):
        await scene.register()
    before = await scene.sql(STORED)
    await take_back(owner)
    await migrate(owner)
    rows = await scene.sql(STORED)
    assert rows == before
    profiles = [parse_profile(row.profile) for row in rows]
    assert [row.features for row in rows] == [
        stored.features for stored in stored_profiles(profiles, DEFAULT_POLICY)
    ]


async def test_profile_of_another_release_waits_for_a_crawler(
    scene: Scene, owner: Engine
) -> None:
    site_id = (await scene.entry(await scene.register())).site_id
    own = "WHERE site_id = :site_id"
    await take_back(owner)
    await scene.sql(
        f"UPDATE registry.site_profile SET policy = 'old' {own}", site_id=site_id
    )
    await migrate(owner)
    result = f"SELECT features, policy FROM registry.site_profile {own}"
    assert (await scene.sql(result, site_id=site_id)) == [(b"", "old")]
    await scene.lister.renew_profiles(scene.crawler, scene.clock)
    ((features, policy),) = await scene.sql(result, site_id=site_id)
    assert features
    assert policy == DEFAULT_POLICY.digest
