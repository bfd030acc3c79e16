"""The templates of the pages, and how one is rendered: everything is escaped."""

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import MediaType, Response

from registry.interfaces.http.problems import LANGUAGE

_environment = Environment(
    loader=PackageLoader("registry.interfaces.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_ABSENT = {
    "answer": None,
    "next_page": None,
    "problem": None,
    "listed": 0,
}


def render(template: str, **values: Any) -> str:
    return _environment.get_template(template).render({**_ABSENT, **values})


def page(template: str, status: int = 200, **values: Any) -> Response[str]:
    text = render(template, **values)
    headers = {"Content-Language": LANGUAGE}
    return Response(
        text, status_code=status, media_type=MediaType.HTML, headers=headers
    )
