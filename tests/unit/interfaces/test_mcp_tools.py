"""What a model reads of the tools before it calls one."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import jsonschema
import msgspec
import pytest

from registry.interfaces.http.wab_codes import wab_code_of
from registry.interfaces.mcp import mcp_routes
from registry.interfaces.mcp.mcp_routes import McpTransport
from registry.interfaces.mcp.tool_table import INSTRUCTIONS, TOOLS
from registry.usecases.search.search_query import SearchQuery
from tests.waiting import PATIENCE_S

APPENDIX_B = {
    *("INVALID_COMMAND", "INVALID_PARAMS", "INVALID_METHOD", "AUTHENTICATION_REQUIRED"),
    *("INVALID_TOKEN", "PERMISSION_DENIED", "ORIGIN_MISMATCH", "RATE_LIMITED"),
    *("EXECUTION_FAILED", "BRIDGE_ERROR", "TIMEOUT", "SIGNATURE_INVALID"),
}


@pytest.mark.parametrize("row", TOOLS, ids=lambda row: row.name)
def test_schemas_are_objects_of_json_schema(row: object) -> None:
    for schema in (row.takes, row.answers):  # type: ignore[attr-defined] # a ToolRow
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


def test_a_search_takes_what_v1_takes_but_for_what_it_decides_itself() -> None:
    (search,) = (row for row in TOOLS if row.name == "search_sites")
    names = {field.encode_name for field in msgspec.structs.fields(SearchQuery)}
    assert set(search.takes["properties"]) == names - {"detail", "facets", "fields"}
    assert search.takes["required"] == ["q"]
    assert "anyOf" not in json.dumps(search.takes)


def test_the_descriptions_are_short() -> None:
    read = [INSTRUCTIONS]
    read += [json.dumps([row.name, row.description, row.takes]) for row in TOOLS]
    assert len("".join(read)) / 4 < 1_200  # tokens, by four letters each


@pytest.mark.parametrize(
    ("code", "status", "wanted"),
    [
        ("credentials_missing", 401, "AUTHENTICATION_REQUIRED"),
        ("credentials_invalid", 401, "INVALID_TOKEN"),
        ("request_signature_invalid", 401, "SIGNATURE_INVALID"),
        ("ranking_not_yours", 403, "PERMISSION_DENIED"),
        ("origin_mismatch", 403, "ORIGIN_MISMATCH"),
        ("site_unknown", 404, "INVALID_PARAMS"),
        ("body_late", 408, "TIMEOUT"),
        ("ranking_has_selection", 409, "EXECUTION_FAILED"),
        ("site_withdrawn", 410, "INVALID_PARAMS"),
        ("too_many_requests", 429, "RATE_LIMITED"),
        ("internal_error", 500, "BRIDGE_ERROR"),
        ("anonymous_turned_away", 503, "BRIDGE_ERROR"),
    ],
)
def test_problems_have_a_code_of_appendix_b(
    code: str, status: int, wanted: str
) -> None:
    assert wab_code_of(code, status) == wanted
    assert wanted in APPENDIX_B


class FailingManager:
    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        raise RuntimeError("a message")
        yield


async def test_transport_that_fails_is_started_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    managers = [FailingManager(), FailingManager()]
    monkeypatch.setattr(mcp_routes, "_load", iter(managers).__next__)
    async with asyncio.timeout(PATIENCE_S), McpTransport() as transport:
        for manager in managers:
            assert await transport.manager() is manager
            await asyncio.sleep(0)


def test_the_web_process_starts_without_the_sdk() -> None:
    program = (
        "import sys, registry.app;"
        "print(sorted(n for n in ('mcp', 'mcp_types', 'pydantic') if n in sys.modules))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout == "[]\n"
