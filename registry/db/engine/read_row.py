"""Rows of results as the dataclasses that use cases know."""

from dataclasses import fields
from typing import Any, TypeVar

T = TypeVar("T")


def read_row(kind: type[T], row: Any, **given: Any) -> T:
    """Make a dataclass of the columns that have the names of its fields.

    given: fields that are no column, or not as the column has them. Raises:
    AttributeError if the row lacks a column.
    """
    names = [field.name for field in fields(kind) if field.name not in given]  # type: ignore[arg-type] # a dataclass
    return kind(**{name: getattr(row, name) for name in names}, **given)
