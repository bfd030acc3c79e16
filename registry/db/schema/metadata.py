"""Metadata that all tables are declared with, and what declares a table of each schema."""

from functools import partial
from typing import Any

from sqlalchemy import Column, DateTime, MetaData, Table, text
from sqlalchemy.sql.schema import SchemaItem
from sqlalchemy.types import TypeEngine

metadata = MetaData()
INSTANT = DateTime(timezone=True)


def _table(name: str, *items: SchemaItem, schema: str) -> Table:
    return Table(name, metadata, *items, schema=schema)


audit_table = partial(_table, schema="audit")
disclosure_table = partial(_table, schema="disclosure")
registry_table = partial(_table, schema="registry")


def _columns(
    kind: TypeEngine[Any] | type[TypeEngine[Any]], *names: str, **options: Any
) -> list[Column[Any]]:
    return [Column(name, kind, **options) for name in names]


required = partial(_columns, nullable=False)
optional = partial(_columns, nullable=True)
from_zero = partial(_columns, nullable=False, server_default=text("0"))
