"""What tests say of many answers."""

import re
from datetime import UTC, datetime
from typing import Any

import httpx

Json = dict[str, Any]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_CODE = re.compile(r"[a-z][a-z0-9_]*")
_MEMBERS = {"type", "title", "status", "detail", "code", "fix", "pointer", "errors"}


def problem(
    answer: httpx.Response, status: int, code: str | None = None, more: str = ""
) -> Json:
    """A whole problem document (RFC 9457) of this status and code."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["Cache-Control"] == "no-store"
    body: Json = answer.json()
    assert body["status"] == status
    assert body.keys() <= _MEMBERS | set(more.split())
    assert _CODE.fullmatch(body["code"])
    assert body["type"] == f"/problems/{body['code']}"
    assert all(body[name].strip() for name in ("title", "detail", "fix"))
    if code is not None:
        assert body["code"] == code, body
    return body


def instant(text: str) -> datetime:
    """RFC 3339 in UTC, spelled with Z."""
    assert _INSTANT.fullmatch(text), text
    result = datetime.fromisoformat(text)
    assert result.tzinfo == UTC
    return result


def members(value: Json, names: str) -> None:
    """Exactly these, between spaces."""
    assert value.keys() == set(names.split()), value.keys() ^ set(names.split())
