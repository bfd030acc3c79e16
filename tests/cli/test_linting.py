"""`lint` on files, standard input and a server of its own."""

import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme
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


def test_a_deviating_document_is_reported_with_its_repairs(wordpress: str) -> None:
    output = _lint(wordpress)
    assert output.exit_code == 0, output.output
    assert "tolerated" in output.output
    assert "/site/language" in output.output
    assert 'Write "de-AT".' in output.output
    assert "orderBread" in output.output


def test_the_same_as_json(wordpress: str) -> None:
    output = json.loads(_lint(wordpress, "--json").stdout)
    assert (output["format"], output["conformance"]) == ("wab", "tolerated")
    language = next(
        deviation
        for deviation in output["deviations"]
        if deviation["pointer"] == "/site/language"
    )
    assert language.keys() == {"pointer", "rule", "detail", "fix"}
    assert [action["name"] for action in output["site"]["actions"]] == ["orderBread"]
    assert {item["factor"] for item in output["advice"]} >= {"proximity"}


def test_a_refused_document_ends_with_one(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"wab_version": "1.0", // soon\n}')
    output = _lint(str(path), "--json")
    assert output.exit_code == 1
    result = json.loads(output.stdout)
    assert (result["conformance"], result["site"]) == ("refused", None)
    assert result["problem"]["code"] == "json_syntax"
    assert "a comment at line 1" in result["problem"]["detail"]


def test_strict_asks_for_more(wordpress: str) -> None:
    assert _lint(wordpress, "--strict").exit_code == 1


def test_what_would_have_to_be_guessed_is_asked_for(wordpress: str) -> None:
    output = _lint(wordpress, "--fix")
    assert output.exit_code == 1
    assert output.stdout == ""
    assert "/provider/category" in output.stderr


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
    output = _lint("-", "--json", given=WORDPRESS)
    assert json.loads(output.stdout)["format"] == "wab"


@pytest.mark.parametrize(
    "arguments", [["none.json"], ["-", "--url", "javascript:x"], ["http://[::1"], []]
)
def test_what_is_not_there_is_said_plainly(arguments: list[str]) -> None:
    output = _lint(*arguments, given="{}")
    assert output.exit_code in (1, 2)
    assert "Error" in output.output
    assert "Traceback" not in output.output


# --- pages ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<form toolname=search><input name=q></form>", "tooldescription is missing"),
        (
            "<form tool-name=a tool-description=b><input name=q></form>",
            "Write toolname",
        ),
        (
            '<script>navigator.modelContext.registerTool({name:"a"})</script>',
            "description is missing",
        ),
        ("<!doctype html><title>Shop</title><p>Hello", "/agent-bridge.json"),
    ],
)
def test_a_page_without_a_tool_is_told_what_to_do_next(
    page: str, expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "index.html"
    path.write_text(page)
    result = _lint(str(path))
    assert result.exit_code == 1
    assert "page_without_tools" in result.output
    assert expected in result.output
    report = json.loads(_lint(str(path), "--json").stdout)
    assert expected in json.dumps([report["problem"], report["deviations"]])


def test_a_page_that_points_to_its_document_does_its_job(tmp_path: Path) -> None:
    path = tmp_path / "index.html"
    path.write_text("<head><link rel=ai-actions href=/x.json></head><p>Hello")
    result = _lint(str(path), "--url", "https://brot.test/")
    assert result.exit_code == 0
    assert result.output.startswith("points on")
    assert "https://brot.test/x.json" in result.output
    assert _lint(str(path), "--strict").exit_code == 1


@pytest.mark.parametrize(
    "page",
    ["<!doctype html><p>No such page", "<form toolname=a tooldescription=b></form>"],
)
def test_a_page_at_the_address_of_a_document_is_none(page: str, tmp_path: Path) -> None:
    path = tmp_path / "agent-bridge.json"
    path.write_text(page)
    assert "page_not_document" in _lint(str(path)).output
    path = path.rename(tmp_path / "saved")
    url = "https://brot.test/.well-known/ai-actions.json"
    assert "page_not_document" in _lint(str(path), "--url", url).output
    assert "page_not_document" not in _lint(str(path)).output


# --- addresses ------------------------------------------------------------------------


def test_a_site_that_is_taken_for_a_file_is_told_how_to_be_written() -> None:
    assert "write https://brot.test" in _lint("brot.test").output
    assert "write https://brot.test/wab.json" in _lint("brot.test/wab.json").output
    assert "write" not in _lint("wab_json").output


def test_a_file_is_told_where_it_is_taken_to_lie(tmp_path: Path) -> None:
    path = tmp_path / "abp.json"
    path.write_text('{"abp": "0.1", "app": {"name": "A"}, "capabilities": ["a_b"]}')
    assert "--url says where it will" in _lint(str(path)).output
    assert "--url" not in _lint(str(path), "--url", "https://brot.test/a.json").output


def test_nothing_is_repaired_for_a_place_that_nobody_told(tmp_path: Path) -> None:
    raw = {"wab_version": "1.0", "site": {"name": "X", "category": "shop"}}
    path = tmp_path / "wab.json"
    path.write_text(json.dumps({**raw, "actions": [{"name": "buy"}]}))
    arguments = (str(path), "--fix", "--bridge", "/api/wab")
    result = _lint(*arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--url" in result.stderr
    output = _lint(*arguments, "--country", "Germany", "--url", "https://brot.test/")
    assert (output.exit_code, output.stdout) == (1, "")
    assert "two-letter code" in output.stderr
    port = _lint(*arguments, "--url", "https://brot.test:8443/wab.json")
    transport = json.loads(port.stdout)["transport"]
    assert transport["http"]["base_url"] == "https://brot.test:8443/api/wab"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{}", "format_unknown"),
        ("<head><link rel=ai-actions href=/x.json></head>", "page_without_tools"),
        ("<form toolname=a>", "page_without_tools"),
    ],
)
def test_what_cannot_be_repaired_is_not_written(body: str, code: str) -> None:
    result = _lint("-", "--fix", given=body)
    assert (result.exit_code, result.stdout) == (1, "")
    assert code in result.stderr
    assert "lint --new" in result.stderr


