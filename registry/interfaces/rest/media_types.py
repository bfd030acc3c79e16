"""Operations that answer in several media types or with headers of their own, as OpenAPI has them."""

from dataclasses import dataclass

from litestar.datastructures import ResponseHeader
from litestar.openapi.spec import OpenAPIMediaType, OpenAPIResponse, Operation, Schema
from litestar.openapi.spec.enums import OpenAPIType


def documented(name: str, description: str) -> ResponseHeader:
    """Return a header that the handler sets itself."""
    return ResponseHeader(name=name, description=description, documentation_only=True)


VARY = documented("Vary", "Accept decides on the form")


def also_as(*media_types: str) -> type[Operation]:
    """An operation whose 200 is JSON, or a text in one of these."""

    @dataclass
    class InForms(Operation):
        def __post_init__(self) -> None:
            answer = (self.responses or {}).get("200")
            if isinstance(answer, OpenAPIResponse) and answer.content is not None:
                for media_type in media_types:
                    text = OpenAPIMediaType(schema=Schema(type=OpenAPIType.STRING))
                    answer.content.setdefault(media_type, text)

    return InForms
