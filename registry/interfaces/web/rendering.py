"""The templates of the pages, and how one is rendered: everything is escaped."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

_environment = Environment(
    loader=PackageLoader("registry.interfaces.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_ABSENT = {
    "answer": None,
    "place": None,
    "next_page": None,
    "problem": None,
    "listed": 0,
}


def render(template: str, **values: Any) -> str:
    return _environment.get_template(template).render({**_ABSENT, **values})
