"""Header fields of a response, and those that a request asks with. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawler import refusals
from crawler.http.response_reader import Fields
from crawler.refusals import UnexpectedType
from registry.errors import Refused

MAX_HEADERS = 100
MAX_LINK_CHARACTERS = 8 * 1024
_ETAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e]{0,256}"')  # RFC 9110, 8.8.3
_HTTP_DATE = re.compile(r"[A-Za-z0-9 ,:+-]{1,64}")

ANY_TYPE = ("*/*",)
JSON_TYPES = ("application/json",)
# Files without a suffix are often served as text or bytes.
DOCUMENT_TYPES = (*JSON_TYPES, "text/json", "text/plain", "application/octet-stream")


@dataclass(frozen=True, slots=True, kw_only=True)
class Validators:
    """Validators that a conditional request sends (RFC 9110, 13.1); None where not known."""

    etag: str | None = None
    last_modified: str | None = None


class Headers:
    """Raises: Refused `headers_count`."""

    def __init__(self, fields: Fields) -> None:
        if len(fields) > MAX_HEADERS:
            raise Refused(refusals.HEADERS_COUNT, f"{len(fields)} headers")
        self._fields = fields

    def all(self, name: str) -> list[str]:
        wanted = name.encode()
        return [
            value.decode("utf-8", "replace").strip()
            for key, value in self._fields
            if key == wanted
        ]

    def get(self, name: str) -> str:
        """Return the field's values, joined by commas (RFC 9110, 5.3); "" without any."""
        return ", ".join(self.all(name))


def verify_type(values: Sequence[str], accept: Sequence[str]) -> str:
    if len(values) > 1:
        raise Refused(refusals.CONTENT_TYPE, f"{len(values)} Content-Type headers")
    content_type = values[0][:256] if values else ""
    media_type = media_type_of(content_type)
    if "*/*" in accept or media_type in accept:
        return content_type
    if "application/json" in accept and re.fullmatch(
        r"application/[a-z0-9.-]+\+json", media_type
    ):
        return content_type
    raise UnexpectedType(media_type)


def fitting(values: Sequence[str], limit: int) -> tuple[str, ...]:
    """The first of them, whole, together within the limit: half a link is another."""
    fitting = []
    for value in values:
        limit -= len(value)
        if limit < 0:
            break
        fitting.append(value)
    return tuple(fitting)


def media_type_of(content_type: str) -> str:
    """Return the type without parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def parse_validators(headers: Headers) -> Validators:
    """Return well-formed validators only, for they are sent back one day."""
    etag, last_modified = headers.get("etag"), headers.get("last-modified")
    return Validators(
        etag=etag if _ETAG.fullmatch(etag) else None,
        last_modified=last_modified if _HTTP_DATE.fullmatch(last_modified) else None,
    )


def spell_accept(accept: Sequence[str]) -> str:
    return ", ".join([accept[0], *(f"{media_type};q=0.5" for media_type in accept[1:])])
