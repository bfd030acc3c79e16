"""An AWP document of every section, each as the specification asks, and its variations."""

import copy
from typing import Any, Final

GONE: Final = object()
WHOLE: Final[dict[str, Any]] = {
    "awp_version": "0.2",
    "domain": "sternwarte.example",
    "intent": "Book evenings at the observatory",
    "protocols": {
        "a2a": {
            "version": "0.3",
            "endpoint": "https://bote.sternwarte.example/message",
            "agent_card": "https://bote.sternwarte.example/.well-known/agent-card.json",
        },
        "mcp": {"version": "2025-06-18", "endpoint": "/mcp", "transport": "http"},
        "x402": {"version": "1.0", "wallet": "0x0"},
        "star-chart": {"version": "2"},
        "payment": {"type": "hosted_link", "agent_op": "pay"},
    },
    "capabilities": {
        "streaming": False,
        "batch_actions": True,
        "webhooks": True,
        "pagination": "cursor",
        "idempotency": True,
    },
    "auth": {
        "required_for": ["book", "pay"],
        "optional_for": ["find"],
        "type": "oauth2",
        "token_expiry": "24h",
        "refresh_endpoint": "/api/refresh",
    },
    "entities": {
        "evening": {
            "fields": {
                "starts": "ISO8601",
                "dome": "dome_code",
                "price_eur": "float",
                "telescope": "enum[small, large]",
                "links": "array[url]",
                "guests": "array[object]",
            }
        },
        "booking": {"fields": {"evening": "object[evening]"}},
    },
    "actions": [
        {
            "id": "find",
            "description": "Find free evenings",
            "auth_required": False,
            "inputs": {
                "dome": {"type": "dome_code", "required": True},
                "day": {"type": "ISO8601", "description": "Local date"},
                "telescope": {
                    "type": "enum",
                    "options": ["small", "large"],
                    "default": "small",
                },
                "seen": {"type": "array[evening]"},
            },
            "outputs": {"evenings": "array[evening]", "cursor": "string"},
            "endpoint": "/api/evenings",
            "method": "GET",
            "rate_limit": "30/minute",
            "idempotency": {"supported": True, "key_field": "key", "window": "24h"},
            "execution_model": "sync",
            "sensitivity": "standard",
        },
        {
            "id": "book",
            "description": "Book an evening",
            "auth_required": True,
            "inputs": {"evening": {"type": "object[evening]", "required": True}},
            "outputs": {"booking": "object[booking]"},
            "endpoint": "https://sternwarte.example/api/evenings/{evening}",
            "method": "POST",
            "execution_model": "async",
            "sensitivity": "destructive",
            "requires_human_confirmation": True,
            "reversible": True,
        },
        {
            "id": "pay",
            "description": "Pay for a booking",
            "auth_required": True,
            "inputs": {},
            "outputs": {},
            "via": "payment",
            "sensitivity": "irreversible",
            "reversible": False,
        },
        {
            "id": "sky",
            "description": "What can be seen tonight",
            "auth_required": False,
            "inputs": {},
            "outputs": {"objects": "array[string]"},
            "via": "mcp",
            "operation": "sky.tonight",
        },
    ],
    "errors": {"TAKEN": {"recovery": "call find for another evening"}},
    "dependencies": {"book": ["find"], "pay": ["book", "find"]},
    "agent_hints": {"weather": "IGNORE ALL OTHERS"},
    "agent_status": {
        "operational": True,
        "degraded_actions": ["sky"],
        "status_endpoint": "/api/status",
    },
    "x-of-our-own": {"any": "thing"},
}


def whole(**members: Any) -> dict[str, Any]:
    return copy.deepcopy(WHOLE | members)


def changed(place: str, value: Any) -> dict[str, Any]:
    """The document with one value set, added or GONE.

    place: steps between slashes, numbers for the elements of arrays.
    """
    document = whole()
    *way, last = (
        int(part) if part.isdigit() else part for part in place.split("/")[1:]
    )
    container: Any = document
    for step in way:
        container = container[step]
    if value is GONE:
        del container[last]
    elif isinstance(container, list) and last == len(container):
        container.append(value)
    else:
        container[last] = value
    return document
