"""A site whose seq had been driven to the last number of all, before there was a bound."""

from alembic import command
from sqlalchemy import Connection, text

from registry.db.engine.engines import Engine
from registry.db.schema.migrate import alembic_config, migrate
from tests.db.scene import Scene

BEFORE = "0013"
LOCK = "UPDATE registry.site SET seq = 9007199254740991 WHERE site_id = :id"


def _downgrade(connection: Connection) -> None:
    command.downgrade(alembic_config(connection), BEFORE)


async def test_site_that_was_locked_out_takes_statements_again(
    scene: Scene, owner: Engine
) -> None:
    locked, other = await scene.register(), await scene.register()
    async with owner.connect() as connection:
        await connection.run_sync(_downgrade)
        await connection.execute(
            text(LOCK), {"id": (await scene.entry(locked)).site_id}
        )
        await connection.commit()
    await migrate(owner)
    assert (await scene.play(locked, act="withdraw")).status == "withdrawn"
    assert (await scene.entry(other)).seq == 1
