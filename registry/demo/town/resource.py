"""Resource under one path of a site."""

import hashlib
import json
from dataclasses import dataclass

from registry.strict_json import JsonValue


@dataclass(frozen=True, slots=True)
class Resource:
    body: bytes
    content_type: str

    @property
    def etag(self) -> str:
        """A strong validator, with its quotes (RFC 9110, section 8.8.3)."""
        return f'"{hashlib.sha256(self.body).hexdigest()[:20]}"'


def json_resource(document: dict[str, JsonValue]) -> Resource:
    body = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return Resource(body.encode(), "application/json; charset=utf-8")


def html(text: str) -> Resource:
    return Resource(text.encode(), "text/html; charset=utf-8")


def plain(text: str) -> Resource:
    return Resource(text.encode(), "text/plain; charset=utf-8")
