"""Parquet files taken apart and put together again, so that they lie."""

from pathlib import Path
from typing import Any, NamedTuple

from backports import zstd

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
FOOTER_TAIL = 8
Struct = dict[int, tuple[int, Any]]
"""Type and value of each field by its number; a list is the type of its items and they."""


class Parts(NamedTuple):
    """A file: its magic and pages, and its footer, which may be changed."""

    pages: bytes
    footer: Struct

    def whole(self, *, magic=b"PAR1") -> bytes:
        footer = encode(STRUCT, self.footer)
        return self.pages + footer + len(footer).to_bytes(4, "little") + magic

    @property
    def groups(self) -> list[Struct]:
        return self.footer[4][1][1]

    def chunk(self, column=0, group=0) -> Struct:
        """The ColumnChunk of a column by its number."""
        return self.groups[group][1][1][1][column]

    def column(self, name: str) -> Struct:
        """The ColumnMetaData of a column by its name."""
        chunks = [self.chunk(number)[3][1] for number in range(self.columns)]
        return next(c for c in chunks if c[3][1][1][0] == name.encode())

    @property
    def columns(self) -> int:
        return len(self.groups[0][1][1][1])


def take_apart(path: Path) -> Parts:
    data = path.read_bytes()
    length = int.from_bytes(data[-FOOTER_TAIL:-4], "little")
    start = len(data) - FOOTER_TAIL - length
    return Parts(data[:start], decode(data, start, STRUCT)[0])


def set_number(struct: Struct, field: int, value: int) -> None:
    struct[field] = (struct[field][0] if field in struct else I64, value)


def zigzag(value: int) -> bytes:
    return varint((value << 1) ^ (value >> 63))


def varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def encode(kind: int, value: Any) -> bytes:
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        item, values = value
        head = bytes([min(len(values), 15) << 4 | item])
        size = varint(len(values)) if len(values) > 14 else b""
        return head + size + b"".join(encode(item, v) for v in values)
    if kind == STRUCT:
        fields, before = bytearray(), 0
        for number, (field_kind, field) in sorted(value.items()):
            fields.append((number - before) << 4 | field_kind)
            before = number
            if field_kind > 2:
                fields += encode(field_kind, field)
        return bytes([*fields, 0])
    return zigzag(value)


def decode(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    """Return a value and where it ends."""
    if kind in {1, 2}:
        return None, at
    if kind == STRUCT:
        struct: Struct = {}
        number = 0
        while head := data[at]:
            at, number, field_kind = at + 1, number + (head >> 4), head & 15
            value, at = decode(data, at, field_kind)
            struct[number] = (field_kind, value)
        return struct, at + 1
    if kind == LIST:
        size, item, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = read_varint(data, at)
        values = []
        for _ in range(size):
            value, at = decode(data, at, item)
            values.append(value)
        return (item, values), at
    number, at = read_varint(data, at)
    if kind == BINARY:
        return data[at : at + number], at + number
    return (number >> 1) ^ -(number & 1), at


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return value, at


class Page(NamedTuple):
    """A page as it is to be written. claims: bytes that its header says it decompresses to."""

    data: bytes
    values: int
    encoding: int
    claims: int | None = None
    is_dictionary: bool = False

    def whole(self) -> bytes:
        packed = zstd.compress(self.data)
        size = len(self.data) if self.claims is None else self.claims
        about = {1: (I32, self.values), 2: (I32, self.encoding)}
        if not self.is_dictionary:
            about |= {3: (I32, 3), 4: (I32, 3)}
        header = {
            1: (I32, 2 if self.is_dictionary else 0),
            2: (I32, size),
            3: (I32, len(packed)),
            7 if self.is_dictionary else 5: (STRUCT, about),
        }
        return encode(STRUCT, header) + packed


def levels(*runs: tuple[int, int]) -> bytes:
    """Return runs of a value (count, value) as levels of one bit, after their length."""
    data = hybrid(*runs)
    return len(data).to_bytes(4, "little") + data


def hybrid(*runs: tuple[int, int]) -> bytes:
    return b"".join(varint(count << 1) + bytes([value]) for count, value in runs)


def replace_pages(parts: Parts, name: str, pages: list[Page], values: int) -> Parts:
    """Lay out the file again, with other pages of a column. values: that its footer claims."""
    body = bytearray(b"PAR1")
    for number in range(parts.columns):
        column = parts.chunk(number)[3][1]
        start = column.get(11, column[9])[1]
        data = parts.pages[start : start + column[7][1]]
        moved = len(body) - start
        if column[3][1][1][0] == name.encode():
            data = b"".join(page.whole() for page in pages)
            column.pop(11, None)
            column.pop(12, None)  # statistics of what it held before
            column[9] = (I64, start)
            if pages[0].is_dictionary:
                column[11], column[9] = (
                    (I64, start),
                    (I64, start + len(pages[0].whole())),
                )
            set_number(column, 5, values)
            set_number(column, 7, len(data))
        for field in {9, 11} & column.keys():
            set_number(column, field, column[field][1] + moved)
        column.pop(14, None)  # the Bloom filters go
        column.pop(15, None)
        body += data
    return Parts(bytes(body), parts.footer)
