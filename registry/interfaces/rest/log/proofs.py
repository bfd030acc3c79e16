"""/v1/records, and /v1/log/inclusion and /v1/log/consistency: records and their proofs.

Proofs are JSON for people and programs, and text for tlog clients.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, get
from litestar.params import FromPath, QueryParameter

from registry.db.engine.engines import reading
from registry.errors import NotFound, Refused
from registry.interfaces.http.problems import answer
from registry.interfaces.http.refusals import PARAMETER_INVALID, PARAMETER_MISSING
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.media_types import VARY, also_as
from registry.interfaces.rest.wire_model import WireModel, to_minute
from registry.sites.identifier import is_ulid
from registry.tlog.canonical_text import MAX_INT64
from registry.tlog.proof import format_log_proof
from registry.usecases.log.log_proofs import (
    ProvenRecord,
    find_leaf,
    find_logged,
    prove_growth,
    prove_leaf,
    prove_record,
)
from registry.usecases.refusals import RECORD_UNKNOWN

TEXT, JSON = "text/plain", "application/json"

Form = Annotated[
    Literal["text", "json"] | None,
    QueryParameter(
        name="form",
        description="text: c2sp.org/tlog-proof@v1; json: the same and the tree's root. "
        "Without it the Accept header decides, and without that it is text",
    ),
]


class InclusionView(WireModel):
    """hashes: from the leaf's sibling up, hex (RFC 9162, section 2.1.3)."""

    leaf_index: int
    leaf_hash: str
    tree_size: int
    root_hash: str
    hashes: tuple[str, ...]


class ConsistencyView(WireModel):
    """hashes: as RFC 9162, section 2.1.4, orders them, hex; none where the sizes agree."""

    from_size: int
    from_root_hash: str
    to_size: int
    to_root_hash: str
    hashes: tuple[str, ...]


class RecordProofView(InclusionView):
    """checkpoint: the signed note whose tree it is. proof: the tlog-proof as a text."""

    id: str
    kind: str
    checkpoint: str
    proof: str


InBothForms = also_as(TEXT)

PROOF_RESPONSES = answer("The proof", RecordProofView)


def answer_proof(
    request: Request[Any, Any, Any], form: str | None, proven: ProvenRecord
) -> Response[Any]:
    text = format_log_proof(proven.log_proof)
    headers = {"Vary": "Accept"}
    if (form or _wanted(request.headers.get("Accept", ""))) == "text":
        return Response(text, media_type=TEXT, headers=headers)
    view = RecordProofView.of(
        proven.inclusion,
        id=proven.record.id,
        kind=proven.record.kind,
        checkpoint=proven.checkpoint.note.decode(),
        proof=text.decode(),
    )
    return Response(view, media_type=JSON, headers=headers)


def _wanted(accept: str) -> str:
    """JSON only for those who name it and not text."""
    named = {item.partition(";")[0].strip().lower() for item in accept.split(",")}
    return "json" if JSON in named and TEXT not in named else "text"


Size = Annotated[
    int | None,
    QueryParameter(ge=1, le=MAX_INT64, description="of a published tree; else newest"),
]


@get("/log/inclusion")
async def prove_inclusion(
    services: Injected,
    leaf: Annotated[
        int | None, QueryParameter(ge=0, le=MAX_INT64, description="the leaf's index")
    ] = None,
    leaf_hash: Annotated[
        str | None,
        QueryParameter(
            name="hash", pattern="^[0-9a-fA-F]{64}$", description="its leaf hash, hex"
        ),
    ] = None,
    size: Size = None,
) -> InclusionView:
    """Name the leaf by its index or by its hash, as an answer's leafHash gives it."""
    index = await _index_of(services, leaf, leaf_hash)
    return InclusionView.of(await prove_leaf(services.served, index, size))


@get("/log/consistency")
async def prove_consistency(
    services: Injected,
    old_size: Annotated[
        int,
        QueryParameter(name="from", ge=1, le=MAX_INT64, description="the older size"),
    ],
    new_size: Annotated[
        int | None,
        QueryParameter(
            name="to", ge=1, le=MAX_INT64, description="the newer size; else newest"
        ),
    ] = None,
) -> ConsistencyView:
    """Sizes are of published trees; where `to` is left out the newest is meant."""
    growth = await prove_growth(services.served, old_size, new_size)
    return ConsistencyView.of(growth)


async def _index_of(services: Services, leaf: int | None, leaf_hash: str | None) -> int:
    if leaf is not None and leaf_hash is not None:
        raise Refused(PARAMETER_INVALID, "leaf or hash, not both", pointer="hash")
    if leaf is not None:
        return leaf
    if leaf_hash is None:
        raise Refused(PARAMETER_MISSING, "leaf or hash is missing", pointer="leaf")
    async with reading(services.api).connect() as connection:
        return await find_leaf(connection, bytes.fromhex(leaf_hash))


class RecordView(WireModel):
    """leafIndex: null until it is published. record: as it was logged, canonical."""

    id: str
    kind: str
    leaf_index: int | None
    leaf_hash: str
    accepted_at: datetime
    record: dict[str, Any]


@get("/records/{record_id:str}")
async def get_record(record_id: FromPath[str], services: Injected) -> RecordView:
    """A record holds salted digests, and no words of a request."""
    async with reading(services.api).connect() as connection:
        logged = await find_logged(services.served, connection, _known_form(record_id))
    return RecordView.of(
        logged.record,
        leaf_index=await services.served.published(logged.leaf_index),
        accepted_at=to_minute(logged.accepted_at),
        record=msgspec.json.decode(logged.record.body),
    )


@get(
    "/records/{record_id:str}/proof",
    operation_id="proveRecord",
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
    """Return the proof in the requested form. kind: the required kind of the record."""
    async with reading(services.api).connect() as connection:
        logged = await find_logged(services.served, connection, record_id, kind)
    return answer_proof(request, form, await prove_record(services.served, logged))


def _known_form(record_id: str) -> str:
    if not is_ulid(record_id):
        raise NotFound(RECORD_UNKNOWN)
    return record_id
