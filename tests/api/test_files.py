from types import SimpleNamespace
from urllib.robotparser import RobotFileParser

import httpx
from litestar import Litestar
from litestar.di import Provide
from litestar.testing import AsyncTestClient

from registry.interfaces.web.static_files import get_security
from registry.usecases.ids import utc_now
from tests.api import expect


def test_search_engines_are_kept_from_asking(http: httpx.Client) -> None:
    rules = RobotFileParser()
    rules.parse(http.get("/robots.txt").text.splitlines())
    assert rules.can_fetch("anybot", "/")
    assert rules.can_fetch("anybot", "/v1/sites/zaytoun-table.test")
    assert not rules.can_fetch("anybot", "/v1/search?q=a")
    assert not rules.can_fetch("anybot", "/?q=a")


def test_without_a_contact_there_is_no_security_txt(http: httpx.Client) -> None:
    expect.problem(http.get("/.well-known/security.txt"), 404, "not_found")


async def test_security_txt_names_the_contact_and_ends() -> None:
    async def services() -> SimpleNamespace:
        return SimpleNamespace(
            contact="mailto:security@registry.example",
            origin="https://registry.example",
            clock=utc_now,
        )

    app = Litestar(
        [get_security],
        dependencies={"services": Provide(services)},
        openapi_config=None,
        logging_config=None,
    )
    async with AsyncTestClient(app) as client:
        answer = await client.get("/.well-known/security.txt")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert fields["Contact"] == "mailto:security@registry.example"
    assert fields["Canonical"] == "https://registry.example/.well-known/security.txt"
    lifetime = expect.instant(fields["Expires"]) - utc_now()
    assert 80 < lifetime.days < 365


def test_the_icon_and_the_style_are_there(http: httpx.Client) -> None:
    assert http.get("/static/icon.svg").headers["Content-Type"] == "image/svg+xml"
    assert http.get("/static/style.css").headers["Content-Type"].startswith("text/css")
