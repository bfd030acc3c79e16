"""The manifest that some sites with WebMCP tools serve beside their page."""

from registry.demo.town.documents.spelling import json_schema
from registry.demo.town.member import Member
from registry.strict_json import JsonValue

Document = dict[str, JsonValue]


def build_webmcp_manifest(member: Member) -> Document:
    return {
        "name": member.name,
        "description": member.description,
        "url": member.url,
        "tools": [
            {
                "name": action.name,
                "description": action.description,
                "inputSchema": json_schema(action.parameters),
                "annotations": {"readOnlyHint": action.sensitivity == "read"},
            }
            for action in member.actions
        ],
    }
