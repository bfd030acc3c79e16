"""/v1/rankings/{id}: a record, where it stands in the log, its proof, its erasure."""

from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Response, get, post
from litestar.params import FromPath

from registry.db.log import rankings
from registry.errors import Forbidden, NotFound
from registry.interfaces.http.credentials import (
    ANYBODY,
    Call,
    admit_caller,
    identify_operator,
)
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.log.proofs import (
    PROOF_RESPONSES,
    Form,
    InBothForms,
    prove_to,
)
from registry.interfaces.rest.media_types import VARY
from registry.interfaces.rest.wire_model import (
    PromiseView,
    WireModel,
    to_minute,
    view_promise,
)
from registry.records.disclosure import parse_disclosure
from registry.records.ranked_answer import DISCLOSED
from registry.usecases.log.erase import erase_ranking
from registry.usecases.refusals import RANKING_NOT_YOURS, RANKING_UNKNOWN
from registry.usecases.search.receipts import holds_receipt, record_id_of


class OpeningView(WireModel):
    """disclosure: as RFC 9901 encodes it; its SHA-256 is one of the record's digests."""

    name: str
    value: Any
    disclosure: str


class RankingRecordView(WireModel):
    """leafIndex: null until the record is published. record: as it was logged.

    openings: what was asked and answered, for the asker and the operator that it was
    counted for; null for anybody else. erased: names of disclosures that exist no more.
    """

    id: str
    leaf_index: int | None
    leaf_hash: str
    accepted_at: datetime
    record: dict[str, Any]
    openings: tuple[OpeningView, ...] | None
    erased: tuple[str, ...]


@get("/rankings/{ranking_id:str}", security=ANYBODY)
async def get_ranking(
    ranking_id: FromPath[str], request: Call, services: Injected
) -> RankingRecordView:
    """Openings are for the asker, by the whole id, or for the operator of the ranking."""
    operator = await identify_operator(request, services)
    return await find_ranking(services, ranking_id, operator)


async def find_ranking(
    services: Services, ranking_id: str, operator: str | None = None
) -> RankingRecordView:
    """Return the view of a ranking for the holder of the id, and an operator.

    Raises: NotFound.
    """
    record_id = record_id_of(ranking_id)
    async with services.api.connect() as connection:
        logged = await services.served.find(connection, record_id)
        if logged is None or logged.record.kind != "ranking":
            raise NotFound(RANKING_UNKNOWN)
        openings = await rankings.openings_of(connection, record_id)
    record = msgspec.json.decode(logged.record.body)
    may_open = holds_receipt(services.web_key, ranking_id) or record["op"] == operator
    return RankingRecordView.of(
        logged.record,
        leaf_index=await services.served.published(logged.leaf_index),
        accepted_at=to_minute(logged.accepted_at),
        record=record,
        openings=tuple(map(_view_opening, openings.values())) if may_open else None,
        erased=tuple(
            name
            for name in DISCLOSED
            if name not in openings and not (name == "answer" and record["v"] == 1)
        ),
    )


def _view_opening(disclosure: str) -> OpeningView:
    return OpeningView.of(parse_disclosure(disclosure))


@get(
    "/rankings/{ranking_id:str}/proof",
    operation_class=InBothForms,
    response_headers=[VARY],
    responses=PROOF_RESPONSES,
)
async def prove_ranking(
    ranking_id: FromPath[str],
    request: Request[Any, Any, Any],
    services: Injected,
    form: Form = None,
) -> Response[Any]:
    """An inclusion proof under a signed checkpoint, once the record is published."""
    record_id = record_id_of(ranking_id)
    return await prove_to(request, services, record_id, form, kind="ranking")


class ErasureView(WireModel):
    """id, leafHash, promise: of the record of the erasure.

    leafIndex: of the ranking. digests: of the disclosures that exist no more; none where
    the record covers all rankings of a range.
    """

    id: str
    leaf_hash: str
    promise: PromiseView
    leaf_index: int
    digests: tuple[str, ...]
    erased_at: datetime


@post(
    "/rankings/{ranking_id:str}/erase",
    operation_id="eraseRanking",
    security=ANYBODY,
    status_code=200,
)
async def erase(
    ranking_id: FromPath[str], request: Call, services: Injected
) -> ErasureView:
    """Query, place, scores and what else was disclosed are deleted.

    The record and its proofs stay. Only the asker can: with the whole id of the answer,
    or as the operator that it was counted for. To ask again is no mistake: the answer is
    the same.
    """
    operator = await admit_caller(request, services, Kind.ERASURE)
    record_id = record_id_of(ranking_id)
    if holds_receipt(services.web_key, ranking_id):
        operator = None
    elif operator is None:
        raise Forbidden(RANKING_NOT_YOURS, pointer="/rankingId")
    async with services.eraser.begin() as connection:
        erased = await erase_ranking(
            connection,
            record_id,
            promiser=services.searcher.promiser,
            ids=services.ids,
            operator=operator,
            find=services.served.find,
        )
    return ErasureView.of(
        erased,
        id=erased.record_id,
        promise=view_promise(erased.promise),
        erased_at=to_minute(erased.at),
    )
