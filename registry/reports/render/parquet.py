"""The report as Parquet: the rows of the CSV form with typed columns.

One row group, one page a column, plain values behind definition levels, by gzip: the
least of the format that its readers take, so that a table of some thousand rows needs
no library of a million lines, and the same report gives the same bytes.
Source: the Apache Parquet format, version 2, and Thrift's compact protocol.
"""

import math
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

from registry.reports.model import FairnessReport
from registry.reports.render.report_rows import rows_of
from registry.reports.row_types import Row

MEDIA_TYPE = "application/vnd.apache.parquet"

_MAGIC = b"PAR1"
_CREATED_BY = "fair-registry"
_INT64, _DOUBLE, _BYTE_ARRAY = 2, 5, 6
_OPTIONAL, _UTF8, _DATA_PAGE, _PLAIN, _RLE, _GZIP = 1, 0, 0, 0, 3, 2
_GZIP_WINDOW = 31  # zlib's number for a gzip header and the widest window

Cell: TypeAlias = str | int | float | None
Compress: TypeAlias = Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class ParquetColumn:
    """Column of the table. kind: of the format's physical types."""

    name: str
    kind: int
    cell: Callable[[Row], Cell]


COLUMNS = (
    ParquetColumn("path", _BYTE_ARRAY, lambda row: row.path),
    ParquetColumn("section", _BYTE_ARRAY, lambda row: row.section),
    ParquetColumn("part", _BYTE_ARRAY, lambda row: "=".join(row.part) or None),
    ParquetColumn("dimension", _BYTE_ARRAY, lambda row: row.dimension),
    ParquetColumn("class", _BYTE_ARRAY, lambda row: row.kind),
    ParquetColumn("measure", _BYTE_ARRAY, lambda row: row.measure),
    ParquetColumn("figure", _BYTE_ARRAY, lambda row: row.figure),
    ParquetColumn("value", _DOUBLE, lambda row: _number(row.value)),
    ParquetColumn(
        "text",
        _BYTE_ARRAY,
        lambda row: row.value if isinstance(row.value, str) else None,
    ),
    ParquetColumn("low", _DOUBLE, lambda row: _number(row.low)),
    ParquetColumn("high", _DOUBLE, lambda row: _number(row.high)),
    ParquetColumn("unit", _BYTE_ARRAY, lambda row: row.unit),
    ParquetColumn("rankings", _INT64, lambda row: row.rankings),
    ParquetColumn("queries", _INT64, lambda row: row.queries),
    ParquetColumn("withheld", _BYTE_ARRAY, lambda row: row.withheld or None),
    ParquetColumn("definition", _BYTE_ARRAY, lambda row: row.definition or None),
)
"""Columns of the CSV form; a value that is a text is in `text`."""


def compress_page(page: bytes) -> bytes:
    """Compress by gzip: other builds of zlib give other bytes."""
    deflate = zlib.compressobj(6, zlib.DEFLATED, _GZIP_WINDOW)
    return deflate.compress(page) + deflate.flush()


def format_parquet(report: FairnessReport, compress: Compress = compress_page) -> bytes:
    return write_table(COLUMNS, list(rows_of(report)), compress)


def write_table(
    columns: Sequence[ParquetColumn],
    rows: Sequence[Row],
    compress: Compress = compress_page,
) -> bytes:
    parts, chunks, size = [_MAGIC], [], len(_MAGIC)
    for column in columns:
        page, plain_size = _page(column, rows, compress)
        parts.append(page)
        chunks.append(_chunk(column, len(rows), size, len(page), plain_size))
        size += len(page)
    footer = _file(columns, chunks, len(rows))
    return b"".join([*parts, footer, len(footer).to_bytes(4, "little"), _MAGIC])


