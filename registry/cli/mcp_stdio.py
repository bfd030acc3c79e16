"""`mcp`: a registry for hosts that start their servers, over standard input and output.

Each line is a message, handed on to the registry's own /mcp, and the answer is a line
back. So tools, order, record and limits are the registry's; nothing is decided here.
"""

import asyncio
import base64
import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

import click
import httpx
import msgspec

from registry.terminal.output import errors, registry_option
from registry.terminal.registry_calls import auth_of, operator_options

MAX_LINE_BYTES = 65_536
TIMEOUT_S = 60.0
VERSION = "MCP-Protocol-Version"
TRANSPORT_FAILED = -32_000
_VERSION_MEMBER = "io.modelcontextprotocol/protocolVersion"
_PLAIN = re.compile(r"[!-~]([ -~]*[!-~])?")

Json = dict[str, Any]


@click.command("mcp")
@operator_options
@registry_option
def serve_stdio(api_key: str | None, key: Path | None, url: str) -> None:
    """Serve a registry's MCP tools over standard input and output."""
    asyncio.run(_serve(url.rstrip("/"), auth_of(url, api_key, key)))


async def _serve(url: str, auth: httpx.Auth | None) -> None:
    async with httpx.AsyncClient(timeout=TIMEOUT_S, auth=auth) as http:
        relay = StdioRelay(http, f"{url}/mcp", sys.stdout.buffer)
        await relay.run(sys.stdin.buffer)


class StdioRelay:
    """A relay of messages. output: of one JSON document a line."""

    def __init__(
        self, http: httpx.AsyncClient, endpoint: str, output: BinaryIO
    ) -> None:
        self._http = http
        self._endpoint = endpoint
        self._output = output
        self._version = ""

    async def run(self, lines: BinaryIO) -> None:
        """Relay until the end of the lines, and answer what is under way."""
        async with asyncio.TaskGroup() as tasks:
            while line := await asyncio.to_thread(lines.readline, MAX_LINE_BYTES + 1):
                if line.strip():
                    tasks.create_task(self._relay(line))

    async def _relay(self, line: bytes) -> None:
        message: Any = None
        try:
            message = msgspec.json.decode(line)
            body = await self._post(line, message if isinstance(message, dict) else {})
        except (httpx.HTTPError, msgspec.DecodeError) as error:
            errors.print(f"{self._endpoint}: {error}", markup=False)
            body = _failure(error)
        number = message.get("id") if isinstance(message, dict) else None
        if body is None or (number is None and isinstance(message, dict)):
            return  # a notification: whatever became of it, nobody waits
        self._write(body if body.get("id") is not None else {**body, "id": number})

    async def _post(self, line: bytes, message: Json) -> Json | None:
        """Return the answer, None to a notification. Raises: httpx.HTTPError, DecodeError."""
        answer = await self._http.post(
            self._endpoint, content=line, headers=self._headers(message)
        )
        if answer.status_code == httpx.codes.ACCEPTED:
            return None
        body: Json = msgspec.json.decode(answer.content, type=dict)
        if message.get("method") == "initialize":
            self._version = str((body.get("result") or {}).get("protocolVersion", ""))
        return body

    def _headers(self, message: Json) -> dict[str, str]:
        """Return what streamable HTTP repeats of a message in its head."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        meta = params.get("_meta")
        own = meta.get(_VERSION_MEMBER) if isinstance(meta, dict) else None
        if not isinstance(own, str):
            return {**headers, VERSION: self._version} if self._version else headers
        headers |= {VERSION: own, "Mcp-Method": _field(message.get("method"))}
        name = params.get("name", params.get("uri"))
        return {**headers, "Mcp-Name": _field(name)} if name else headers

    def _write(self, message: Json) -> None:
        self._output.write(msgspec.json.encode(message) + b"\n")
        self._output.flush()


def _field(value: object) -> str:
    """Encode a value as MCP does what no field of HTTP may hold."""
    text = str(value)
    if _PLAIN.fullmatch(text) and not text.startswith("=?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def _failure(error: Exception) -> Json:
    """Return an error of JSON-RPC, whose data is of WAB 1.0, Appendix B."""
    message = str(error) or type(error).__name__
    data = {"code": "TRANSPORT_ERROR"}
    failure = {"code": TRANSPORT_FAILED, "message": message, "data": data}
    return {"jsonrpc": "2.0", "id": None, "error": failure}
