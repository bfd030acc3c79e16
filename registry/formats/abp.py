"""ABP, the Agentic Browser Protocol: the manifest behind `<link rel="abp-manifest">`.

Specification: ABP, types ABPManifest and ManifestCapability. A manifest declares what
`window.abp` offers once the page runs; nothing of it has been tried.
"""

from typing import Any

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.actions import gather
from registry.formats.claims import read_address
from registry.formats.conformance import Specification
from registry.formats.document import Document
from registry.formats.parameters import read_parameters
from registry.formats.reader import Reader
from registry.sites.action import Action
from registry.sites.site import Site
from registry.strict_json import JsonObject

_FILLED = {"type": "string", "minLength": 1}
_STRING = {"type": "string"}
_CAPABILITY: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": _FILLED,
        "description": _STRING,
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "experimental": {"type": "boolean"},
        "deprecated": {"type": "boolean"},
    },
}
_SPECIFICATION = Specification(
    {
        "type": "object",
        "required": ["abp", "app", "capabilities"],
        "properties": {
            "abp": _FILLED,
            "app": {
                "type": "object",
                "required": ["id", "name", "version"],
                "properties": {
                    "id": _FILLED,
                    "name": _FILLED,
                    "version": _FILLED,
                    "description": _STRING,
                    "homepage": _STRING,
                },
            },
            "capabilities": {"type": "array", "items": _CAPABILITY},
        },
    }
)


def is_abp(raw: JsonObject) -> bool:
    return "abp" in raw


def read_abp(document: Reader) -> Document:
    """Raises: Refused (format_lookalike)."""
    for name, kind in (("abp", str), ("app", dict), ("capabilities", list)):
        if not isinstance(document.child(name).value, kind):
            raise Refused(
                refusals.FORMAT_LOOKALIKE,
                f"an ABP manifest needs {name}",
                pointer=f"/{name}",
            )
    _SPECIFICATION.compare(document)
    app = document.child("app")
    return document.ledger.conclude(
        format="abp",
        dialect="manifest",
        version=document.text("abp"),
        site=Site(
            name=app.text("name"),
            description=app.text("description"),
            url=read_address(app, "homepage"),
            actions=gather(
                (item, _read_capability(item))
                for item in document.items("capabilities")
                if isinstance(item.value, dict)
            ),
        ),
        raw=document.members,
    )


def _read_capability(capability: Reader) -> Action:
    name = capability.text("name")
    return Action(
        name=name,
        description=capability.text("description"),
        parameters=read_parameters(capability, "inputSchema"),
        experimental=capability.boolean("experimental") or False,
        deprecated=capability.boolean("deprecated") or False,
        calls=(capability.call("abp", "window.abp", operation=name),),
    )
