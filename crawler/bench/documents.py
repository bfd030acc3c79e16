"""Discovery documents of about 5 KB in four formats, no two of them alike. Pure."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

ACTIONS = 6
_VERBS = ("find", "list", "book", "order", "cancel", "compare", "track", "reserve")
_THINGS = ("table", "room", "ticket", "parcel", "bicycle", "lesson", "doctor", "cake")
_WORDS = [
    "fresh",
    "local",
    "quiet",
    "seasonal",
    "family",
    "evening",
    "weekend",
    "harbour",
    "garden",
    "station",
    "museum",
    "bakery",
    "workshop",
    "delivery",
    "booking",
    "price",
    "opening",
    "visit",
    "guest",
    "city",
    "district",
    "street",
    "booked",
    "early",
    "late",
    "morning",
    "menu",
    "course",
    "stock",
    "return",
    "receipt",
    "address",
    "payment",
]
_CATEGORIES = ("restaurant", "travel", "shopping", "health", "education")
_CITIES = (("Lyon", "FR"), ("Nairobi", "KE"), ("Porto", "PT"), ("Osaka", "JP"))

Json = dict[str, Any]


def host_of(number: int) -> str:
    return f"crowd-{number}.test"


def is_crowded(name: str) -> bool:
    return name.startswith("crowd-") and name.rstrip(".").endswith(".test")


def path_of(number: int) -> str:
    return _SHELVES[number % len(_SHELVES)][0]


def url_of(number: int) -> str:
    return f"https://{host_of(number)}{path_of(number)}"


def build_document(number: int) -> bytes:
    """The one document of the site of that number."""
    chance = Random(number)  # noqa: S311 - the same document at each call
    build = _SHELVES[number % len(_SHELVES)][1]
    return json.dumps(build(number, chance), indent=1).encode()


def _phrase(chance: Random, words: int) -> str:
    return " ".join(chance.choices(_WORDS, k=words))


def _names(chance: Random) -> list[tuple[str, str]]:
    pairs = [(verb, thing) for verb in _VERBS for thing in _THINGS]
    return chance.sample(pairs, ACTIONS)


def _inputs(chance: Random) -> dict[str, Json]:
    return {
        "query": {"type": "string", "description": _phrase(chance, 8)},
        "date": {"type": "string", "description": _phrase(chance, 6)},
        "people": {"type": "integer", "description": _phrase(chance, 5)},
        "kind": {
            "type": "string",
            "description": _phrase(chance, 6),
            "enum": chance.sample(_WORDS, 4),
        },
    }


def _schema(chance: Random) -> Json:
    return {"type": "object", "properties": _inputs(chance), "required": ["query"]}


def _listed_inputs(chance: Random) -> list[Json]:
    return [
        {"name": name, "required": name == "query", **parameter}
        for name, parameter in _inputs(chance).items()
    ]


def _wab(number: int, chance: Random) -> Json:
    city, country = chance.choice(_CITIES)
    commands = [
        {
            "name": verb + thing.title(),
            "description": _phrase(chance, 10),
            "trigger": "api",
            "params": _listed_inputs(chance),
        }
        for verb, thing in _names(chance)
    ]
    return {
        "wab_version": "1.0",
        "provider": {
            "name": f"Crowd {number}",
            "category": chance.choice(_CATEGORIES),
            "url": f"https://{host_of(number)}/",
            "description": _phrase(chance, 15),
            "location": {"city": city, "country": country},
        },
        "capabilities": {
            "commands": commands,
            "permissions": {"readContent": True, "click": True},
        },
    }


def _awp(number: int, chance: Random) -> Json:
    actions = [
        {
            "id": f"{verb}_{thing}",
            "description": _phrase(chance, 12),
            "auth_required": False,
            "inputs": _inputs(chance),
            "outputs": {"result": "string"},
            "endpoint": f"/api/{verb}-{thing}",
            "method": "POST",
        }
        for verb, thing in _names(chance)
    ]
    return {
        "awp_version": "0.2",
        "domain": host_of(number),
        "intent": _phrase(chance, 15),
        "capabilities": {"streaming": False, "pagination": "cursor"},
        "actions": actions,
    }


def _awas(number: int, chance: Random) -> Json:
    actions = [
        {
            "id": f"{verb}-{thing}",
            "name": f"{verb} {thing}",
            "description": _phrase(chance, 10),
            "path": f"/{verb}-{thing}",
            "method": "GET",
            "parameters": _listed_inputs(chance),
        }
        for verb, thing in _names(chance)
    ]
    return {
        "version": "1.0",
        "name": f"Crowd {number}",
        "description": _phrase(chance, 15),
        "baseUrl": f"https://{host_of(number)}",
        "rateLimit": {"requests": 100, "window": "1h", "scope": "ip"},
        "actions": actions,
    }


def _abp(number: int, chance: Random) -> Json:
    capabilities = [
        {
            "name": f"{thing}.{verb}",
            "description": _phrase(chance, 12),
            "inputSchema": _schema(chance),
        }
        for verb, thing in _names(chance)
    ]
    return {
        "abp": "0.1",
        "app": {
            "id": f"test.crowd-{number}",
            "name": f"Crowd {number}",
            "version": "1.0.0",
            "description": _phrase(chance, 15),
            "homepage": f"https://{host_of(number)}/",
        },
        "capabilities": capabilities,
    }


_SHELVES: tuple[tuple[str, Callable[[int, Random], Json]], ...] = (
    ("/agent-bridge.json", _wab),
    ("/agent.json", _awp),
    ("/.well-known/ai-actions.json", _awas),
    ("/abp-manifest.json", _abp),
)
