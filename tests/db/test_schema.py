"""The schema that migrations make, and what each role may do in it."""

import re

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Engine, Role
from registry.db.schema import (
    operator_tables,
    report_tables,
    tables,
)
from registry.db.schema.metadata import metadata

DECLARED_IN = (operator_tables, report_tables, tables)
SCHEMAS = ("registry", "audit", "disclosure")


PART = re.compile("(ranking|selection|entry)_.+")


def _is_declared(name: str | None, kind: str, _: object) -> bool:
    """Partitions are made by functions."""
    if kind == "schema":
        return name in SCHEMAS
    return kind != "table" or PART.fullmatch(name or "") is None


def differences(connection: Connection) -> list[object]:
    """Indexes are the migrations' own business."""
    context = MigrationContext.configure(
        connection,
        opts={
            "include_schemas": True,
            "include_name": _is_declared,
        },
    )
    result = compare_metadata(context, metadata)
    return [item for item in result if item[0] not in {"remove_index", "add_index"}]


@pytest.mark.filterwarnings("ignore:Did not recognize type 'xid8'")
async def test_tables_as_declared_are_the_tables_that_migrations_make(
    owner: Engine,
) -> None:
    async with owner.connect() as connection:
        assert await connection.run_sync(differences) == []


@pytest.mark.parametrize("table", ["site", "site_key", "document", "registration"])
async def test_ranker_cannot_read_names_or_keys(
    engines: dict[Role, Engine], table: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with engines[Role.RANKER].connect() as connection:
            await connection.execute(text(f"SELECT * FROM registry.{table}"))


async def test_ranker_reads_the_profile_view(engines: dict[Role, Engine]) -> None:
    async with engines[Role.RANKER].connect() as connection:
        query = text("SELECT site_id, listed, profile FROM registry.ranking_profile")
        assert (await connection.execute(query)).all() == []


async def test_ranker_has_no_right_that_leads_to_a_label(owner: Engine) -> None:
    """Through columns, schemas or functions that run as somebody else."""
    async with owner.connect() as connection:
        columns = await connection.execute(
            text("""
            SELECT c.oid::regclass::text, a.attname FROM pg_attribute a
            JOIN pg_class c ON c.oid = a.attrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname IN ('registry', 'audit', 'disclosure') AND a.attnum > 0
                AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'm', 'p')
                AND has_column_privilege('registry_ranker', c.oid, a.attnum, 'SELECT')
            """)
        )
        readable = {(row[0], row[1]) for row in columns}
        profile = {"site_id", "listed", "profile", "change_xid", "features"}
        assert readable == {
            (f"registry.{relation}", column)
            for relation in ("site_profile", "ranking_profile")
            for column in profile
        }
        usage = "SELECT has_schema_privilege('registry_ranker', :schema, 'USAGE')"
        for schema, may in (("disclosure", False), ("audit", False)):
            allowed = await connection.execute(text(usage), {"schema": schema})
            assert allowed.scalar_one() is may
        definers = await connection.execute(
            text("""
            SELECT p.oid::regprocedure::text FROM pg_proc p
            JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE p.prosecdef AND n.nspname IN ('registry', 'audit', 'disclosure')
                AND has_function_privilege('registry_ranker', p.oid, 'EXECUTE')
            """)
        )
        assert definers.all() == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit.entry SET body = ''",
        "DELETE FROM audit.entry",
        "TRUNCATE audit.entry",
        "UPDATE audit.tile_hash SET hash = ''",
        "DELETE FROM audit.policy",
        "DELETE FROM audit.selection",
        "UPDATE disclosure.label SET size = NULL",
        "DELETE FROM disclosure.label",
        "DELETE FROM disclosure.former_category",
    ],
)
async def test_audit_tables_refuse_change_even_by_their_owner(
    owner: Engine, statement: str
) -> None:
    async with owner.connect() as connection:
        await connection.execute(text("SET session_replication_role = replica"))
        with pytest.raises(DBAPIError, match="append-only"):
            await connection.execute(text(statement))


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        (Role.API, "INSERT INTO audit.entry DEFAULT VALUES"),
        (Role.API, "UPDATE registry.site SET status = 'active'"),
        (Role.API, "UPDATE registry.task SET due_at = now()"),
        (Role.API, "UPDATE registry.task SET failures = 0"),
        (Role.API, "INSERT INTO registry.notice (site_id) VALUES (1)"),
        (Role.API, "DELETE FROM registry.notice"),
        (Role.CRAWLER, "UPDATE registry.notice SET detail = ''"),
        (Role.CRAWLER, "SELECT * FROM registry.refresh"),
        (Role.API, "SELECT * FROM disclosure.label"),
        (Role.API, "SELECT * FROM disclosure.former_category"),
        (Role.CRAWLER, "UPDATE disclosure.former_category SET category = ''"),
        (Role.CRAWLER, "UPDATE disclosure.label SET size = 'large'"),
        (Role.LABELLER, "SELECT size FROM disclosure.label"),
        (Role.LABELLER, "SELECT host FROM registry.site"),
        (Role.ERASER, "SELECT * FROM disclosure.label"),
        (Role.API, "DELETE FROM audit.pending"),
        (Role.CRAWLER, "SELECT * FROM audit.ranking"),
        (Role.CRAWLER, "SELECT * FROM audit.day_seed"),
        (Role.PUBLISHER, "SELECT * FROM registry.site"),
        (Role.AUDITOR, "SELECT secret FROM audit.day_seed"),
        (Role.AUDITOR, "UPDATE audit.ranking SET query = NULL"),
        (Role.API, "DELETE FROM registry.operator"),
        (Role.API, "UPDATE registry.operator SET operator_id = ''"),
        (Role.API, "DELETE FROM audit.operator_count"),
        *(
            (role, f"SELECT * FROM {table}")
            for role in Role
            if role != Role.API
            for table in (
                "registry.operator_contact",
                "registry.operator_api_key",
                "registry.operator_nonce",
                "audit.operator_count",
            )
        ),
        (Role.AUDITOR, "DELETE FROM audit.kept_report"),
        (Role.API, "INSERT INTO audit.invariance_run (day) VALUES (now())"),
        (Role.REPORTER, "SELECT * FROM audit.entry"),
        (Role.REPORTER, "UPDATE audit.kept_form SET body = ''"),
    ],
)
async def test_role_is_kept_to_its_rights(
    engines: dict[Role, Engine], role: Role, statement: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with engines[role].begin() as connection:
            await connection.execute(text(statement))


async def test_commit_is_durable_before_it_returns(engines: dict[Role, Engine]) -> None:
    async with engines[Role.API].connect() as connection:
        for name in ("synchronous_commit", "fsync", "full_page_writes"):
            value = (await connection.execute(text(f"SHOW {name}"))).scalar_one()
            assert value == "on", name
