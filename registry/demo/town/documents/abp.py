"""The ABP manifest."""

from registry.demo.town.documents.spelling import camel, json_schema
from registry.demo.town.member import Member
from registry.strict_json import JsonValue

Document = dict[str, JsonValue]


def build_abp(member: Member) -> Document:
    return {
        "abp": "0.1",
        "app": {
            "id": ".".join(reversed(member.host.split("."))),
            "name": member.name,
            "version": "1.0.0",
            "description": member.description,
            "homepage": member.url,
        },
        "capabilities": [
            {
                "name": camel(action.name),
                "description": action.description,
                "inputSchema": json_schema(action.parameters),
            }
            for action in member.actions
        ],
    }
