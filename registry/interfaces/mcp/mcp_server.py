"""The official SDK's server over our tools: one for all requests, which keeps no session.

A session would cost 25 KB for each unsigned `initialize`. So every request stands by
itself, in the revisions with a handshake as in those without. What the SDK logs may hold
what a caller sent, and is not logged.
"""

import logging
from collections.abc import Mapping
from typing import Any

import msgspec
from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from registry.formats.untrusted_text import neutralise
from registry.interfaces.mcp.tool_calls import (
    POLICY_URI,
    Caller,
    ToolRefused,
    call_tool,
    list_discovery,
    read_resource,
)
from registry.interfaces.mcp.tool_table import INSTRUCTIONS, TOOL, TOOLS, WORDS, ToolRow

Context = ServerRequestContext[Any, Any]
NAME = "fair-registry"
JSON = "application/json"

PROMPT = types.Prompt.model_validate(WORDS["prompt"])
"""Prompt for a fair selection, for hosts that offer prompts to people."""
PROMPT_MAX_LETTERS = 1_000


def make_manager(version: str) -> StreamableHTTPSessionManager:
    """Make the transport of /mcp, which answers in plain JSON."""
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    return StreamableHTTPSessionManager(
        make_server(version), stateless=True, json_response=True
    )


def make_server(version: str) -> Server[Any]:
    return Server(
        NAME,
        version=version,
        title="Fair Registry",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )


def describe(row: ToolRow) -> types.Tool:
    return types.Tool(
        name=row.name,
        title=row.title,
        description=row.description,
        input_schema=row.takes,
        output_schema=row.answers,
        annotations=types.ToolAnnotations(
            read_only_hint=row.is_read_only,
            destructive_hint=False,
            open_world_hint=True,
        ),
    )


def text_of(value: object) -> types.TextContent:
    return types.TextContent(type="text", text=msgspec.json.encode(value).decode())


_TOOLS = types.ListToolsResult(tools=list(map(describe, TOOLS)))
_POLICY = types.Resource.model_validate({"uri": POLICY_URI, **WORDS["policy"]})
_DOCUMENTS = types.ResourceTemplate.model_validate(WORDS["documents"])


async def _list_tools(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    return _TOOLS


async def _call_tool(
    context: Context, params: types.CallToolRequestParams
) -> types.CallToolResult:
    if params.name not in TOOL:
        message = f"there is no tool of this name; they are {', '.join(TOOL)}"
        data = {"code": "ACTION_NOT_FOUND"}
        raise MCPError(types.INVALID_PARAMS, message, data)
    try:
        answer = await call_tool(_caller(context), params.name, params.arguments or {})
    except ToolRefused as refusal:
        error = text_of({"error": refusal.error})
        return types.CallToolResult(content=[error], is_error=True)
    return types.CallToolResult(
        content=[text_of(answer)], structured_content=dict(answer)
    )


async def _list_resources(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    cursor = params.cursor if params else None
    try:
        page, following = await list_discovery(_caller(context), cursor)
    except ToolRefused as refusal:
        raise _protocol_error(refusal) from None
    documents = [
        types.Resource(
            uri=f"wab://{host}/discovery",
            name=f"{neutralise(name)} WAB discovery",
            mime_type=JSON,
        )
        for host, name in page
    ]
    return types.ListResourcesResult(
        resources=documents if cursor else [_POLICY, *documents], next_cursor=following
    )


async def _list_templates(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=[_DOCUMENTS])


async def _read_resource(
    context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    uri = str(params.uri)
    try:
        text = await read_resource(_caller(context), uri)
    except ToolRefused as refusal:
        raise _protocol_error(refusal) from None
    contents = types.TextResourceContents(uri=uri, mime_type=JSON, text=text)
    return types.ReadResourceResult(contents=[contents])


async def _list_prompts(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=[PROMPT])


async def _get_prompt(
    _: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult:
    arguments = params.arguments or {}
    if params.name != PROMPT.name or not arguments.get("task"):
        message = f"the prompt is {PROMPT.name}, and its task is required"
        data = {"code": "INVALID_PARAMS"}
        raise MCPError(types.INVALID_PARAMS, message, data)
    content = types.TextContent(type="text", text=prompt_text(arguments))
    prompt = types.PromptMessage(role="user", content=content)
    return types.GetPromptResult(description=PROMPT.description, messages=[prompt])


def prompt_text(arguments: Mapping[str, str]) -> str:
    city = arguments.get("city", "")[:200]
    text: str = WORDS["promptText"].format(
        task=arguments["task"][:PROMPT_MAX_LETTERS],
        place=f" I am in {city}." if city else "",
        city=" and the city" if city else "",
    )
    return text


def _caller(context: Context) -> Caller:
    request: Any = context.request
    caller: Caller = request.scope["state"]["mcp_caller"]
    return caller


def _protocol_error(refusal: ToolRefused) -> MCPError:
    error = refusal.error
    is_ours = error["code"] == "BRIDGE_ERROR"
    number = types.INTERNAL_ERROR if is_ours else types.INVALID_PARAMS
    return MCPError(number, error["message"], error)
