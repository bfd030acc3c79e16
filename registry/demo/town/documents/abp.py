"""The ABP manifest."""

from registry.demo.town.documents.spelling import camel, json_schema
from registry.demo.town.member import Member
from registry.identity.strict_members import Json

Document = dict[str, Json]


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
