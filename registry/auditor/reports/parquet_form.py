"""The Parquet form of a report as an auditor reads it: its pages, or its rows."""

import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path

from registry.reports.archive.duck import open_duck, parquet_source
from registry.reports.render.parquet import COLUMNS, compress_page

_GZIP = b"\x1f\x8b\x08"
_GZIP_WINDOW = 31  # zlib's number for a gzip header and the widest window
_TYPE_OF = {2: "BIGINT", 5: "DOUBLE", 6: "VARCHAR"}
TYPES = {column.name: _TYPE_OF[column.kind] for column in COLUMNS}
_DESCRIBED = """
    SELECT column_name, column_type
    FROM (DESCRIBE SELECT * FROM read_parquet($1, hive_partitioning = false))
"""


class ServedPages:
    """The compressed pages of a file, in their order."""

    def __init__(self, file: bytes) -> None:
        self._rest = file

    def compress(self, page: bytes) -> bytes:
        """Return the file's next page if it holds the same, else one of our own."""
        at = max(0, self._rest.find(_GZIP))
        inflate = zlib.decompressobj(_GZIP_WINDOW)
        try:
            plain = inflate.decompress(self._rest[at:], len(page) + 1)
        except zlib.error:
            return compress_page(page)
        if plain != page or not inflate.eof:
            return compress_page(page)
        packed = self._rest[at : len(self._rest) - len(inflate.unused_data)]
        self._rest = inflate.unused_data
        return packed


def read_lines(file: bytes, most: int) -> Sequence[str]:
    """Return the columns, and the rows if those are ours. most: lines to read.

    Raises: Refused where DuckDB can't read it.
    """
    with tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch:
        path = Path(scratch) / "report.parquet"
        path.write_bytes(file)
        with open_duck(Path(scratch)) as duck:
            columns = duck.execute(_DESCRIBED, [str(path)]).fetchmany(most)
            described = " ".join(f"{name}:{kind}" for name, kind in columns)
            if columns != [*TYPES.items()]:
                return [described]
            names, source = ", ".join(TYPES), parquet_source([path], TYPES)
            rows = duck.execute(f"SELECT {names} FROM {source}").fetchmany(most)  # noqa: S608 — of our own names
    return [described, *map(_format, rows)]


def _format(row: Sequence[object]) -> str:
    cells = zip(TYPES, row, strict=True)
    return " ".join(f"{name}={cell!r}" for name, cell in cells if cell is not None)