# --- a first document -----------------------------------------------------------------

ANSWERS = {
    "--url": "brot.test",
    "--name": "Ährenfeld",
    "--category": "bakery",
    "--city": "Graz",
    "--country": "AT",
    "--action": "Order bread for tomorrow",
    "--bridge": "/api/wab",
}


def _options(answers: dict[str, str]) -> list[str]:
    return [word for option in answers.items() for word in option]


def test_a_first_document_is_strict(tmp_path: Path) -> None:
    result = _lint("--new", *_options(ANSWERS))
    assert result.exit_code == 0, result.output
    assert "https://brot.test/agent-bridge.json" in result.stderr
    path = tmp_path / "agent-bridge.json"
    path.write_text(result.stdout)
    checked = json.loads(_lint(str(path), "--strict", "--json").stdout)
    assert checked["site"]["name"] == "Ährenfeld"
    assert checked["site"]["location"] == {"city": "Graz", "country": "AT"}


@pytest.mark.parametrize("option", [name for name in ANSWERS if name != "--city"])
def test_an_answer_that_lacks_is_named_and_not_made_up(option: str) -> None:
    left = {name: text for name, text in ANSWERS.items() if name != option}
    result = _lint("--new", *_options(left))
    if option == "--country":
        assert result.exit_code == 0
        return
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{option} is missing" in result.stderr


@pytest.mark.parametrize(
    "arguments", [["--new", "wab.json"], ["--new", "--fix"], ["--action", "a", "x"]]
)
def test_a_first_document_is_made_of_answers_alone(arguments: list[str]) -> None:
    assert _lint(*arguments).exit_code == 2


def test_a_terminal_is_asked_until_each_answer_will_do(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    answers = ("10.0.0.1", "brot.test", "", "Brot", "bakery", "", "Order bread", "/wab")
    os.write(ours, "".join(f"{answer}\n" for answer in answers).encode())
    command = [sys.executable, "-m", "registry", "lint", "--new"]
    with (tmp_path / "asked").open("wb") as query:
        done = subprocess.run(
            command,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=query,
            timeout=300,
            check=True,
        )
    os.close(theirs)
    os.close(ours)
    provider = json.loads(done.stdout)["provider"]
    assert provider == {
        "name": "Brot",
        "category": "bakery",
        "url": "https://brot.test/",
    }
    asked_text = (tmp_path / "asked").read_text()
    assert asked_text.count("Where is your site?") == 2
    assert asked_text.count("What is it called?") == 2


def test_a_terminal_is_not_asked_what_options_have_answered() -> None:
    ours, theirs = os.openpty()
    given = {
        name: ANSWERS[name] for name in ANSWERS if name not in ("--city", "--country")
    }
    command = [sys.executable, "-m", "registry", "lint", "--new", *_options(given)]
    done = subprocess.run(
        command, stdin=theirs, capture_output=True, timeout=300, check=True
    )
    os.close(theirs)
    os.close(ours)
    assert "location" not in json.loads(done.stdout)["provider"]
    assert b"?" not in done.stderr


# --- fetching -------------------------------------------------------------------------


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
    output = json.loads(_lint(f"{origin}{path}", "--json").stdout)
    assert output["format"] == format_
    assert output["url"].startswith(origin)


@pytest.mark.parametrize(("path", "why"), [("/none", "404"), ("/large", "bytes")])
def test_a_url_that_gives_nothing_says_why(origin: str, path: str, why: str) -> None:
    output = _lint(f"{origin}{path}")
    assert output.exit_code == 1
    assert why in output.output


@pytest.fixture
def town(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The settings under which a crawler reaches brot.test on this machine."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("brot.test").configure_cert(context)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Pages)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    (tmp_path / "hosts").write_text(f"brot.test 127.0.0.1:{server.server_port}\n")
    yield {
        "FAIR_REGISTRY_ALLOW_LOOPBACK": "1",
        "FAIR_REGISTRY_HOSTS_FILE": str(tmp_path / "hosts"),
        "FAIR_REGISTRY_CA_FILE": str(tmp_path / "ca.pem"),
    }
    server.shutdown()
    thread.join()
    server.server_close()


def _lint_in(settings: dict[str, str], *arguments: str) -> Result:
    return CliRunner().invoke(main, ["lint", *arguments], env=settings)


@pytest.mark.parametrize("path", ["/wab.json", "/moved"])
def test_a_url_is_fetched_as_the_crawler_does(town: dict[str, str], path: str) -> None:
    result = _lint_in(town, f"https://brot.test{path}", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["url"] == "https://brot.test/wab.json"


def test_what_is_wrong_with_the_way_there_is_reported(
    town: dict[str, str], tmp_path: Path
) -> None:
    url = "https://brot.test/wab.json"
    untrusted = {**town, "FAIR_REGISTRY_CA_FILE": ""}
    assert "CERTIFICATE_VERIFY_FAILED" in _lint_in(untrusted, url).output
    (tmp_path / "hosts").write_text("brot.test 10.0.0.1:443\n")
    assert "not loopback" in _lint_in(town, url).output
    (tmp_path / "ca.pem").write_text("no certificate")
    (tmp_path / "hosts").write_text("")
    result = _lint_in(town, url)
    assert result.exit_code == 1
    assert "CA_FILE" in result.output
