"""Bodies that are one compact JWS (RFC 7515)."""

from dataclasses import dataclass

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
    """The body is no JSON, so its schema is said here."""

    def __post_init__(self) -> None:
        self.request_body = RequestBody(
            content={
                MEDIA_TYPE: OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
            },
            description="A compact JWS (RFC 7515)",
            required=True,
        )
