"""Proofs as they go out: for people and programs as JSON, for tlog clients as text."""

from typing import Annotated, Any, Literal

from litestar import Request, Response
from litestar.openapi import ResponseSpec
from litestar.params import QueryParameter

from registry.interfaces.http.problems import problems
from registry.interfaces.rest.media_types import also_as
from registry.interfaces.rest.wire_model import WireModel
from registry.tlog.proof import format_log_proof
from registry.usecases.log.log_proofs import ConsistencyProof, Inclusion, ProvenRecord

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

PROOF_RESPONSES = {
    **problems(404, 409),
    200: ResponseSpec(
        RecordProofView, generate_examples=False, description="The proof"
    ),
}


def answer_proof(
    request: Request[Any, Any, Any], form: str | None, proven: ProvenRecord
) -> Response[Any]:
    text = format_log_proof(proven.log_proof)
    headers = {"Vary": "Accept"}
    if (form or _wanted(request.headers.get("Accept", ""))) == "text":
        return Response(text, media_type=TEXT, headers=headers)
    view = RecordProofView(
        **_members(proven.inclusion),
        id=proven.record.record.record_id,
        kind=proven.record.record.kind,
        checkpoint=proven.checkpoint.note.decode(),
        proof=text.decode(),
    )
    return Response(view, media_type=JSON, headers=headers)


def view_inclusion(inclusion: Inclusion) -> InclusionView:
    return InclusionView(**_members(inclusion))


def view_consistency(consistency: ConsistencyProof) -> ConsistencyView:
    return ConsistencyView(
        from_size=consistency.old_size,
        from_root_hash=consistency.old_root.hex(),
        to_size=consistency.new_size,
        to_root_hash=consistency.new_root.hex(),
        hashes=tuple(value.hex() for value in consistency.hashes),
    )


def _members(inclusion: Inclusion) -> dict[str, Any]:
    return {
        "leaf_index": inclusion.index,
        "leaf_hash": inclusion.leaf_hash.hex(),
        "tree_size": inclusion.size,
        "root_hash": inclusion.root.hex(),
        "hashes": tuple(value.hex() for value in inclusion.hashes),
    }


def _wanted(accept: str) -> str:
    """JSON only for those who name it and not text."""
    named = {item.partition(";")[0].strip().lower() for item in accept.split(",")}
    return "json" if JSON in named and TEXT not in named else "text"
