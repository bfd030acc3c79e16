"""Metadata that all tables are declared with."""

from sqlalchemy import Column, DateTime, MetaData

metadata = MetaData()


def instant(name: str, *, nullable: bool = False) -> Column[object]:
    return Column(name, DateTime(timezone=True), nullable=nullable)
