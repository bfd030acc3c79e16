"""A command on its way, and the agent that sent it, as far as they are known."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from litestar.connection import ASGIConnection
from litestar.types import Scope

from registry.interfaces.http.client_networks import network_of
from registry.interfaces.http.services import Services
from registry.interfaces.wab.bridge_command import Command
from registry.interfaces.wab.sealed_session import GRANTED, Session

AnyConnection = ASGIConnection[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """The sender of commands, as the transport knows it.

    authorization, api_key, version: as its headers say, or "". tokens: of the
    sessions that its connection has opened, the last of which it is in. connection: of a WebSocket, whose ids are unique in it where
    there is no session. subscribe: what has events pushed; None where the transport can't.
    """

    scope: Scope
    origin: str = ""
    authorization: str = ""
    api_key: str = ""
    version: str = ""
    tokens: tuple[str, ...] = ()
    transport: Literal["http", "websocket"] = "http"
    connection: str = ""
    subscribe: Callable[[frozenset[str]], None] | None = None

    @classmethod
    def of(cls, request: AnyConnection, **more: Any) -> Self:
        headers = request.headers
        return cls(
            scope=request.scope,
            origin=headers.get("origin", ""),
            authorization=", ".join(headers.getall("authorization", [])),
            api_key=headers.get("x-api-key", ""),
            version=headers.get("x-wab-version", ""),
            **more,
        )

    @property
    def network(self) -> str:
        return network_of(self.scope)


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A command and what became known of it. headers: of the reply over HTTP.

    token: of the session that it opens.
    """

    services: Services
    agent: Agent
    command: Command
    session: Session | None = None
    operator: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    token: str = ""

    @property
    def permissions(self) -> frozenset[str]:
        return self.session.permissions if self.session else GRANTED
