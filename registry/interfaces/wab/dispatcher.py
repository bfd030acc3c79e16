"""The dispatcher: one command in, one reply out, the same over every transport.

The checks stand in the order of WAB 1.0, §8: session, rate, replay, permission,
signature. Each refusal is a problem of the registry, with its code of Appendix B.
"""

import asyncio
import hashlib
import hmac
import time
from http import HTTPStatus
from typing import Any

import msgspec
import rfc8785

from registry.errors import Conflict, Forbidden, Refused, RegistryError, Unauthorized
from registry.interfaces.http.credentials import parse_bearer
from registry.interfaces.http.limits import Kind
from registry.interfaces.http.problems import respond_to
from registry.interfaces.http.refusals import ORIGIN_MISMATCH
from registry.interfaces.http.services import Services
from registry.interfaces.http.wab_codes import http_status_of, wab_error
from registry.interfaces.wab import refusals
from registry.interfaces.wab.agent_exchange import Agent, Exchange
from registry.interfaces.wab.bridge_command import (
    Command,
    CommandId,
    CommandReply,
    Json,
    read_action,
)
from registry.interfaces.wab.bridge_document import VERSION
from registry.interfaces.wab.bridge_methods import METHODS, BridgeMethod, find_action
from registry.interfaces.wab.command_log import CommandEntry, CommandLog
from registry.interfaces.wab.sealed_session import PREFIX, open_session
from registry.interfaces.wab.seen_commands import SeenCommands

TIMEOUT_S = 20.0
EXECUTE = "wab.executeAction"
RATE_LIMITED = "RATE_LIMITED"


