"""Parquet files by DuckDB, in bounded memory; no other module knows it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

import msgspec

from registry.errors import Refused
from registry.reports.archive.refusals import ARCHIVE_DAMAGED, ARCHIVE_NEEDS_DUCKDB

if TYPE_CHECKING:
    import duckdb

    Duck = duckdb.DuckDBPyConnection

MEMORY = "384MB"
THREADS = 2
ROW_GROUP = 16_384
"""Rows: some 20 MB of rankings of twenty, which a reader holds at once."""


MAX_ITEMS = 4_096
MAX_TEXT_BYTES = 2_048
MAX_BYTES_OF = {
    "documents": 32 * 1024 * 1024,
    "filters": 32 * 1024,
    "keys": 1024 * 1024,
    "query": 8 * 1024,
    "scores": 64 * 1024,
    "source": 8 * 1024,
    "statement": 32 * 1024,
    "text": 64 * 1024,
}
"""Bounds of a list and of a column's texts, above what the registry lets in."""

_TYPES: Mapping[object, str] = {
    int: "BIGINT",
    str: "VARCHAR",
    bool: "BOOLEAN",
    float: "DOUBLE",
    datetime: "TIMESTAMP",
    date: "DATE",
}
_BATCH = 4_096

Row = TypeVar("Row", bound=msgspec.Struct)


def column_types(row: type[msgspec.Struct], **stated: str) -> dict[str, str]:
    """Return a column for each field of a row. stated: types that are not the usual ones."""
    kinds = {field.encode_name: field.type for field in msgspec.structs.fields(row)}
    usual = {name: (*get_args(kind), kind)[0] for name, kind in kinds.items()}
    return {name: stated.get(name) or _TYPES[kind] for name, kind in usual.items()}


@contextmanager
def open_duck(scratch: Path) -> "Iterator[Duck]":
    """Open DuckDB. scratch: a folder for what does not fit into memory.

    Raises: Refused where DuckDB is missing, and for whatever it can't read.
    """
    with Refused.on(ImportError, ARCHIVE_NEEDS_DUCKDB, str):
        import duckdb  # noqa: PLC0415 — 0.3 s that no other command is to wait for

    settings = {
        "memory_limit": MEMORY,
        "threads": str(THREADS),
        "temp_directory": str(scratch),
        # It would fetch code from elsewhere.
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    try:
        with duckdb.connect(config=dict(settings)) as duck:
            duck.execute("SET enable_progress_bar = false")
            yield duck
    except duckdb.Error as error:
        raise Refused(ARCHIVE_DAMAGED, str(error).partition("\n")[0]) from error


def write_parquet(
    duck: "Duck", lines: Path, columns: Mapping[str, str], to: Path
) -> None:
    """Write Parquet. lines: an object a line (NDJSON). columns: types by name, in order."""
    listed = ", ".join(f"{name}: {_quote(kind)}" for name, kind in columns.items())
    source = (
        f"{_quote(str(lines))}, format = 'newline_delimited', columns = {{{listed}}}"
    )
    copy_to_parquet(duck, f"SELECT * FROM read_json({source})", to)  # noqa: S608 — of our own names


def copy_to_parquet(
    duck: "Duck", query: str, to: Path, given: Mapping[str, object] | None = None
) -> None:
    """Run a query. given: values of its parameters."""
    how = f"FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP}"
    duck.execute(f"COPY ({query}) TO {_quote(str(to))} ({how})", given)


def read_rows(
    cursor: "Duck", source: str, row: type[Row], at_once: int = _BATCH
) -> Iterator[Row]:
    """Yield the rows of a table, some of which are held at once.

    Raises: Refused, where a row is not whole.
    """
    names = [field.encode_name for field in msgspec.structs.fields(row)]
    cursor.execute(f"SELECT {', '.join(names)} FROM {source}")  # noqa: S608 — of our own names
    while batch := cursor.fetchmany(at_once):
        for values in batch:
            yield _convert(dict(zip(names, values, strict=True)), row)


def _convert(values: dict[str, object], row: type[Row]) -> Row:
    try:
        return msgspec.convert(values, row)
    except msgspec.ValidationError as error:
        name, value = next(iter(values.items()))
        problem = f"the row of {name} {value} is not whole: {error}"
        raise Refused(ARCHIVE_DAMAGED, problem) from error


def view_parquet(duck: "Duck", name: str, source: str) -> None:
    duck.execute(f"CREATE TEMP VIEW {name} AS SELECT * FROM {source}")  # noqa: S608 — as above


def parquet_source(
    files: Sequence[Path], types: Mapping[str, str], later: Collection[str] = ()
) -> str:
    """Return the files as a table of a query, one after the other.

    types: of columns; later: of which older files lack some. A value beyond its bound
    fails before it is copied: rows may share one text, and each would get a copy.
    """
    listed = ", ".join(_quote(str(file)) for file in files)
    columns = ", ".join(_bounded(name, kind) for name, kind in types.items())
    how = "hive_partitioning = false, file_row_number = true"
    rows = f"SELECT * FROM read_parquet([{listed}], {how})"  # noqa: S608 — of our own names
    if later:
        lacking = ", ".join(f"NULL::{types[name]} AS {name}" for name in later)
        rows += f" UNION ALL BY NAME SELECT {lacking} WHERE false"
    return f"(SELECT {columns}, file_row_number FROM ({rows}))"  # noqa: S608 — as above


def _bounded(name: str, kind: str) -> str:
    most, measure = MAX_BYTES_OF.get(name, MAX_TEXT_BYTES), "strlen"
    if kind.endswith("[]"):
        most, measure = MAX_ITEMS, "len"
    elif kind != "VARCHAR":
        return name
    refusal = f"error('a {name} beyond {most}')"
    return (
        f"CASE WHEN {measure}({name}) > {most} THEN {refusal} ELSE {name} END AS {name}"
    )


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
