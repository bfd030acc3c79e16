"""Rows of what sites declare, from which labels and categories follow.

Of each site the newest statement that it signed, and the documents that counted, at the
window's end.
"""

from collections.abc import Iterator, Mapping
from itertools import accumulate, groupby
from typing import TYPE_CHECKING

import msgspec

from registry.errors import Refused
from registry.reports.archive.refusals import ARCHIVE_DAMAGED

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck

TYPES: Mapping[str, str] = {
    "site_id": "BIGINT",
    "statement": "VARCHAR",
    "keys": "VARCHAR",
    "documents": "VARCHAR",
}
_AT_ONCE_BYTES = 16 * 1024 * 1024
_SIZES = """
    SELECT 512 + coalesce(strlen(statement), 0) + coalesce(strlen(keys), 0)
        + coalesce(strlen(documents), 0) FROM declared
"""
_ROWS = f"SELECT {', '.join(TYPES)} FROM declared WHERE file_row_number BETWEEN ? AND ?"  # noqa: S608 — of our own names


class ArchivedDocument(msgspec.Struct, rename="camel", kw_only=True):
    """Document as it was fetched last with this meaning. Instants: seconds since 1970."""

    url: str
    content_type: str
    first_fetched_at: int
    fetched_at: int
    retired_at: int | None
    body: bytes


class DeclaredRow(msgspec.Struct, kw_only=True):
    """statement: a compact JWS. keys: JWKs that were ever published for the site."""

    site_id: int
    statement: str | None
    keys: tuple[dict[str, str], ...]
    documents: tuple[ArchivedDocument, ...]


def read_declared(duck: "Duck") -> Iterator[DeclaredRow]:
    """Yield the row of each site, of which no more are held than fit. Raises: Refused."""
    read = accumulate(size for (size,) in duck.execute(_SIZES).fetchall())
    for _, rows in groupby(enumerate(read), lambda row: row[1] // _AT_ONCE_BYTES):
        numbers = [number for number, _ in rows]
        span = [numbers[0], numbers[-1]]
        for site_id, statement, *texts in duck.execute(_ROWS, span).fetchall():
            try:
                keys, documents = map(msgspec.json.decode, texts)
                values = (site_id, statement, keys, documents)
                yield msgspec.convert(
                    dict(zip(TYPES, values, strict=True)), DeclaredRow
                )
            except (TypeError, ValueError) as error:
                problem = f"what site {site_id} declares can't be read: {error}"
                raise Refused(ARCHIVE_DAMAGED, problem) from error
