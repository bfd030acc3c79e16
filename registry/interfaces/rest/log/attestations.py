"""POST /v1/attestations: an auditor's attestation of rankings that he recomputed."""

from typing import Annotated

from litestar import Response, post
from litestar.params import JSONBody
from msgspec import Meta, field

from registry.interfaces.http.credentials import Call
from registry.interfaces.http.limits import limit_writes
from registry.interfaces.http.services import Injected
from registry.interfaces.rest.idempotency import idempotent, takes_key
from registry.interfaces.rest.wire_model import PromisedView, RequestBody, view_promised
from registry.records.attestation import Rescoring
from registry.records.auditor_signature import Signature
from registry.usecases.log.attest import accept_attestation


class AttestationRequest(RequestBody, Rescoring, frozen=True):
    """The members of a rescore record.

    auditor: a C2SP verifier key. aud: the log's origin. first, last: the leaves looked at. n: rankings among
    them that could be recomputed. report: `sha256:` and the hash in hex of the report, as
    JSON, that was computed again. sig: Ed25519 over the line `fair-registry/rescore/v1`
    and the canonical JSON of the other members, base64url.
    """

    audience: Annotated[str, Meta(max_length=256)] = field(name="aud")
    sig: Signature


@post("/attestations", operation_class=takes_key(), guards=[limit_writes])
async def attest(
    data: JSONBody[AttestationRequest], request: Call, services: Injected
) -> Response[PromisedView]:
    """An auditor's signed result of a recomputation; auditors are those of `/v1/log`."""
    async with idempotent(request, services, services.api) as call:
        attested = await accept_attestation(
            call.connection,
            data,
            auditors=services.auditors,
            origin=services.log_origin,
            promiser=services.searcher.promiser,
            ids=services.ids,
        )
        return await call.answer(view_promised(attested))
