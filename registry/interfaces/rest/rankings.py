"""GET /v1/rankings/{id}: a record, where it stands in the log, what is erased."""

from datetime import datetime
from typing import Any

import msgspec
from litestar import get
from litestar.params import FromPath

from registry.audit.disclosure import parse_disclosure
from registry.db import log, rankings
from registry.errors import NotFound
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.wire import Wire
from registry.usecases.receipts import is_asker, record_id_of
from registry.usecases.refusals import RANKING_UNKNOWN
from registry.usecases.search import DISCLOSED


class OpeningView(Wire):
    """disclosure: as RFC 9901 encodes it; its SHA-256 is one of the record's digests."""

    name: str
    value: Any
    disclosure: str


class RankingRecordView(Wire):
    """leafIndex: null until the record is published. record: as it was logged.

    openings: the personal part, for the asker only; null for anybody else.
    erased: names of disclosures that exist no more.
    """

    id: str
    leaf_index: int | None
    leaf_hash: str
    accepted_at: datetime
    record: dict[str, Any]
    openings: tuple[OpeningView, ...] | None
    erased: tuple[str, ...]


@get(
    "/rankings/{ranking_id:str}",
    operation_id="getRanking",
    summary="The record of a ranked answer",
    tags=["search"],
    responses=problems(404),
)
async def get_ranking(
    ranking_id: FromPath[str], services: Injected
) -> RankingRecordView:
    record_id = record_id_of(ranking_id)
    async with services.api.connect() as connection:
        found = await log.find_record(connection, record_id)
        if found is None or found.record.kind != "ranking":
            raise NotFound(RANKING_UNKNOWN)
        openings = await rankings.openings_of(connection, record_id)
    asks = is_asker(services.web_key, ranking_id)
    return RankingRecordView(
        id=record_id,
        leaf_index=found.leaf_index,
        leaf_hash=found.record.leaf_hash.hex(),
        accepted_at=found.record.accepted_at,
        record=msgspec.json.decode(found.record.body),
        openings=tuple(map(_view_opening, openings.values())) if asks else None,
        erased=tuple(name for name in DISCLOSED if name not in openings),
    )


def _view_opening(disclosure: str) -> OpeningView:
    opening = parse_disclosure(disclosure)
    return OpeningView(name=opening.name, value=opening.value, disclosure=disclosure)