def _page(
    column: ParquetColumn, rows: Sequence[Row], compress: Compress
) -> tuple[bytes, int]:
    """Return a page with its header, and the length of both before compression."""
    cells = [column.cell(row) for row in rows]
    body = _levels(cells) + b"".join(_encode(column.kind, cell) for cell in cells)
    packed = compress(body)
    levels = [
        _field(1, len(cells)),
        _field(2, _PLAIN),
        _field(3, _RLE),
        _field(4, _RLE),
    ]
    header = _struct(
        _field(1, _DATA_PAGE),
        _field(2, len(body)),
        _field(3, len(packed)),
        (5, _STRUCT, _struct(*levels)),
    )
    return header + packed, len(header) + len(body)


def _levels(cells: Sequence[Cell]) -> bytes:
    """Return which cells have a value: runs of ones and zeros."""
    runs = groupby(cell is not None for cell in cells)
    levels = b"".join(
        _varint(sum(1 for _ in run) << 1) + bytes([has_value])
        for has_value, run in runs
    )
    return len(levels).to_bytes(4, "little") + levels


def _encode(kind: int, cell: Cell) -> bytes:
    if cell is None:
        return b""
    if kind == _DOUBLE:
        return struct.pack("<d", cell)
    if kind == _INT64:
        return struct.pack("<q", cell)
    text = str(cell).encode()
    return len(text).to_bytes(4, "little") + text


def _number(value: Cell) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number and value is not None else None


# --- the footer, by Thrift's compact protocol ---

_I64, _BINARY, _LIST, _STRUCT, _I32 = 6, 8, 9, 12, 5
_Field: TypeAlias = tuple[int, int, bytes]


def _file(
    columns: Sequence[ParquetColumn], chunks: Sequence[bytes], count: int
) -> bytes:
    root = _struct(_text_field(4, "report"), _field(5, len(columns)))
    group = _struct(
        _list(1, _STRUCT, chunks), _field(2, 0, _I64), _field(3, count, _I64)
    )
    return _struct(
        _field(1, 2),
        _list(2, _STRUCT, [root, *map(_element, columns)]),
        _field(3, count, _I64),
        _list(4, _STRUCT, [group]),
        _text_field(6, _CREATED_BY),
    )


def _element(column: ParquetColumn) -> bytes:
    """Return a column's element of the schema."""
    fields = [_field(1, column.kind), _field(3, _OPTIONAL), _text_field(4, column.name)]
    if column.kind == _BYTE_ARRAY:
        fields.append(_field(6, _UTF8))
    return _struct(*fields)


def _chunk(
    column: ParquetColumn, count: int, offset: int, packed_size: int, plain_size: int
) -> bytes:
    metadata = _struct(
        _field(1, column.kind),
        _list(2, _I32, [_zigzag(_PLAIN), _zigzag(_RLE)]),
        _list(3, _BINARY, [_binary(column.name)]),
        _field(4, _GZIP),
        _field(5, count, _I64),
        _field(6, plain_size, _I64),
        _field(7, packed_size, _I64),
        _field(9, offset, _I64),
    )
    return _struct(_field(2, offset, _I64), (3, _STRUCT, metadata))


def _struct(*fields: _Field) -> bytes:
    """Return a struct. fields: number, type and value, ascending, less than 16 apart."""
    parts, before = [], 0
    for number, kind, value in fields:
        parts += [bytes([number - before << 4 | kind]), value]
        before = number
    return b"".join([*parts, b"\0"])


def _field(number: int, value: int, kind: int = _I32) -> _Field:
    return number, kind, _zigzag(value)


def _text_field(number: int, text: str) -> _Field:
    return number, _BINARY, _binary(text)


def _list(number: int, kind: int, items: Sequence[bytes]) -> _Field:
    short = len(items) < 15
    head = bytes([len(items) << 4 | kind]) if short else bytes([0xF0 | kind])
    size = b"" if short else _varint(len(items))
    return number, _LIST, b"".join([head, size, *items])


def _binary(text: str) -> bytes:
    encoded = text.encode()
    return _varint(len(encoded)) + encoded


def _zigzag(value: int) -> bytes:
    """Return a number in zigzag form. value: 0 or more."""
    return _varint(value << 1)


def _varint(value: int) -> bytes:
    return bytes(_sevens(value))


def _sevens(value: int) -> Iterator[int]:
    while value > 127:
        yield value & 127 | 128
        value >>= 7
    yield value
