"""`lint` on files, standard input and a server of its own."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from registry.cli import main

WORDPRESS = {
    "wab_version": "1.3.0",
    "site": {"name": "Bäckerei Ährenfeld", "domain": "ähre.test", "language": "de_AT"},
    "lifecycle": ["discover"],
    "actions": [{"name": "orderBread", "description": "Order bread for tomorrow"}],
    "endpoints": {"execute": "https://brot.test/api/wab/execute"},
}


def _lint(*arguments: str, given: Any = None) -> Result:
    text = given if isinstance(given, str | bytes | None) else json.dumps(given)
    return CliRunner().invoke(main, ["lint", *arguments], input=text)


@pytest.fixture
def wordpress(tmp_path: Path) -> str:
    path = tmp_path / "wab.json"
    path.write_text(json.dumps(WORDPRESS))
    return str(path)


def test_a_deviating_document_is_told_with_its_repairs(wordpress: str) -> None:
    told = _lint(wordpress)
    assert told.exit_code == 0, told.output
    assert "tolerated" in told.output
    assert "/site/language" in told.output
    assert 'Write "de-AT".' in told.output
    assert "orderBread" in told.output


def test_the_same_as_json(wordpress: str) -> None:
    found = json.loads(_lint(wordpress, "--json").stdout)
    assert (found["format"], found["conformance"]) == ("wab", "tolerated")
    language = next(
        one for one in found["deviations"] if one["pointer"] == "/site/language"
    )
    assert language.keys() == {"pointer", "rule", "detail", "fix"}
    assert [one["name"] for one in found["site"]["actions"]] == ["orderBread"]
    assert {one["factor"] for one in found["advice"]} >= {"proximity"}


def test_a_refused_document_ends_with_one(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"wab_version": "1.0", // soon\n}')
    told = _lint(str(path), "--json")
    assert told.exit_code == 1
    found = json.loads(told.stdout)
    assert (found["conformance"], found["site"]) == ("refused", None)
    assert found["problem"]["code"] == "json_syntax"
    assert "a comment at line 1" in found["problem"]["detail"]


def test_strict_asks_for_more(wordpress: str) -> None:
    assert _lint(wordpress, "--strict").exit_code == 1


def test_what_would_have_to_be_guessed_is_asked_for(wordpress: str) -> None:
    told = _lint(wordpress, "--fix")
    assert told.exit_code == 1
    assert told.stdout == ""
    assert "/provider/category" in told.stderr


def test_a_repaired_document_is_strict(wordpress: str, tmp_path: Path) -> None:
    repaired = _lint(
        wordpress, "--fix", "--category", "bakery", "--url", "https://brot.test/"
    )
    assert repaired.exit_code == 0, repaired.output
    path = tmp_path / "agent-bridge.json"
    path.write_text(repaired.stdout)
    again = _lint(str(path), "--strict", "--json")
    assert again.exit_code == 0, again.output
    site = json.loads(again.stdout)["site"]
    assert (site["name"], site["category"]) == ("Bäckerei Ährenfeld", "bakery")
    assert "lifecycle" in repaired.stderr


def test_standard_input_will_do() -> None:
    told = _lint("-", "--json", given=WORDPRESS)
    assert json.loads(told.stdout)["format"] == "wab"


@pytest.mark.parametrize(
    "arguments", [["none.json"], ["-", "--url", "javascript:x"], ["http://[::1"], []]
)
def test_what_is_not_there_is_said_plainly(arguments: list[str]) -> None:
    told = _lint(*arguments, given="{}")
    assert told.exit_code in (1, 2)
    assert "Error" in told.output
    assert "Traceback" not in told.output


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, kind, body = {
            "/wab.json": (200, "application/json", json.dumps(WORDPRESS).encode()),
            "/": (200, "text/html", b"<form toolname=a tooldescription=b></form>"),
            "/moved": (302, "text/plain", b""),
            "/page": (
                200,
                "text/html",
                b"<form toolname=a tooldescription=b></form>" + b" " * 600_000,
            ),
            "/large": (200, "application/json", b" " * 600_000),
        }.get(self.path, (404, "text/plain", b"none"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status == 302:
            self.send_header("Location", "/wab.json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def origin() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("path", "format_"),
    [("/wab.json", "wab"), ("/moved", "wab"), ("/", "webmcp"), ("/page", "webmcp")],
)
def test_a_url_is_fetched(origin: str, path: str, format_: str) -> None:
    found = json.loads(_lint(f"{origin}{path}", "--json").stdout)
    assert found["format"] == format_
    assert found["url"].startswith(origin)


@pytest.mark.parametrize(("path", "why"), [("/none", "404"), ("/large", "bytes")])
def test_a_url_that_gives_nothing_says_why(origin: str, path: str, why: str) -> None:
    told = _lint(f"{origin}{path}")
    assert told.exit_code == 1
    assert why in told.output
