"""The methods of the bridge (WAB 1.0, §5.3)."""

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import msgspec

from registry.errors import NotFound, Refused
from registry.identity import base64url
from registry.identity.keys.api_key import digest_api_key
from registry.interfaces.discovery.own_site import NAME, SUMMARY
from registry.interfaces.http.refusals import PARAMETER_INVALID
from registry.interfaces.http.strict import convert_body
from registry.interfaces.wab.agent_exchange import Exchange
from registry.interfaces.wab.bridge_actions import ACTIONS, ActionCaller, BridgeAction
from registry.interfaces.wab.bridge_command import Json, read_action
from registry.interfaces.wab.bridge_document import (
    bridge_document,
    own_commands,
    read_content,
)
from registry.interfaces.wab.refusals import ACTION_UNKNOWN, METHOD_UNKNOWN
from registry.interfaces.wab.sealed_session import (
    LIFETIME,
    PERMISSIONS,
    Session,
    seal_session,
)
from registry.records.promise import format_millisecond

BRIDGE_VERSION = "1.0.0"
EVENTS = ("actionExecuted", "permissionChanged", "sessionExpired", "error")
_MAX_KEY_LENGTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeMethod:
    """permission: that a session must have. http: method and path below the base."""

    run: Callable[[Exchange], Awaitable[Any]]
    http: tuple[str, str]
    permission: str | None = None


class AuthenticateParams(msgspec.Struct, rename="camel"):
    """apiKey: of an operator; without it the session is anonymous, or renews the last.

    permissions: those wanted, of what is granted. signCommands: every command that acts
    has to be signed from now on.
    """

    api_key: Annotated[str, msgspec.Meta(max_length=_MAX_KEY_LENGTH)] = ""
    permissions: Annotated[tuple[str, ...], msgspec.Meta(max_length=16)] | None = None
    sign_commands: bool = False


class SubscribeParams(msgspec.Struct):
    events: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, max_length=16)]


async def _discover(exchange: Exchange) -> Json:
    return bridge_document(exchange.services)


async def _get_context(exchange: Exchange) -> Json:
    session, now = exchange.session, exchange.services.clock()
    left = session.expires_at - now if session else LIFETIME
    return {
        "version": BRIDGE_VERSION,
        "permissions": _permissions(exchange.permissions),
        "session": {
            "authenticated": session is not None,
            "ttl": int(left.total_seconds()),
        },
        "tier": "free",
        "url": f"{exchange.services.origin}/",
    }


async def _get_actions(exchange: Exchange) -> Any:
    return own_commands(exchange.services, exchange.command.params.get("category"))


async def _get_page_info(exchange: Exchange) -> Json:
    return {
        "title": NAME,
        "url": f"{exchange.services.origin}/",
        "description": SUMMARY,
        "bridgeVersion": BRIDGE_VERSION,
        "actionsCount": len(ACTIONS),
        "permissions": _permissions(exchange.permissions),
    }


async def _ping(exchange: Exchange) -> Json:
    return heartbeat(exchange.services.clock())


def heartbeat(now: datetime) -> Json:
    return {
        "status": "ok",
        "timestamp": format_millisecond(now),
        "version": BRIDGE_VERSION,
    }


async def _read_content(exchange: Exchange) -> Any:
    return read_content(exchange.command.params.get("selector"))


async def _subscribe(exchange: Exchange) -> Json:
    subscribe = exchange.agent.subscribe
    if subscribe is None:
        raise NotFound(METHOD_UNKNOWN, "events are pushed over the WebSocket alone")
    events = convert_body(exchange.command.params, SubscribeParams).events
    for event in events:
        if event not in EVENTS:
            detail = f"{event[:40]!r} is no event; they are {', '.join(EVENTS)}"
            raise Refused(PARAMETER_INVALID, detail, pointer="/events")
    subscribe(frozenset(events))
    return {"subscriptionId": f"sub_{secrets.token_hex(8)}", "events": list(events)}


async def _authenticate(exchange: Exchange) -> Json:
    """Open a session, or renew the one that the command came in: never with more rights.

    Raises: Unauthorized for a key that is no operator's.
    """
    services, before = exchange.services, exchange.session
    params = convert_body(exchange.command.params, AuthenticateParams)
    api_key = before.api_key if before else b""
    if params.api_key:
        exchange.operator = await services.operators.of_api_key(params.api_key)
        api_key = digest_api_key(params.api_key)
    session = Session(
        id=secrets.token_hex(16),
        expires_at=services.clock() + LIFETIME,
        permissions=_wanted(params.permissions) & exchange.permissions,
        api_key=api_key,
        signs=params.sign_commands or (before is not None and before.signs),
    )
    exchange.session = session
    exchange.token = seal_session(services.web_key, session, exchange.agent.network)
    return {
        "sessionToken": exchange.token,
        "token": exchange.token,  # as WAB's own clients look for it
        "expiresAt": format_millisecond(session.expires_at),
        "permissions": _permissions(session.permissions),
        "signingSecret": base64url.encode(session.secret(services.web_key)),
    }


def _wanted(names: tuple[str, ...] | None) -> frozenset[str]:
    if names is None:
        return frozenset(PERMISSIONS)
    for name in names:
        if name not in PERMISSIONS:
            detail = f"{name[:40]!r} is none; there are {', '.join(PERMISSIONS)}"
            raise Refused(PARAMETER_INVALID, detail, pointer="/permissions")
    return frozenset(names)


def _permissions(granted: frozenset[str]) -> dict[str, bool]:
    return {name: name in granted for name in PERMISSIONS}


async def _execute(exchange: Exchange) -> Any:
    name, data = read_action(exchange.command.params)
    action = find_action(name)
    caller = ActionCaller(
        services=exchange.services,
        scope=exchange.agent.scope,
        operator=exchange.operator,
    )
    return await action.run(caller, data)


def find_action(name: str) -> BridgeAction:
    """Raises: NotFound."""
    action = ACTIONS.get(name)
    if action is None:
        detail = f"{name[:64]!r} is none; there are {', '.join(ACTIONS)}"
        raise NotFound(ACTION_UNKNOWN, detail, pointer="/name")
    return action


METHODS: Mapping[str, BridgeMethod] = {
    "wab.discover": BridgeMethod(run=_discover, http=("GET", "/discover")),
    "wab.getContext": BridgeMethod(run=_get_context, http=("GET", "/context")),
    "wab.getActions": BridgeMethod(run=_get_actions, http=("GET", "/actions")),
    "wab.executeAction": BridgeMethod(
        run=_execute, http=("POST", "/execute"), permission="apiAccess"
    ),
    "wab.readContent": BridgeMethod(
        run=_read_content, http=("POST", "/read"), permission="readContent"
    ),
    "wab.getPageInfo": BridgeMethod(run=_get_page_info, http=("GET", "/page-info")),
    "wab.authenticate": BridgeMethod(run=_authenticate, http=("POST", "/authenticate")),
    "wab.subscribe": BridgeMethod(run=_subscribe, http=("POST", "/subscribe")),
    "wab.ping": BridgeMethod(run=_ping, http=("GET", "/ping")),
}
