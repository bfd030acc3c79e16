"""/v1/records/{id}: any record of the log by its id, and the proof that it is there."""

from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath

from registry.db.engine.engines import reading
from registry.errors import NotFound
from registry.interfaces.http.problems import problems
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.log.proof_views import (
    PROOF_RESPONSES,
    Form,
    InBothForms,
    answer_proof,
)
from registry.interfaces.rest.media_types import VARY
from registry.interfaces.rest.wire_model import WireModel, to_minute
from registry.sites.identifier import is_ulid
from registry.usecases.log.log_proofs import find_logged, prove_record
from registry.usecases.refusals import RECORD_UNKNOWN


class RecordView(WireModel):
    """leafIndex: null until it is published. record: as it was logged, canonical."""

    id: str
    kind: str
    leaf_index: int | None
    leaf_hash: str
    accepted_at: datetime
    record: dict[str, Any]


@get(
    "/records/{record_id:str}",
    operation_id="getRecord",
    summary="A record of the log, of any kind",
    tags=["log"],
    responses=problems(404),
)
async def get_record(record_id: FromPath[str], services: Injected) -> RecordView:
    """A record holds salted digests, and no words of a request."""
    async with reading(services.api).connect() as connection:
        logged = await find_logged(services.served, connection, _known_form(record_id))
    return RecordView(
        id=logged.record.record_id,
        kind=logged.record.kind,
        leaf_index=await services.served.published(logged.leaf_index),
        leaf_hash=logged.record.leaf_hash.hex(),
        accepted_at=to_minute(logged.record.accepted_at),
        record=msgspec.json.decode(logged.record.body),
    )


@get(
    "/records/{record_id:str}/proof",
    operation_id="proveRecord",
    summary="That a record stands in the log, as c2sp.org/tlog-proof@v1 or JSON",
    tags=["log"],
    operation_class=InBothForms,
    response_headers=[VARY],
    responses=PROOF_RESPONSES,
)
async def get_record_proof(
    record_id: FromPath[str],
    request: Request[Any, Any, Any],
    services: Injected,
    form: Form = None,
) -> Response[Any]:
    """An inclusion proof under a signed checkpoint, once the record is published."""
    return await prove_to(request, services, _known_form(record_id), form)


async def prove_to(
    request: Request[Any, Any, Any],
    services: Services,
    record_id: str,
    form: str | None,
    kind: str | None = None,
) -> Response[Any]:
    """The proof in the form that is wanted. kind: the one the record must be of."""
    async with reading(services.api).connect() as connection:
        logged = await find_logged(services.served, connection, record_id, kind)
    return answer_proof(request, form, await prove_record(services.served, logged))


def _known_form(record_id: str) -> str:
    if not is_ulid(record_id):
        raise NotFound(RECORD_UNKNOWN)
    return record_id
