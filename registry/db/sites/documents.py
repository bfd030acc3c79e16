"""SQL of discovery documents: each a row per version, the newest not retired."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ARRAY, BigInteger, and_, bindparam, func, insert, select, update

from registry.db.engine.engines import Connection
from registry.db.engine.prepared import Gathered, Prepared
from registry.db.engine.read_row import read_row
from registry.db.schema.tables import document
from registry.formats.document import StoredDocument

_OWN_COLUMNS = tuple(
    column.name
    for column in document.c
    if column.name not in {"site_id", "version", "retired_at"}
)
_earlier = document.alias("earlier")
_NEXT_VERSION = (
    select(func.coalesce(func.max(_earlier.c.version), 0) + 1)
    .where(
        _earlier.c.site_id == bindparam("site_id"), _earlier.c.url == bindparam("url")
    )
    .scalar_subquery()
)
_INSERT = Prepared(
    insert(document).values(
        site_id=bindparam("site_id"),
        version=_NEXT_VERSION,
        **{name: bindparam(name) for name in _OWN_COLUMNS},
    )
)
_CURRENT = Prepared(
    select(document)
    .where(
        document.c.site_id == func.any(bindparam("site_ids", type_=ARRAY(BigInteger))),
        document.c.retired_at.is_(None),
    )
    .order_by(document.c.url)
)
_REFRESHED = (
    *("fetched_at", "body", "etag", "last_modified", "signature", "deviations"),
    *("conformance", "dialect", "provenance"),
)
_REFRESH = Prepared(
    update(document)
    .where(
        document.c.site_id == bindparam("of_site"),
        document.c.url == bindparam("of_url"),
        document.c.version == bindparam("of_version"),
    )
    .values({name: bindparam(name) for name in _REFRESHED})
)
_CONFIRM = Prepared(
    update(document)
    .where(
        document.c.site_id == bindparam("of_site"),
        document.c.url == func.any(bindparam("urls", type_=ARRAY(document.c.url.type))),
        document.c.retired_at.is_(None),
    )
    .values(fetched_at=bindparam("now"))
)


async def current_documents(
    connection: Connection, site_id: int
) -> list[StoredDocument]:
    return (await documents_of_sites(connection, [site_id]))[site_id]


async def documents_of_sites(
    connection: Connection, site_ids: Sequence[int]
) -> dict[int, list[StoredDocument]]:
    """Return the current documents of each of the sites."""
    documents: dict[int, list[StoredDocument]] = {site_id: [] for site_id in site_ids}
    for row in await _CURRENT(connection, site_ids=list(site_ids)):
        documents[row.site_id].append(_document(row))
    return documents


async def document_history(
    connection: Connection, site_id: int, limit: int
) -> list[StoredDocument]:
    """The newest version first."""
    query = (
        select(document)
        .where(document.c.site_id == site_id)
        .order_by(document.c.first_fetched_at.desc(), document.c.url)
        .limit(limit)
    )
    return [_document(row) for row in await connection.execute(query)]


async def save_documents(
    connection: Connection,
    site_id: int,
    documents: Sequence[StoredDocument],
    now: datetime,
    *,
    writes: Gathered,
    before: Mapping[str, StoredDocument],
) -> None:
    """Make these the site's current documents, after those before them, by URL.

    An unchanged meaning only moves `fetched_at`; a changed one is a new version; a
    document that is no longer there is retired. writes: takes what is found, and is to
    be carried out.
    """
    current = dict(before)
    for stored in documents:
        known = current.pop(stored.url, None)
        if known is not None and known.semantic_hash == stored.semantic_hash:
            await _refresh(writes, site_id, known, stored)
        else:
            if known is not None:
                await _retire(connection, site_id, known.url, now)
            await _insert(writes, site_id, stored)
    for url in current:
        await _retire(connection, site_id, url, now)


async def retire_documents(connection: Connection, site_id: int, now: datetime) -> None:
    """Retire all documents of a site."""
    await connection.execute(
        update(document)
        .where(document.c.site_id == site_id, document.c.retired_at.is_(None))
        .values(retired_at=now)
    )


async def note_signatures(
    connection: Connection, site_id: int, signatures: Mapping[str, dict[str, Any]]
) -> None:
    """Note what verified of the current documents' signatures, by URL."""
    for url, signature in signatures.items():
        await connection.execute(
            update(document)
            .where(_is_version(site_id, url), document.c.retired_at.is_(None))
            .values(signature=signature)
        )


async def confirm_documents(
    connection: Connection | Gathered, site_id: int, urls: Sequence[str], now: datetime
) -> None:
    """Note that the current documents at these URLs were requested and are unchanged."""
    await _CONFIRM(connection, of_site=site_id, urls=list(urls), now=now)


async def _refresh(
    writes: Gathered, site_id: int, known: StoredDocument, new: StoredDocument
) -> None:
    await _REFRESH(
        writes,
        of_site=site_id,
        of_url=known.url,
        of_version=known.version,
        **{name: getattr(new, name) for name in _REFRESHED},
    )


async def _retire(
    connection: Connection, site_id: int, url: str, now: datetime
) -> None:
    await connection.execute(
        update(document)
        .where(_is_version(site_id, url), document.c.retired_at.is_(None))
        .values(retired_at=now)
    )


async def _insert(writes: Gathered, site_id: int, stored: StoredDocument) -> None:
    values = {name: getattr(stored, name) for name in _OWN_COLUMNS}
    await _INSERT(writes, site_id=site_id, **values)


def _is_version(site_id: int, url: str) -> Any:
    return and_(document.c.site_id == site_id, document.c.url == url)


def _document(row: Any) -> StoredDocument:
    return read_row(StoredDocument, row)
