"""Document and page of a member, in its format and dialect, and the document's path.

What each looks like stands in a template of `documents`: WAB 1.0 and two dialects that
are as common; AWP 0.2; AWAS 1.0 and 1.1; the ABP manifest; the manifest beside a WebMCP
page; and the page at `/`: what people see, and what points agents on. A page of WebMCP
carries its tools as forms (`toolname`, `tooldescription`); the other formats are pointed
at from the head.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from registry.demo.town.member import Dialect, Format, Member
from registry.demo.town.resource import Resource, html
from registry.reports import row_types
from registry.sites.action import Action, Parameter
from registry.strict_json import JsonValue

PAGE_PATH = "/"
_PATHS: Mapping[tuple[Format, Dialect], str] = {
    ("wab", ""): "/agent-bridge.json",
    ("wab", "site-1.2"): "/.well-known/wab.json",
    ("wab", "edge-3.2"): "/agent-bridge.json",
    ("awp", ""): "/agent.json",
    ("awas", ""): "/.well-known/ai-actions.json",
    ("awas", "1.1"): "/.well-known/ai-actions.json",
    ("abp", ""): "/abp-manifest.json",
    ("webmcp", "manifest"): "/.well-known/webmcp.json",
}
_RELATIONS = {"awas": "ai-actions", "abp": "abp-manifest"}
_INPUTS_BY_NAME = {
    "date": "date",
    "check_in": "date",
    "check_out": "date",
    "time": "time",
    "email": "email",
    "phone": "tel",
}
_INPUTS_BY_TYPE = {"integer": "number", "number": "number", "boolean": "checkbox"}
_METHODS = {"read": "GET", "destructive": "DELETE"}


def document_path(member: Member) -> str:
    """Return the path of the document; PAGE_PATH where the page itself is the document."""
    return _PATHS.get((member.format, member.dialect), PAGE_PATH)


def build_document(member: Member) -> dict[str, JsonValue] | None:
    """Build a member's document; None where the page itself is the document."""
    if document_path(member) == PAGE_PATH:
        return None
    name = "-".join(filter(None, (member.format, member.dialect)))
    text = _templates.get_template(f"{name}.json.jinja").render(member=member)
    document: dict[str, JsonValue] = json.loads(text)
    return document


def build_page(member: Member) -> Resource:
    manifest = member.dialect == "manifest"
    text = _templates.get_template("page.html").render(
        member=member,
        path=document_path(member),
        relation="webmcp" if manifest else _RELATIONS.get(member.format, ""),
    )
    return html(text)


# --- names and types of the cast, as the formats write them ----------------------------


def _camel(name: str) -> str:
    """book_table becomes bookTable; parts between dots are kept apart."""
    return ".".join(map(row_types.camel, name.split(".")))


def _title(name: str) -> str:
    return name.replace("_", " ").replace(".", " ").capitalize()


def _kebab(name: str) -> str:
    return name.replace("_", "-")


def _method(action: Action) -> str:
    return _METHODS.get(action.sensitivity or "", "POST")


def _input_type(parameter: Parameter) -> str:
    by_type = _INPUTS_BY_TYPE.get(parameter.type, "text")
    return _INPUTS_BY_NAME.get(parameter.name, by_type)


_templates = Environment(
    autoescape=True,
    undefined=StrictUndefined,
    loader=FileSystemLoader(Path(__file__).with_name("documents")),
)
_templates.globals.update(
    camel=_camel, title=_title, kebab=_kebab, method=_method, input_type=_input_type
)
