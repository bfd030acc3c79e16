"""The registry's own discovery document, /agent-bridge.json: WAB 1.0, Appendix A.

Beside what the specification has, it holds `actions` and `endpoints`, which WAB's own
clients read. wab.readContent reads the registry's policy, in plain words: there is no
page behind the bridge, and the selectors name texts of ours, so nothing of strangers comes
back and no element needs protection but by name.
"""

import math
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from litestar import Response, get

from registry.errors import Forbidden, NotFound, Refused
from registry.interfaces.discovery.own_documents import own_document
from registry.interfaces.discovery.own_site import BRIDGE, OWN_ACTIONS
from registry.interfaces.http.conditional import Conditional
from registry.interfaces.http.limits import Kind, Limits
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.services import Injected, Services
from registry.interfaces.rest.search.policy_text import (
    EXCLUSIONS,
    RULES,
    STATEMENTS,
    WEIGHED,
)
from registry.interfaces.wab.refusals import SELECTOR_FORBIDDEN, SELECTOR_UNKNOWN
from registry.interfaces.wab.sealed_session import LIFETIME, PERMISSIONS

MAX_SELECTOR_LENGTH = 200
SELECTORS: Mapping[str, str] = {
    "factors": "#factors",
    "policy": "#policy",
    "exclusions": "#exclusions",
    "rules": "#rules",
}
_BLOCKED = re.compile(
    r"(?:^|[\s>+~,])(?:script|style|iframe|object|embed|form|input|textarea)\b"
    r"|\[\s*(?:type|on\w+)|javascript:",
    re.IGNORECASE,
)


def read_content(selector: Any) -> Mapping[str, str]:
    """Return text, html and selector. Raises: Refused, Forbidden, NotFound."""
    if not isinstance(selector, str) or not 0 < len(selector) <= MAX_SELECTOR_LENGTH:
        detail = f"selector is a string of at most {MAX_SELECTOR_LENGTH} characters"
        raise Refused(PARAMETER_INVALID, detail, pointer="/selector")
    if _BLOCKED.search(selector):
        raise Forbidden(SELECTOR_FORBIDDEN, pointer="/selector")
    paragraphs = _CONTENT.get(selector)
    if paragraphs is None:
        known = ", ".join(SELECTORS.values())
        raise NotFound(SELECTOR_UNKNOWN, f"there are {known}", pointer="/selector")
    return {
        "text": "\n".join(paragraphs),
        "html": "".join(f"<p>{escape(text)}</p>" for text in paragraphs),
        "selector": selector,
    }


_CONTENT: Mapping[str, Sequence[str]] = {
    SELECTORS["factors"]: [
        f"{name}: {row.meaning} {row.reason}" for name, row in WEIGHED.items()
    ],
    SELECTORS["policy"]: list(STATEMENTS.values()),
    SELECTORS["exclusions"]: [f"{row.what}: {row.enforced}" for row in EXCLUSIONS],
    SELECTORS["rules"]: [f"{row.attempt}: {row.answer}" for row in RULES],
}


VERSION = "1.0"
_MINUTE_S = 60


def most_a_minute(limits: Limits) -> int:
    """Return what an agent can send in any minute at most: at once, and after that."""
    quota = limits.quota(Kind.MESSAGE)
    return math.floor(quota.burst + _MINUTE_S * quota.per_s)


def bridge_document(services: Services) -> dict[str, Any]:
    origin = services.origin
    document: dict[str, Any] = own_document("wab", origin)
    capabilities = document["capabilities"]
    commands = [
        {**command, "category": own.category}
        for own, command in zip(OWN_ACTIONS, capabilities["commands"], strict=True)
    ]
    return {
        **document,
        "capabilities": {
            **capabilities,
            "commands": commands,
            "permissions": dict(PERMISSIONS),
            "tier": "free",
        },
        "agent_access": {
            "preferred_entry_point": "/",
            "api_fallback": f"{origin}/v1",
            "selectors": dict(SELECTORS),
        },
        "security": {
            "require_origin_match": True,
            "session_ttl": int(LIFETIME.total_seconds()),
            "max_rate": most_a_minute(services.limits),
        },
        "actions": commands,
        "endpoints": {
            name: f"{origin}{BRIDGE}/{name}"
            for name in ("discover", "actions", "execute", "ping", "search")
        },
    }


def own_commands(services: Services, category: Any = None) -> Sequence[dict[str, Any]]:
    commands: Sequence[dict[str, Any]] = bridge_document(services)["actions"]
    return [row for row in commands if category in (None, "", row["category"])]


@get(
    ["/agent-bridge.json", "/.well-known/wab.json"],
    include_in_schema=False,
    middleware=[Conditional("public, max-age=300")],
)
async def get_own_document(services: Injected) -> Response[dict[str, Any]]:
    return Response(bridge_document(services), headers={"X-WAB-Version": VERSION})
