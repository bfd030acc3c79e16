"""Blocks of the how-tos do what they say, with nothing but bash, openssl and curl."""

import contextlib
import http.server
import json
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trustme
from click.testing import CliRunner

from registry.cli import main
from registry.db.engine.embedded import start_embedded
from registry.settings import Settings
from tests.api.running import web_process
from tests.conftest import skip_or_fail
from tests.ports import free_port
from tests.waiting import PATIENCE_S, awaited

DOCS = Path(__file__).parents[2] / "docs"
COMMAND = Path(sys.executable).with_name("fair-registry")
SITES = {"Ed25519": "zaytoun.test", "ES256": "saffron.test"}
OWN_SITE = (
    "shop.test"  # of the blocks to try it, which start the registry of all others
)
CONFIG = "config"
READY_TIMEOUT_S = 180
BLOCK_TIMEOUT_S = 180

# Sites that say the same share a place in answers.
DESCRIPTIONS = {
    "Ed25519": "Book a table at the restaurant for a number of guests",
    "ES256": "Book a table on our terrace by the river, for breakfast, lunch or dinner",
}
DOCUMENT = {
    "wab_version": "1.0.0",
    "provider": {"name": "Zaytoun", "category": "restaurant"},
    "capabilities": {
        "commands": [
            {
                "name": "book_table",
                "description": "DESCRIPTION",
                "parameters": [
                    {
                        "name": "guests",
                        "type": "integer",
                        "required": True,
                        "description": "How many guests will come",
                    }
                ],
            }
        ],
        "permissions": {},
        "tier": "free",
        "transport": ["http"],
    },
}


def block_after(page: str, marker: str) -> str:
    """Return the first fenced block after the marker in a page of docs/."""
    text = (DOCS / page).read_text(encoding="utf-8")
    fenced = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
    match = fenced.search(text, text.index(marker))
    assert match is not None
    return match.group(1)


def registration_block(alg: str) -> str:
    block = block_after("register.md", "## Register with openssl and curl")
    if alg == "Ed25519":
        return block
    head, step_1, _ = block.partition("# 1. ")
    _, step_2, rest = block.partition("# 2. ")
    assert step_1
    assert step_2
    es256 = block_after("register.md", "## With an ES256 key")
    return f"{head}{es256}\n{step_2}{rest}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folder with a web root for each host; beside them `ca.pem` and `hosts`."""
    folder = tmp_path_factory.mktemp("sites")
    for alg, host in SITES.items():
        document = json.dumps(DOCUMENT).replace("DESCRIPTION", DESCRIPTIONS[alg])
        (folder / host).mkdir()
        (folder / host / "agent-bridge.json").write_text(document)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*SITES.values()).configure_cert(context)

    class ByHost(QuietHandler):
        def translate_path(self, path: str) -> str:
            host = self.headers["Host"].partition(":")[0]
            self.directory = str(folder / host)
            return super().translate_path(path)

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ByHost) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        port = server.server_address[1]
        hosts = "".join(f"{host} 127.0.0.1:{port}\n" for host in SITES.values())
        (folder / "hosts").write_text(hosts)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 — its name above
        pass


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the blocks to try it are run."""
    return tmp_path_factory.mktemp("tried")


@pytest.fixture(scope="module")
def data(tried: Path) -> Path:
    """The data folder of `origin`."""
    return tried / "try" / "data"


# The block knows of its own site alone, and names its files just before it calls this.
AMONG_OTHERS = """#!/bin/sh
cat "$FAIR_REGISTRY_HOSTS_FILE" {served}/hosts > {tried}/hosts
cat "$FAIR_REGISTRY_CA_FILE" {served}/ca.pem > {tried}/ca.pem
export FAIR_REGISTRY_HOSTS_FILE={tried}/hosts FAIR_REGISTRY_CA_FILE={tried}/ca.pem
export FAIR_REGISTRY_INVARIANCE_TRIALS=0
exec {command} "$@"
"""


@pytest.fixture(scope="module")
def origin(served: Path, tried: Path) -> Iterator[str]:
    """The origin of the registry to try, which knows where the other sites are, too."""
    for tool in ("bash", "openssl", "curl"):
        if shutil.which(tool) is None:
            skip_or_fail(f"{tool} is not installed")
    command = tried / "fair-registry"
    command.write_text(AMONG_OTHERS.format(served=served, tried=tried, command=COMMAND))
    command.chmod(0o700)
    port, site_port = free_port(), free_port()
    environment = {
        "FAIR_REGISTRY": str(command),
        "EXAMPLE": str(DOCS / "examples" / "wab.json"),
        "PORT": str(port),
        "SITE_PORT": str(site_port),
    }
    start = block_after("try-it.md", "First `make install`")
    words = ["bash", "-euo", "pipefail", "-c", start]
    log = tried / "serve.log"
    with running(words, {**os.environ, **environment}, log, tried):
        url = f"http://127.0.0.1:{port}"
        wait_until_ready(url, log)
        yield url


@pytest.fixture(scope="module")
def own_site(origin: str, tried: Path) -> str:
    """Output of the block that registers a site of one's own and finds it."""
    ask = block_after("try-it.md", "In a second terminal")
    return run_block(ask, tried, FAIR_REGISTRY=str(COMMAND), REGISTRY=origin)


