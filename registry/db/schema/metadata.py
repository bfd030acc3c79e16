"""Metadata that all tables are declared with, and what declares a table of each schema."""

from functools import partial

from sqlalchemy import Column, DateTime, MetaData, Table
from sqlalchemy.sql.schema import SchemaItem

metadata = MetaData()


def _table(name: str, *items: SchemaItem, schema: str) -> Table:
    return Table(name, metadata, *items, schema=schema)


audit_table = partial(_table, schema="audit")
disclosure_table = partial(_table, schema="disclosure")
registry_table = partial(_table, schema="registry")


def instant(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)
