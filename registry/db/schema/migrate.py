"""Bringing a database to the newest schema."""

from importlib.resources import files

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection as SyncConnection

from registry.db.engine.engines import Engine


async def migrate(engine: Engine, revision: str = "head") -> None:
    """Run the migrations up to `revision`; does nothing where they have run."""
    async with engine.connect() as connection:
        await connection.run_sync(_upgrade, revision)
        await connection.commit()


def newest_revision() -> str:
    scripts = ScriptDirectory(str(files("migrations")))
    return scripts.get_current_head() or ""


def alembic_config(connection: SyncConnection) -> Config:
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(files("migrations")))
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: SyncConnection, revision: str) -> None:
    command.upgrade(alembic_config(connection), revision)
