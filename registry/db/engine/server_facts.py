"""Facts of a database server, and of the registry's schema in it."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from registry.db.engine.engines import Connection

_FACTS = text("""
    SELECT current_setting('server_version') AS version,
        current_setting('server_version_num')::int / 10000 AS major,
        clock_timestamp() AS now,
        to_regclass('public.schema_version') IS NOT NULL AS is_prepared
""")
_REVISION = text("SELECT version_num FROM public.schema_version")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """revision: of the registry's schema, None where there is none."""

    version: str
    major: int
    now: datetime
    revision: str | None


async def read_facts(connection: Connection) -> ServerFacts:
    facts = (await connection.execute(_FACTS)).one()
    revision = None
    if facts.is_prepared:
        revision = (await connection.execute(_REVISION)).scalar_one_or_none()
    return ServerFacts(
        version=facts.version, major=facts.major, now=facts.now, revision=revision
    )
