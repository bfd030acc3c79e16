"""The columns that a ranking is stored as: what reports, archives and audits take from it.

Each is computed once, when the ranking is committed. One that derives from a disclosure
is erased with it (`DERIVED`): a query's key is its hash, and as telling as the query.
"""

import struct
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

SITE_BYTES = 8
KEY_BYTES = 8

DERIVED: Mapping[str, str] = {
    "query_key": "query",
    "category": "filters",
    "located": "location",
}
"""Disclosure from which a column derives, by the name of the column."""

EMPTIED: Mapping[str, str] = {"returned": "''", "sampled": "''", "eligible": "0"}
"""Values, as SQL, in place of an erased answer's order, sample and count."""


class RankingColumns(NamedTuple):
    """Values in the order of the table's columns.

    operator: for whom it is counted, as in its record. eligible: how many sites were.
    returned, sampled: ids of sites, eight bytes each; the first by rank, the others some
    of the eligible. query_key: see `query_key`; None without a query. category: of the
    filters. located: the request came with a location. The last three are None once
    erased.
    """

    accepted_at: datetime
    operator: str
    eligible: int
    returned: bytes
    sampled: bytes
    query_key: bytes | None
    category: str | None
    located: bool | None

    @property
    def order(self) -> tuple[int, ...]:
        return unpack_sites(self.returned)


def query_key(query: str, record_id: str) -> int:
    """Return 64 bits that name a query; a ranking without one is named by its record."""
    name = f"query {query}" if query else f"ranking {record_id}"
    return int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8])


def stored_query_key(query: object) -> bytes | None:
    """Return the key as its column holds it; None for an empty query or none at all."""
    return query_key(str(query), "").to_bytes(KEY_BYTES) if query else None


def category_of(filters: object) -> str | None:
    """Return the category that the filters ask for; None if they ask for none."""
    category = filters.get("category") if isinstance(filters, Mapping) else None
    return str(category) if category else None


def pack_sites(sites: Sequence[int]) -> bytes:
    return struct.pack(f">{len(sites)}q", *sites)


def unpack_sites(packed: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(packed) // SITE_BYTES}q", packed)
