"""Bodies that are one compact JWS (RFC 7515)."""

from dataclasses import dataclass
from typing import Any

from litestar import Request
from litestar.exceptions import HTTPException
from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIType,
    Operation,
    RequestBody,
    Schema,
)

MEDIA_TYPE = "application/jose"


@dataclass
class JoseOperation(Operation):
    """The body is no JSON, so its schema is given here."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            content={
                MEDIA_TYPE: OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
            },
            description="A compact JWS (RFC 7515)",
            required=True,
        )


async def read_statement(request: Request[Any, Any, Any]) -> bytes:
    """Return the token without the line end that a shell adds. Raises: HTTPException 415."""
    if request.content_type[0] != MEDIA_TYPE:
        raise HTTPException(f"The body is {MEDIA_TYPE}", status_code=415)
    return (await request.body()).strip()
