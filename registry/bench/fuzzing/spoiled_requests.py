"""Requests of every face, sound ones and spoiled ones, drawn by a seed."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_from_bytes, urlencode

import msgspec

Json = dict[str, Any]
RANKING, HOST = "01M7X9V14RTW7B5DBF5C4YMN31.x", "shop.example"
SCALARS: Sequence[Any] = (
    *(None, True, False, 0, -1, 1.5, 2**53, -(2**63), 1e300, "", " ", "a", HOST),
    *("\0", "\u202e", "\ufffe", "🦊" * 40, "a" * 5_000, "../../etc/passwd", "%00"),
    *(
        "'; DROP TABLE site; --",
        "{{7*7}}",
        "<script>",
        RANKING,
        [],
        {},
        [[[]]],
        {"": 0},
    ),
)
TEXTS = tuple(value for value in SCALARS if isinstance(value, str))
HEADERS: Mapping[str, Sequence[str]] = {
    "Content-Type": ("text/plain", "application/json; charset=x", "", "a/b", "\x7f"),
    "Authorization": (
        "Bearer",
        "Bearer sess_A",
        "Basic YTpi",
        "Bearer frk_x",
        "x" * 900,
    ),
    "Origin": ("null", "https://evil.example", "file://", ""),
    "X-WAB-Version": ("2.0", "1.0", "x"),
    "X-WAB-Request-Id": ("a", "é", "x" * 300),
    "If-None-Match": ('"x"', "*", "W/"),
    "Accept-Encoding": ("gzip", "zstd, br", "gzip;q=x", "identity;q=0", "*"),
    "Accept": ("text/html", "*/*;q=x", "application/json"),
    "Idempotency-Key": ("a", '"k"', "x" * 300),
    "Signature-Input": ("sig1=()", "x"),
    "Last-Event-ID": ("1", "x"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzedRequest:
    """body: bytes as sent. path: with its query, percent-encoded."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


SEARCH: Json = {"q": "book a table", "city": "Amman", "limit": 3, "nonce": "n"}
BODIES: Mapping[str, Json] = {
    "/v1/search": SEARCH,
    "/v1/challenges": {"host": HOST},
    "/v1/selections": {"rankingId": RANKING, "siteId": None, "outcome": "failed"},
    "/v1/lint": {"wab_version": "1.0", "provider": {"name": "a"}},
    "/v1/counterfactual": {"auditor": "a", "aud": "b", "iat": 1, "perturbation": "c"},
    "/v1/attestations": {"payload": {}, "signatures": []},
    "/ard/search": {"query": {"text": "book a table", "filter": {"tags": "x"}}},
    "/ard/explore": {"resultType": {"facets": [{"field": "type"}]}},
    "/api/wab/execute": {"name": "searchSites", "data": SEARCH, "id": "1"},
    "/api/wab/actions/getSite": {"params": {"host": HOST}},
    "/api/wab/authenticate": {"apiKey": "", "permissions": ["apiAccess"]},
    "/api/wab/read": {"selector": "#policy"},
    "/api/wab/subscribe": {"events": ["error"]},
    "/api/execute": {"domain": HOST, "action": "getSite", "params": {}},
    "/api/verify-live": {"domain": HOST},
    "/mcp": {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search_sites", "arguments": {"q": "book a table"}},
    },
}
QUERIES: Mapping[str, Mapping[str, str]] = {
    "/v1/search": {
        "q": "book a table",
        "city": "Amman",
        "limit": "3",
        "facets": "country",
    },
    "/v1/sites": {"limit": "5", "category": "shop", "cursor": "x"},
    "/v1/changes": {"since": "x", "limit": "5"},
    "/api/wab/search": {"q": "book a table", "limit": "2"},
    "/api/wab/actions": {"category": "audit"},
    "/api/wab/page-info": {"siteId": "x"},
    "/ard/agents": {"pageSize": "3", "pageToken": "x"},
    f"/v1/sites/{HOST}": {"as": "wab-entry"},
    f"/v1/sites/{HOST}/document": {"as": "wab"},
    f"/api/discovery/compliance/{HOST}": {"policy": "strict"},
    "/": {"q": "book a table"},
}
PATHS = (
    *BODIES,
    *QUERIES,
    *("/agent-bridge.json", "/api/wab/discover", "/api/wab/context", "/api/wab/ping"),
    *(f"/api/discovery/trust/{HOST}", f"/api/discovery/score/{HOST}", "/llms.txt"),
    *(
        f"/v1/rankings/{RANKING}",
        "/v1/policy",
        "/v1/log",
        f"/v1/registrations/{RANKING}",
    ),
    *(
        f"/ard/agents/urn:air:{HOST}:site",
        "/.well-known/ai-catalog.json",
        "/agent.json",
    ),
    *("/checkpoint", "/tile/0/000", "/health/live", "/problems/x", "/openapi.json"),
    *(
        f"/v1/sites/{HOST}/{part}"
        for part in ("quality", "history", "advice", "notices")
    ),
    *("/v1/operators/self", "/v1/policy/history", "/policy", f"/sites/{HOST}", "/mcp"),
)


