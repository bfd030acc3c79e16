"""/v1/log/inclusion and /v1/log/consistency: proofs by number and by hash, as JSON."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from registry.db.engine.engines import reading
from registry.errors import Refused
from registry.interfaces.http.problems import problems
from registry.interfaces.http.refusals import PARAMETER_INVALID, PARAMETER_MISSING
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.log.proof_views import (
    ConsistencyView,
    InclusionView,
    view_consistency,
    view_inclusion,
)
from registry.tlog.canonical_text import MAX_INT64
from registry.usecases.log.log_proofs import find_leaf, prove_growth, prove_leaf

Size = Annotated[
    int | None,
    QueryParameter(ge=1, le=MAX_INT64, description="of a published tree; else newest"),
]


@get(
    "/log/inclusion",
    operation_id="proveInclusion",
    summary="That a leaf stands in the log",
    tags=["log"],
    responses=problems(404),
)
async def get_inclusion(
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
    return view_inclusion(await prove_leaf(services.served, index, size))


@get(
    "/log/consistency",
    operation_id="proveConsistency",
    summary="That one tree is the beginning of another",
    tags=["log"],
    responses=problems(404),
)
async def get_consistency(
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
    return view_consistency(await prove_growth(services.served, old_size, new_size))


async def _index_of(services: Services, leaf: int | None, leaf_hash: str | None) -> int:
    if leaf is not None and leaf_hash is not None:
        raise Refused(PARAMETER_INVALID, "leaf or hash, not both", pointer="hash")
    if leaf is not None:
        return leaf
    if leaf_hash is None:
        raise Refused(PARAMETER_MISSING, "leaf or hash is missing", pointer="leaf")
    async with reading(services.api).connect() as connection:
        return await find_leaf(connection, bytes.fromhex(leaf_hash))
