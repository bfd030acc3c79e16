"""`mcp`: a registry for hosts that start their servers, over standard input and output.

It hands each message on to the registry's own /mcp and the answer back. So the tools, the
order, the record and the limits are the registry's, and nothing is decided here.
"""

import asyncio
import logging
from importlib.metadata import version
from typing import Any

import click
import mcp_types as types
import msgspec
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from registry.interfaces.mcp.tool_table import INSTRUCTIONS
from registry.terminal.output import errors, registry_option


@click.command("mcp")
@click.option(
    "--api-key",
    envvar="FAIR_REGISTRY_API_KEY",
    help="Ask as the operator of this key; rather by the environment.",
)
@registry_option
def serve_stdio(api_key: str | None, url: str) -> None:
    """Serve a registry's MCP tools over standard input and output."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    try:
        asyncio.run(_serve(url.rstrip("/"), api_key))
    except* (MCPError, OSError) as failed:
        errors.print(f"[red]{url} can't be reached:[/] {_first(failed)}")
        raise SystemExit(1) from None


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _serve(url: str, api_key: str | None) -> None:
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    async with create_mcp_http_client(headers=headers) as http:
        transport = streamable_http_client(f"{url}/mcp", http_client=http)
        async with Client(transport) as registry, stdio_server() as (read, write):
            server = _relay(registry)
            await server.run(read, write, server.create_initialization_options())


def _relay(registry: Client) -> Server[Any]:
    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return await registry.list_tools()

    async def call_tool(
        _: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            return await registry.call_tool(params.name, params.arguments)
        except MCPError as error:
            if error.error.data is not None:  # the registry's own word
                raise
            return _unreached(error)

    async def list_resources(_: Any, params: Any) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await registry.list_resources(cursor=cursor)

    async def list_templates(_: Any, __: Any) -> types.ListResourceTemplatesResult:
        return await registry.list_resource_templates()

    async def read_resource(_: Any, params: Any) -> types.ReadResourceResult:
        return await registry.read_resource(params.uri)

    async def list_prompts(_: Any, __: Any) -> types.ListPromptsResult:
        return await registry.list_prompts()

    async def get_prompt(_: Any, params: Any) -> types.GetPromptResult:
        return await registry.get_prompt(params.name, params.arguments)

    return Server(
        "fair-registry",
        version=version("fair-registry"),
        title="Fair Registry",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def _unreached(error: MCPError) -> types.CallToolResult:
    """Return what WAB 1.0, Appendix B, says of a transport that failed."""
    row = {"code": "TRANSPORT_ERROR", "message": str(error)}
    text = msgspec.json.encode({"error": row}).decode()
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], is_error=True)