class Spoiler:
    """Draws requests; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 — nothing secret

    def requests(self) -> Iterator[FuzzedRequest]:
        while True:
            yield self._request()

    def frames(self) -> Iterator[bytes]:
        """Yield texts for the WebSocket: commands, and what is none."""
        methods = (
            "executeAction",
            "getActions",
            "ping",
            "authenticate",
            "x",
            "subscribe",
        )
        while True:
            command = {
                "id": self._rng.choice(
                    (self._rng.random(), self._rng.randrange(10**9))
                ),
                "method": f"wab.{self._rng.choice(methods)}",
                "params": {"name": "searchSites", "data": dict(SEARCH)},
            }
            yield self._body(command)

    def _request(self) -> FuzzedRequest:
        rng, path = self._rng, self._rng.choice(PATHS)
        method = rng.choices(
            (
                "POST" if path in BODIES else "GET",
                "GET",
                "POST",
                "HEAD",
                "PUT",
                "DELETE",
            ),
            (80, 10, 4, 2, 2, 2),
        )[0]
        headers = {"Content-Type": "application/json"} if method == "POST" else {}
        for name in rng.sample(sorted(HEADERS), rng.choice((0, 0, 0, 1, 2))):
            headers[name] = rng.choice(HEADERS[name])
        has_body = method in {"POST", "PUT"}
        return FuzzedRequest(
            method=method,
            path=self._path(path) + self._query(QUERIES.get(path, {}), method),
            headers=headers,
            body=self._body(dict(BODIES.get(path, {}))) if has_body else b"",
        )

    def _path(self, path: str) -> str:
        if self._rng.random() < 0.8:
            return quote(path, safe="/:.-_")
        parts = path.split("/")
        place = self._rng.randrange(1, len(parts))
        parts[place] = self._rng.choice((*TEXTS, "..", "a" * 300))[:300]
        spoiled = quote("/".join(parts), safe="/:")
        if self._rng.random() < 0.3:
            spoiled += quote_from_bytes(self._rng.randbytes(6))
        return spoiled

    def _query(self, sound: Mapping[str, str], method: str) -> str:
        rng = self._rng
        query = dict(sound) if method in {"GET", "HEAD"} else {}
        if rng.random() < 0.4:
            name = rng.choice((*query, "x", "", "q", "limit", "as"))
            query[name] = str(rng.choice(SCALARS))[:1_200]
        if query and rng.random() < 0.2:
            query.pop(rng.choice(list(query)))
        encoded = urlencode(query)
        if rng.random() < 0.05:
            encoded += "&" + quote_from_bytes(rng.randbytes(8), safe="=&%")
        return f"?{encoded}" if encoded else ""

    def _body(self, sound: Json) -> bytes:
        rng, draw = self._rng, self._rng.random()
        if draw < 0.25:
            return msgspec.json.encode(sound)
        if draw < 0.30:
            return rng.randbytes(rng.randrange(200))
        if draw < 0.33:
            return b"[" * rng.randrange(1, 30_000)
        if draw < 0.36:
            return b'{"a":' * 40 + b"1" + b"}" * 40
        body = bytearray(msgspec.json.encode(self._spoil(sound)))
        if draw < 0.45 and body:
            body[rng.randrange(len(body))] = rng.randrange(256)
        return bytes(body)

    def _spoil(self, value: Any) -> Any:
        """Replace, drop or add something, at any depth."""
        rng = self._rng
        if not isinstance(value, dict) or not value or rng.random() < 0.15:
            return rng.choice(SCALARS)
        spoiled = dict(value)
        name = rng.choice(list(spoiled))
        draw = rng.random()
        if draw < 0.6:
            spoiled[name] = self._spoil(spoiled[name])
        elif draw < 0.8:
            del spoiled[name]
        else:
            spoiled[rng.choice(TEXTS)[:80]] = rng.choice(SCALARS)
        return spoiled
