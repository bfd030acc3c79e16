"""The asker of a request: known by an API key or a signature, or anonymous.

Nothing of it is ever logged. A request that says nothing is anonymous; one that says
something wrong is refused, never taken for anonymous.
"""

from typing import Any

from litestar import Request

from registry.errors import Unauthorized
from registry.identity.requests.operator_request import SignedRequest, is_for_us
from registry.identity.requests.web_bot_auth import authority_of
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.services import Services
from registry.usecases.refusals import CREDENTIALS_INVALID, CREDENTIALS_MISSING

OPERATOR_SECURITY: list[dict[str, list[str]]] = [{"operatorKey": []}]
"""Security, in OpenAPI's form: only an operator is answered."""
ANYBODY: list[dict[str, list[str]]] = [{}, *OPERATOR_SECURITY]
"""Security, in OpenAPI's form: an operator is counted, all others are answered too."""

Call = Request[Any, Any, Any]

_SIGNATURE_FIELDS = ("signature-input", "signature", "content-digest")


async def identify_operator(request: Call, services: Services) -> str | None:
    """The operator's id, or None. Raises: Unauthorized."""
    given = request.headers.getall("authorization", [])
    signature_input = ", ".join(request.headers.getall("signature-input", []))
    is_signed = is_for_us(signature_input)
    if not given and not is_signed:
        return None
    if is_signed + len(given) > 1:
        raise Unauthorized(CREDENTIALS_INVALID, "There is more than one.")
    if is_signed:
        signed = await _signed(request, services.origin)
        return await services.operators.of_signature(signed)
    return await services.operators.of_api_key(parse_bearer(given[0]))


async def admit_caller(request: Call, services: Services, kind: Kind) -> str | None:
    """Count the request; return the operator's id, or None.

    Raises: Unauthorized, RateLimited, Unavailable.
    """
    try:
        operator = await identify_operator(request, services)
    except Unauthorized:
        await services.limits.admit(
            request.scope, kind
        )  # who guesses keys is anonymous
        raise
    await services.limits.admit(request.scope, kind, operator)
    return operator


async def require_operator(
    request: Call, services: Services, kind: Kind | None = None
) -> str:
    """The operator's id. kind: of what is counted. Raises: Unauthorized, RateLimited."""
    operator = (
        await admit_caller(request, services, kind)
        if kind
        else await identify_operator(request, services)
    )
    if operator is None:
        raise Unauthorized(CREDENTIALS_MISSING)
    return operator


def parse_bearer(authorization: str) -> str:
    """The key in the header (RFC 6750, section 2.1). Raises: Unauthorized."""
    scheme, _, key = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise Unauthorized(
            CREDENTIALS_INVALID, "The scheme is not Bearer.", pointer="Authorization"
        )
    return key.strip(" ")


async def _signed(request: Call, origin: str) -> SignedRequest:
    """The authority is our own, whatever Host says: a signature is for one registry."""
    scope = request.scope
    fields = {name: request.headers.getall(name, []) for name in _SIGNATURE_FIELDS}
    return SignedRequest(
        method=scope["method"],
        authority=authority_of(origin),
        path=(scope["raw_path"] or scope["path"].encode()).decode("latin-1"),
        query=scope["query_string"].decode("latin-1"),
        fields={name: ", ".join(values) for name, values in fields.items() if values},
        body=await request.body() if scope["method"] == "POST" else b"",
    )
