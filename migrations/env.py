"""Alembic's entry: runs the migrations over the connection it is handed."""

from alembic import context
from sqlalchemy import text

from registry.db.schema.metadata import metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table="schema_version",
    version_table_schema="public",
    transaction_per_migration=True,
)
with context.begin_transaction():
    connection.execute(text("SET LOCAL lock_timeout = '2s'"))
    context.run_migrations()
