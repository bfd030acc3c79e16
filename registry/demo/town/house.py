"""A site of the town at an instant: its documents, its keys and what it answers.

No I/O: the connection asks, the house answers; `registry_house` alone asks further.
Delays, faults, broken and altered documents follow from the member's story and the number
of the request, so that a demo tells the same story each time.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.demo.town.build_document import build_document, build_page, document_path
from registry.demo.town.member import Member
from registry.demo.town.resource import Resource, html, json_resource, plain
from registry.identity.keys.jwk import jwks_document
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import PrivateKey
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.document_signature import sign_document
from registry.sites.action import Action
from registry.strict_json import JsonValue

SLOWEST_DELAY_MS = 600
QUICKEST_DELAY_MS = 200
FAULT_EVERY = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Disturbance:
    """Disturbance of one request before it is answered."""

    delay_s: float = 0.0
    fault: Literal["", "unavailable", "reset"] = ""


def decide_disturbance(member: Member, request_number: int) -> Disturbance:
    """request_number: counts the requests to this host, from 1."""
    if member.story == "slow":
        return Disturbance(delay_s=_delay_ms(member.host, request_number) / 1000)
    if member.story == "flaky" and request_number % FAULT_EVERY == 0:
        odd = request_number // FAULT_EVERY % 2
        return Disturbance(fault="unavailable" if odd else "reset")
    return Disturbance()


def _delay_ms(host: str, request_number: int) -> int:
    scatter = zlib.crc32(f"{host} {request_number}".encode())
    return QUICKEST_DELAY_MS + scatter % (SLOWEST_DELAY_MS - QUICKEST_DELAY_MS + 1)


def alter_signed(document: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Alter a signed document as a dishonest site does."""
    metrics = document.get("fairness_metrics")
    declared = metrics if isinstance(metrics, dict) else {}
    return {**document, "fairness_metrics": {**declared, "commission_rate": "0%"}}


def spoil(member: Member, documents: Mapping[str, Resource]) -> dict[str, Resource]:
    """The documents as a broken site serves them."""
    match member.defect:
        case "missing":
            return {}
        case "malformed":
            return {
                path: Resource(sound.body[: len(sound.body) // 2], sound.content_type)
                for path, sound in documents.items()
            }
        case "soft-404":
            lost = html("<!doctype html><title>Oops</title><p>Page not found.</p>")
            return dict.fromkeys(documents, lost)
        case "":
            return dict(documents)


PING_PATH = "/api/wab/ping"
MAX_AGE_S = 300

Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """path: without the query. if_none_match: the field's value or ""."""

    method: str
    host: str
    path: str
    query: str = ""
    if_none_match: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Headers
    body: bytes = b""


class House:
    """Changes only through `publish_keys`, `change_document` and the count of requests."""

    def __init__(self, member: Member, key: PrivateKey, opened_at: datetime) -> None:
        self.member = member
        self.requests = 0
        self._key = key
        self._documents = _build_documents(member, key, opened_at)
        self._keys: Resource | None = None

    def disturb(self) -> Disturbance:
        """Count a request and say what happens to it before it is answered."""
        self.requests += 1
        return decide_disturbance(self.member, self.requests)

    def publish_keys(self, keys: Iterable[PublicKey]) -> None:
        body = jwks_document(keys)
        self._keys = Resource(body, "application/json; charset=utf-8")

    def change_document(self, now: datetime) -> None:
        """Offer one more action, and sign the document again if it is signed."""
        action = _make_novelty(len(self.member.actions) + 1)
        self.member = replace(self.member, actions=(*self.member.actions, action))
        self._documents = _build_documents(self.member, self._key, now)

    async def reply(self, request: HttpRequest, now: datetime) -> Reply:
        return self.answer(request, now)

    def refuse(self, request: HttpRequest) -> Reply | None:
        """Refuse what no site of the town answers."""
        if request.host != self.member.host:
            return refusal(421, "Misdirected HttpRequest")
        if request.method not in ("GET", "HEAD"):
            return refusal(405, "Method Not Allowed", [("Allow", "GET, HEAD")])
        return None

    def answer(self, request: HttpRequest, now: datetime) -> Reply:
        if refused := self.refuse(request):
            return refused
        if request.path == PING_PATH and self.member.format == "wab":
            return _pong(now)
        resource = self._find(request.path)
        if resource is None:
            return refusal(404, "Not Found")
        if _matches(request.if_none_match, resource.etag):
            return Reply(status=304, headers=_validators(resource))
        return Reply(
            status=200,
            headers=[("Content-Type", resource.content_type), *_validators(resource)],
            body=resource.body,
        )

    def _find(self, path: str) -> Resource | None:
        if path == KEY_SET_PATH:
            return self._keys
        return self._documents.get(path)


def _build_documents(
    member: Member, key: PrivateKey, now: datetime
) -> dict[str, Resource]:
    documents: dict[str, Resource] = {}
    document = build_document(member)
    if document is not None:
        if member.signed and isinstance(key, Ed25519PrivateKey):
            document = sign_document(document, key, signed_at=now)
        if member.story == "changed-after-signing":
            document = alter_signed(document)
        documents[document_path(member)] = json_resource(document)
    return {
        "/": build_page(member),
        "/robots.txt": plain(f"User-agent: *\nDisallow: {member.disallow}\n"),
        **spoil(member, documents),
    }


def _make_novelty(number: int) -> Action:
    return Action(
        name=f"book_seasonal_offer_{number}",
        description=f"Book the seasonal offer number {number}",
        sensitivity="write",
    )


def _pong(now: datetime) -> Reply:
    """WAB 1.0, section 5.3, `wab.ping`."""
    result: JsonValue = {
        "status": "ok",
        "pong": True,
        "timestamp": now.isoformat(timespec="seconds"),
        "version": "1.0.0",
    }
    pong = json_resource({"id": "ping", "type": "success", "result": result})
    return Reply(
        status=200,
        headers=[("Content-Type", pong.content_type), ("Cache-Control", "no-store")],
        body=pong.body,
    )


def refusal(status: int, phrase: str, headers: Headers | None = None) -> Reply:
    body = html(f"<!doctype html><title>{phrase}</title><h1>{phrase}</h1>\n")
    return Reply(
        status=status,
        headers=[("Content-Type", body.content_type), *(headers or [])],
        body=body.body,
    )


def _matches(if_none_match: str, etag: str) -> bool:
    """Compare weakly (RFC 9110, section 13.1.2)."""
    listed = (
        listed_etag.strip().removeprefix("W/")
        for listed_etag in if_none_match.split(",")
    )
    return any(listed_etag in ("*", etag) for listed_etag in listed)


def _validators(resource: Resource) -> Headers:
    return [
        ("ETag", resource.etag),
        ("Cache-Control", f"public, max-age={MAX_AGE_S}"),
        ("Access-Control-Allow-Origin", "*"),
    ]