class Dispatcher:
    """seen, log: shared by the web processes of a host."""

    def __init__(self, services: Services, seen: SeenCommands, log: CommandLog) -> None:
        self.services = services
        self._seen = seen
        self._log = log

    async def answer(self, agent: Agent, command: Command) -> CommandReply:
        """Answer a command, whatever it is. It raises nothing."""
        started = time.perf_counter()
        exchange = Exchange(services=self.services, agent=agent, command=command)
        try:
            async with asyncio.timeout(TIMEOUT_S):
                result = await self._answer(exchange)
        except Exception as error:  # noqa: BLE001 — as the framework does, by one table
            reply = refusal(error, command.id, exchange.headers)
        else:
            reply = CommandReply(
                id=command.id,
                result=result,
                headers=exchange.headers,
                token=exchange.token,
            )
        self._note(exchange, reply, time.perf_counter() - started)
        return reply

    async def refuse(
        self, agent: Agent, error: RegistryError, command_id: CommandId
    ) -> CommandReply:
        """Answer what is no command; it counts as one of an anonymous agent."""
        command = Command(id=command_id, method="")
        exchange = Exchange(services=self.services, agent=agent, command=command)
        try:
            await self._count(exchange, Kind.MESSAGE)
        except RegistryError as limited:
            error = limited
        reply = refusal(error, command_id, exchange.headers)
        self._note(exchange, reply, 0.0)
        return reply

    async def _answer(self, exchange: Exchange) -> Any:
        try:
            self._verify_agent(exchange.agent)
            await self._identify(exchange)
        except RegistryError:
            await self._count(exchange, Kind.MESSAGE)  # who guesses is anonymous
            raise
        await self._count(exchange, Kind.MESSAGE)
        self._verify_fresh(exchange)
        method = self._verify_method(exchange)
        if exchange.command.method == EXECUTE:
            self._verify_signed(exchange)
            name, _ = read_action(exchange.command.params)
            kind = find_action(name).kind
            if kind is not None:
                await self._count(exchange, kind)
        return await method.run(exchange)

    def _verify_agent(self, agent: Agent) -> None:
        """Raises: Refused, Forbidden."""
        if agent.version not in {"", VERSION}:
            raise Refused(refusals.VERSION_UNSUPPORTED, pointer="X-WAB-Version")
        if agent.origin not in {"", self.services.origin}:
            raise Forbidden(ORIGIN_MISMATCH, pointer="Origin")

    async def _identify(self, exchange: Exchange) -> None:
        """Find out the session and the operator. Raises: Unauthorized."""
        agent, command = exchange.agent, exchange.command
        operators = self.services.operators
        bearer = parse_bearer(agent.authorization) if agent.authorization else ""
        is_session = bearer.startswith(PREFIX)
        given = {bearer if is_session else "", command.token} - {""}
        if len(given) > 1 or (agent.tokens and given - set(agent.tokens)):
            raise Unauthorized(refusals.SESSION_INVALID, "it is of another session")
        tokens = given or set(agent.tokens[-1:])
        if not tokens:
            if api_key := bearer or agent.api_key:
                exchange.operator = await operators.of_api_key(api_key)
            return
        token = tokens.pop()
        now = self.services.clock()
        exchange.session = open_session(
            self.services.web_key, token, agent.network, now
        )
        if exchange.session.api_key:
            exchange.operator = await operators.of_digest(exchange.session.api_key)

    async def _count(self, exchange: Exchange, kind: Kind) -> None:
        """Raises: RateLimited, Unavailable."""
        verdict = self.services.limits.allow(
            exchange.agent.scope, kind, exchange.operator
        )
        exchange.headers.update(verdict.headers)
        if kind is Kind.MESSAGE and verdict.allowance is not None:
            left, full_in_s = verdict.allowance.left, verdict.allowance.full_in_s
            reset = int(self.services.clock().timestamp()) + full_in_s
            exchange.headers["X-WAB-Rate-Remaining"] = str(left)
            exchange.headers["X-WAB-Rate-Reset"] = str(reset)
        if verdict.refusal is not None:
            await self.services.limits.hold_up()
            raise verdict.refusal()

    def _verify_fresh(self, exchange: Exchange) -> None:
        """Raises: Conflict for an id that was taken in the session before."""
        session, command_id = exchange.session, exchange.command.id
        scope = session.id if session else exchange.agent.connection
        if command_id is None or not scope:
            return
        if not self._seen.take(scope, f"{type(command_id).__name__} {command_id}"):
            raise Conflict(refusals.COMMAND_REPEATED, pointer="/id")

    def _verify_method(self, exchange: Exchange) -> BridgeMethod:
        """Raises: Refused, Forbidden."""
        method = METHODS.get(exchange.command.method)
        if method is None:
            detail = f"the methods are {', '.join(METHODS)}"
            raise Refused(refusals.METHOD_UNKNOWN, detail, pointer="/method")
        if method.permission and method.permission not in exchange.permissions:
            detail = f"the session has no {method.permission}"
            raise Forbidden(refusals.PERMISSION_MISSING, detail)
        return method

    def _verify_signed(self, exchange: Exchange) -> None:
        """Raises: Unauthorized."""
        session, command = exchange.session, exchange.command
        if command.signature is None:
            if session is not None and session.signs:
                raise Unauthorized(
                    refusals.COMMAND_SIGNATURE_WRONG, pointer="/signature"
                )
            return
        if session is None:
            detail = "only a session has a secret to sign with"
            raise Unauthorized(
                refusals.COMMAND_SIGNATURE_WRONG, detail, pointer="/signature"
            )
        secret = session.secret(self.services.web_key)
        expected = sign_command(secret, command.method, command.params)
        if not hmac.compare_digest(expected.encode(), command.signature.encode()):
            raise Unauthorized(refusals.COMMAND_SIGNATURE_WRONG, pointer="/signature")

    def _note(self, exchange: Exchange, reply: CommandReply, elapsed_s: float) -> None:
        """Put a command on the audit log; a flood that is refused would fill it."""
        error = reply.error or {}
        if error.get("code") == RATE_LIMITED:
            return
        agent, session = exchange.agent, exchange.session
        method = exchange.command.method
        self._log.write(
            CommandEntry(
                timestamp=self.services.clock(),
                command_id=self._log.name_command(exchange.command.id),
                method=method if method in METHODS else "unknown",
                agent_id=exchange.operator
                or (f"session:{self._log.pseudonym(session.id)}" if session else ""),
                origin=agent.origin,
                status="error" if reply.error else "success",
                error_code=error.get("code"),
                latency_ms=round(elapsed_s * 1000, 1),
                transport=agent.transport,
            )
        )


def sign_command(secret: bytes, method: str, params: Json) -> str:
    """Return the signature of a command (WAB §8.8): HMAC-SHA256 of method and params."""
    signed = rfc8785.dumps({"method": method, "params": params})
    return "sha256:" + hmac.digest(secret, signed, hashlib.sha256).hex()


def refusal(
    error: Exception,
    command_id: CommandId,
    headers: dict[str, str] | None = None,
    request: Any = None,
) -> CommandReply:
    """Return what /v1 would answer, in the words of Appendix B.

    request: where the framework itself may have refused it.
    """
    if isinstance(error, TimeoutError):
        row: Json = {"code": "TIMEOUT", "message": "The bridge was too slow."}
        status = HTTPStatus.GATEWAY_TIMEOUT
        return CommandReply(
            id=command_id, error=row, status=status, headers=headers or {}
        )
    response = respond_to(error, request)
    problem: Json = msgspec.json.decode(response.content)
    retry_after = response.headers.get("Retry-After")
    row = wab_error(problem, retry_after)
    sent = dict(headers or {})
    if retry_after:
        sent["Retry-After"] = retry_after
    if row["code"] in {"AUTHENTICATION_REQUIRED", "INVALID_TOKEN", "SESSION_EXPIRED"}:
        sent["WWW-Authenticate"] = "Bearer"
    return CommandReply(
        id=command_id,
        error=row,
        status=http_status_of(row["code"], problem["status"]),
        headers=sent,
    )
