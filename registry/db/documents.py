"""SQL of discovery documents: each a row per version, the newest not retired."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, and_, func, insert, select, update

from registry.db.engine import Connection
from registry.db.tables import document


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument:
    """A version of a document.

    provenance: the members of `formats.document.Provenance`.
    signature: {"status", "kind"?, "keyId"?, "detail"?}.
    """

    url: str
    format: str
    dialect: str
    conformance: str
    provenance: dict[str, Any]
    signature: dict[str, Any]
    deviations: list[dict[str, Any]]
    semantic_hash: bytes
    body: bytes
    content_type: str
    etag: str | None
    last_modified: str | None
    first_fetched_at: datetime
    fetched_at: datetime
    version: int = 1
    retired_at: datetime | None = None


async def current_documents(
    connection: Connection, site_id: int
) -> list[StoredDocument]:
    query = (
        select(document)
        .where(document.c.site_id == site_id, document.c.retired_at.is_(None))
        .order_by(document.c.url)
    )
    return [_document(row) for row in await connection.execute(query)]


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
    found: Sequence[StoredDocument],
    now: datetime,
) -> None:
    """Make these the site's current documents.

    An unchanged meaning only moves `fetched_at`; a changed one is a new version; a
    document that is no longer there is retired.
    """
    current = {one.url: one for one in await current_documents(connection, site_id)}
    for one in found:
        known = current.pop(one.url, None)
        if known is not None and known.semantic_hash == one.semantic_hash:
            await _refresh(connection, site_id, known, one)
        else:
            if known is not None:
                await _retire(connection, site_id, known.url, now)
            await _insert(connection, site_id, one)
    for url in current:
        await _retire(connection, site_id, url, now)


async def confirm_documents(
    connection: Connection, site_id: int, urls: Sequence[str], now: datetime
) -> None:
    """The current documents at these URLs were asked for and stand unchanged."""
    await connection.execute(
        update(document)
        .where(
            document.c.site_id == site_id,
            document.c.url.in_(urls),
            document.c.retired_at.is_(None),
        )
        .values(fetched_at=now)
    )


async def _refresh(
    connection: Connection, site_id: int, known: StoredDocument, new: StoredDocument
) -> None:
    await connection.execute(
        update(document)
        .where(_is_version(site_id, known.url), document.c.version == known.version)
        .values(
            fetched_at=new.fetched_at,
            body=new.body,
            etag=new.etag,
            last_modified=new.last_modified,
            signature=new.signature,
            deviations=new.deviations,
            conformance=new.conformance,
            dialect=new.dialect,
            provenance=new.provenance,
        )
    )


async def _retire(
    connection: Connection, site_id: int, url: str, now: datetime
) -> None:
    await connection.execute(
        update(document)
        .where(_is_version(site_id, url), document.c.retired_at.is_(None))
        .values(retired_at=now)
    )


async def _insert(connection: Connection, site_id: int, one: StoredDocument) -> None:
    last = await connection.execute(
        select(func.coalesce(func.max(document.c.version), 0)).where(
            _is_version(site_id, one.url)
        )
    )
    await connection.execute(
        insert(document).values(
            site_id=site_id,
            url=one.url,
            version=last.scalar_one() + 1,
            format=one.format,
            dialect=one.dialect,
            provenance=one.provenance,
            conformance=one.conformance,
            signature=one.signature,
            deviations=one.deviations,
            semantic_hash=one.semantic_hash,
            body=one.body,
            content_type=one.content_type,
            etag=one.etag,
            last_modified=one.last_modified,
            first_fetched_at=one.first_fetched_at,
            fetched_at=one.fetched_at,
        )
    )


def _is_version(site_id: int, url: str) -> Any:
    return and_(document.c.site_id == site_id, document.c.url == url)


def _document(row: Row[Any]) -> StoredDocument:
    return StoredDocument(
        url=row.url,
        format=row.format,
        dialect=row.dialect,
        provenance=row.provenance,
        conformance=row.conformance,
        signature=row.signature,
        deviations=row.deviations,
        semantic_hash=row.semantic_hash,
        body=row.body,
        content_type=row.content_type,
        etag=row.etag,
        last_modified=row.last_modified,
        first_fetched_at=row.first_fetched_at,
        fetched_at=row.fetched_at,
        version=row.version,
        retired_at=row.retired_at,
    )