@pytest.mark.slow
def test_the_blocks_to_try_it_register_and_find_a_site_of_ones_own(
    own_site: str,
) -> None:
    assert f"{OWN_SITE}: active" in own_site
    assert f"1. The Corner Kitchen ({OWN_SITE}, Amman JO)" in own_site


@contextmanager
def running(
    command: list[str], environment: dict[str, str], log: Path, folder: Path
) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(PATIENCE_S)


def wait_until_ready(origin: str, log: Path, health: str = "ready") -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{origin}/health/{health}"):
                return
        except urllib.error.URLError:
            time.sleep(0.1)
    pytest.fail(f"not ready: {log.read_text()}")


def secret_in(folder: Path, name: str) -> Path:
    """Return a file of the folder of keys, in which alone the blocks leave something."""
    assert [entry.name for entry in folder.iterdir()] == [CONFIG]
    secret = folder / CONFIG / "fair-registry" / "keys" / name
    assert secret.stat().st_mode & 0o077 == 0
    assert secret.parent.stat().st_mode & 0o077 == 0
    return secret


def run_block(block: str, folder: Path, **environment: str) -> str:
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        cwd=folder,
        env={**os.environ, "XDG_CONFIG_HOME": str(folder / CONFIG), **environment},
        capture_output=True,
        text=True,
        timeout=BLOCK_TIMEOUT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folder of each owner, by the algorithm of the key."""
    return {alg: tmp_path_factory.mktemp(alg) for alg in SITES}


@pytest.fixture(scope="module")
def registered(
    origin: str, own_site: str, served: Path, folders: dict[str, Path]
) -> dict[str, str]:
    """Output of the registration block, by the algorithm of the key."""
    assert own_site, "it comes first, so that every test finds the same sites"
    return {
        alg: run_block(
            registration_block(alg),
            folders[alg],
            REGISTRY=origin,
            SITE=site,
            WEB_ROOT=str(served / site),
        )
        for alg, site in SITES.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("alg", SITES)
def test_the_registration_block_lists_the_site(
    registered: dict[str, str], folders: dict[str, Path], alg: str
) -> None:
    decided = json.loads(registered[alg].splitlines()[-1])

    assert decided["host"] == SITES[alg]
    assert decided["status"] == "active", decided["problems"]
    assert secret_in(folders[alg], f"{SITES[alg]}.pem").exists()


@pytest.mark.slow
def test_the_registration_block_fails_where_the_site_is_rejected(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    assert registered
    environment = {"REGISTRY": origin, "SITE": SITES["Ed25519"]}
    with pytest.raises(AssertionError, match='"code":"key_not_published"'):
        run_block(
            registration_block("Ed25519"),
            tmp_path,
            WEB_ROOT=str(tmp_path / "not served"),
            **environment,
        )


@pytest.mark.slow
def test_the_search_block_finds_the_sites_and_reports_the_first(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    assert len(registered) == len(SITES)
    until_found(origin)
    block = block_after("search.md", "## Search, and report")

    answer, selection = run_block(block, tmp_path, REGISTRY=origin).splitlines()

    results = json.loads(answer)["results"]
    assert {result["site"]["host"] for result in results} == {OWN_SITE, *SITES.values()}
    assert json.loads(selection)["leafHash"]


@pytest.mark.slow
def test_the_block_with_a_key_gets_the_first_answer_again(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    until_found(origin)
    block = block_after("search.md", "## Repeat a call")

    first, second = run_block(block, tmp_path, REGISTRY=origin).splitlines()

    assert first == second
    assert json.loads(first)["leafHash"]


@pytest.mark.slow
def test_the_block_for_ard_finds_the_same_sites(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    until_found(origin)
    block = block_after("ard.md", "# Clients of")

    output = run_block(block, tmp_path, REGISTRY=origin)
    answer, end = json.JSONDecoder().raw_decode(output)
    counts = json.loads(output[end:])

    named = {result["identifier"] for result in answer["results"]}
    assert named == {f"urn:air:{site}:site" for site in (OWN_SITE, *SITES.values())}
    assert counts["facets"]["country"]["buckets"]


@pytest.mark.slow
def test_the_block_for_mcp_searches_and_reports(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    until_found(origin)
    block = block_after("mcp.md", "## A run")

    answer = json.loads(run_block(block, tmp_path, REGISTRY=origin))

    assert not answer["result"]["isError"]
    assert answer["result"]["structuredContent"]["leafHash"]


@pytest.mark.slow
def test_the_block_for_wab_agents_searches_and_reports(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    until_found(origin)
    block = block_after("wab.md", "## Discover, authenticate")

    lines = run_block(block, tmp_path, REGISTRY=origin).splitlines()

    answer, selection = (json.loads(line)["result"] for line in lines[-2:])
    assert {row["site"] for row in answer["results"]} == {OWN_SITE, *SITES.values()}
    assert selection["leafHash"]


@pytest.mark.slow
def test_the_block_of_the_feed_begins_and_goes_on(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    assert registered
    block = block_after("feed.md", "# Follow what changes")

    later = json.loads(run_block(block, tmp_path, REGISTRY=origin))

    first = json.loads((tmp_path / "page.json").read_text())
    assert set(SITES.values()) <= {row["host"] for row in first["changes"]}
    assert later["changes"] == []


@pytest.mark.slow
def test_the_operator_block_registers_and_asks_as_the_operator(
    origin: str, registered: dict[str, str], tmp_path: Path
) -> None:
    assert registered
    block = block_after("operators.md", "## Register, search and report")

    answer, report = run_block(block, tmp_path, REGISTRY=origin).split(
        "path,section,", 1
    )

    assert json.loads(answer)["ranking"]["number"] == 1
    assert report.count("\n") > 1
    assert secret_in(tmp_path, "operator.header").exists()


@pytest.mark.slow
def test_the_refresh_block_has_the_site_read_again(
    origin: str, registered: dict[str, str], folders: dict[str, Path]
) -> None:
    assert registered
    block = block_after("changes.md", "## Report a change")
    site = SITES["Ed25519"]

    hint = json.loads(run_block(block, folders["Ed25519"], REGISTRY=origin, SITE=site))

    assert hint["host"] == site
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with urllib.request.urlopen(origin + hint["statusUrl"]) as answer:
            if "at" in json.load(answer)["lastOutcomes"]["crawl"]:
                return
        time.sleep(0.1)
    pytest.fail("nobody came")


@pytest.mark.slow
def test_the_rotation_block_replaces_the_key_and_revokes_the_old_one(
    origin: str, registered: dict[str, str], served: Path, folders: dict[str, Path]
) -> None:
    assert registered
    site, folder = SITES["Ed25519"], folders["Ed25519"]
    key = secret_in(folder, f"{site}.pem")
    before = key.read_bytes()
    block = block_after("keys.md", "## Replace a key")

    statements = run_block(
        block, folder, REGISTRY=origin, SITE=site, WEB_ROOT=str(served / site)
    )

    decided = [json.loads(line) for line in statements.splitlines()]
    assert [
        (registration["act"], registration["status"]) for registration in decided
    ] == [
        ("rotate", "active"),
        ("revoke", "active"),
    ]
    assert key.read_bytes() != before
    with urllib.request.urlopen(f"{origin}/v1/sites/{site}/notices") as answer:
        codes = [notice["code"] for notice in json.load(answer)["notices"]]
    assert {"key_trusted", "key_revoked"} <= set(codes)


@pytest.mark.slow
def test_the_backup_of_a_running_registry_restores_it(
    origin: str, data: Path, tmp_path: Path
) -> None:
    """The web process of the restored one serves the log on, to whoever followed it."""
    state, restored = tmp_path / "state.json", tmp_path / "restored"
    (tmp_path / ".venv").symlink_to(sys.prefix)
    ranking = ask(f"{origin}/v1/search?q=bread")["ranking"]["id"]
    index = until_logged(origin, ranking)
    verify(origin, state)
    backup = block_after("run.md", "While it runs, use the tools")
    run_block(f"{backup}\necho $PG > pg", tmp_path, DATA=str(data))
    for name in ("registry.dump", "roles.sql", "keys.tar.gz"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0

    with contextlib.closing(start_embedded(tmp_path / "elsewhere")) as server:
        url = server.url("fair_registry")
        programs = (tmp_path / "pg").read_text().strip()
        place = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "PGHOST": str(url.query["host"]),
            "PGUSER": "postgres",
        }
        restore = block_after("run.md", "## Restore")
        run_block(restore, tmp_path, DATA=str(restored), **place)
        settings = Settings(
            data=restored,
            database_url=url.render_as_string(hide_password=False),
            port=free_port(),
            log_name=origin.removeprefix("http://"),
        )
        with web_process(settings):
            wait_until_ready(settings.origin, restored / "web.log", "live")
            assert until_logged(settings.origin, ranking) == index
            verify(settings.origin, state)


def ask(url: str) -> dict[str, Any]:
    body: dict[str, Any] = httpx.get(url, timeout=PATIENCE_S).json()
    return body


def until_logged(origin: str, ranking_id: str) -> int:
    """Return the index of the ranking's record, once the log has it."""

    def index() -> int | None:
        leaf_index: int | None = ask(f"{origin}/v1/rankings/{ranking_id}")["leafIndex"]
        return leaf_index

    return awaited(f"{ranking_id} in the log", index)


def verify(origin: str, state: Path) -> None:
    words = ["audit", "verify", "--registry", origin, "--state", str(state)]
    verified = CliRunner().invoke(main, words)
    assert verified.exit_code == 0, verified.output


def until_found(origin: str) -> None:
    """Wait for the index, which follows the database within a second."""
    count = len({OWN_SITE, *SITES.values()})
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{origin}/v1/search?q=book+a+table") as answer:
            if len(json.load(answer)["results"]) == count:
                return
        time.sleep(0.1)
    pytest.fail("the sites are not found")
