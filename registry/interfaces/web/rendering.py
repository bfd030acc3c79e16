"""The templates of the pages, and how one is rendered: everything is escaped."""

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from litestar import MediaType, Response
from markdown_it import MarkdownIt

from registry.index.sources import policy_page
from registry.interfaces.http.problems import LANGUAGE

_environment = Environment(
    loader=PackageLoader("registry.interfaces.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)

_UNSEEN = re.compile("<!--.*?-->")

_ABSENT = {"answer": None, "next_page": None, "problem": None, "listed": 0}


def render(template: str, **values: Any) -> str:
    return _environment.get_template(template).render({**_ABSENT, **values})


def page(template: str, status: int = 200, **values: Any) -> Response[str]:
    text = render(template, **values)
    headers = {"Content-Language": LANGUAGE}
    return Response(
        text, status_code=status, media_type=MediaType.HTML, headers=headers
    )


@cache
def computation() -> str:
    """Render docs/policy.md, its headings a level below those of the page around it."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = reader.parse(_UNSEEN.sub("", policy_page().decode()))
    for token in tokens:
        if token.type.startswith("heading_"):
            token.tag = f"h{int(token.tag[1]) + 1}"
    return str(reader.renderer.render(tokens, reader.options, {}))
