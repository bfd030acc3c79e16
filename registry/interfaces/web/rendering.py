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


def render(template: str, **values: Any) -> str:
    defaults = {"answer": None, "place": None, "next_page": None, "listed": 0}
    return _environment.get_template(template).render({**defaults, **values})
