"""ABP, the Agentic Browser Protocol: the manifest behind `<link rel="abp-manifest">`.

Specification: ABP, types ABPManifest and ManifestCapability. A manifest declares what
`window.abp` offers once the crawled page runs, wherever the manifest itself lies; nothing
of it has been tried. What a running page alone can tell (`available`, `requirements`,
`features`) is not read.
"""

from collections.abc import Iterator

from registry.errors import Refused
from registry.formats import refusals
from registry.formats.document import MAX_TEXT_CHARACTERS, Document
from registry.formats.extension import extend_action
from registry.formats.reading.action_list import gather
from registry.formats.reading.claims import read_address
from registry.formats.reading.conformance import load_specifications
from registry.formats.reading.parameters import is_schema, read_parameters
from registry.formats.reading.reader import Reader, clean_text
from registry.sites.action import Action
from registry.sites.site import Site
from registry.strict_json import JsonObject

_SPECIFICATIONS = load_specifications(__package__, "abp_schema.json")
_SHAPES: tuple[tuple[str, tuple[type, ...], str], ...] = (
    ("abp", (str, int, float), "its version"),
    ("app", (dict,), "an object"),
    ("capabilities", (list, dict), "an array"),
)


def is_abp(raw: JsonObject) -> bool:
    return "abp" in raw


def read_abp(document: Reader) -> Document:
    """Read an ABP manifest. Raises: Refused (format_lookalike)."""
    for name, kinds, shape in _SHAPES:
        value = document.child(name).value
        if not isinstance(value, kinds) or isinstance(value, bool):
            raise Refused(
                refusals.FORMAT_LOOKALIKE,
                f"{name}: an ABP manifest has {shape} there",
                pointer=f"/{name}",
            )
    _SPECIFICATIONS["manifest"].compare(document)
    app = document.child("app")
    return document.log.conclude(
        format="abp",
        dialect="manifest",
        version=_read_version(document),
        site=Site(
            name=app.text("name"),
            description=app.text("description"),
            url=read_address(app, "homepage"),
            actions=gather(
                (item, _read_capability(item, name))
                for item, name in _capabilities(document.child("capabilities"))
            ),
        ),
        raw=document.members,
    )


def _read_version(document: Reader) -> str:
    value = document.members["abp"]
    return document.text("abp") if isinstance(value, str) else str(value)


def _capabilities(declared: Reader) -> Iterator[tuple[Reader, str]]:
    """Yield each capability with its name: listed as objects or names, or in a map."""
    if isinstance(declared.value, dict):
        for name, item in declared.entries():
            yield item, clean_text(name[:MAX_TEXT_CHARACTERS])
    else:
        for item in declared.elements():
            if isinstance(item.value, str):
                yield item, item.as_text()
            elif isinstance(item.value, dict):
                yield item, item.text("name")


def _read_capability(capability: Reader, name: str) -> Action:
    schema = capability.child("inputSchema")
    _check_schema(schema)
    _check_schema(capability.child("outputSchema"))
    parsed = Action(
        name=name,
        description=capability.text("description"),
        parameters=(
            read_parameters(capability, "inputSchema")
            if _describes_object(schema)
            else ()
        ),
        experimental=capability.boolean("experimental") or False,
        deprecated=capability.boolean("deprecated") or False,
        calls=(capability.call("abp", "window.abp", operation=name),),
    )
    return extend_action(parsed, capability, schema.child("properties"))


def _check_schema(schema: Reader) -> None:
    if is_schema(schema.value):
        _SPECIFICATIONS["inputSchema"].compare(schema)
    elif _is_map_of_parameters(schema.members):
        schema.deviate("map_for_schema")


def _is_map_of_parameters(members: JsonObject) -> bool:
    return (
        bool(members)
        and "type" not in members
        and all(isinstance(member, dict | str) for member in members.values())
    )


def _describes_object(schema: Reader) -> bool:
    """Check the type of a schema: `window.abp.call` takes an object."""
    kind = schema.child("type")
    if not isinstance(kind.value, str) or kind.value == "object":
        return True
    kind.deviate("kind_for_parameters", kind=kind.value[:80])
    return False
