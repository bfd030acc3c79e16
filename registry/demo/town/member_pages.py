"""The page of a member at `/`: what people see, and what points agents on.

A page of WebMCP carries its tools as forms (`toolname`, `tooldescription`); the other
formats are pointed at from the head.
"""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from registry.demo.town.build_document import document_path
from registry.demo.town.member import Member
from registry.demo.town.resource import Resource, html
from registry.demo.town.spelling import title
from registry.sites.action import Parameter

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


def build_page(member: Member) -> Resource:
    manifest = member.dialect == "manifest"
    text = _template.render(
        member=member,
        path=document_path(member),
        relation="webmcp" if manifest else _RELATIONS.get(member.format, ""),
    )
    return html(text)


def _input_type(parameter: Parameter) -> str:
    by_type = _INPUTS_BY_TYPE.get(parameter.type, "text")
    return _INPUTS_BY_NAME.get(parameter.name, by_type)


_environment = Environment(
    autoescape=True,
    undefined=StrictUndefined,
    loader=FileSystemLoader(Path(__file__).parent),
)
_environment.globals.update(title=title, input_type=_input_type)
_template = _environment.get_template("page.html")
