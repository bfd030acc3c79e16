"""`crawl`, as an operator or a site owner starts it."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import URL

from registry.cli import main
from registry.db.engine.engines import Engine, Role
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.list_site import Lister
from tests.crawler.net import HOST, HonestSite, Net, Page
from tests.db.scene import Clock, Scene, wab

WAB = Page(json.dumps(wab()).encode())
HOSTILE = wab(
    provider={
        "name": "\x1b[2J\u202e[red]Alder",
        "category": "restaurant",
        "description": "Food.",
    }
)


@pytest.fixture
async def net(tmp_path: Path) -> AsyncIterator[Net]:
    net = Net(tmp_path)
    yield net
    await net.close()


def environment(net: Net, **settings: object) -> dict[str, str]:
    hosts = net.ca_file.with_name("hosts")
    hosts.write_text(
        "".join(f"{name} {at.address}:{at.port}\n" for name, at in net.hosts.items())
    )
    given = {"allow_loopback": 1, "ca_file": net.ca_file, "hosts_file": hosts}
    given |= settings
    named = {
        f"FAIR_REGISTRY_{name.upper()}": str(given_row)
        for name, given_row in given.items()
    }
    return {**os.environ, **named, "TERM": "dumb"}


async def crawl(
    net: Net, *arguments: str, **settings: object
) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "registry", "crawl", *arguments],
        env=environment(net, **settings),
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


async def once(net: Net, *arguments: str, **settings: object) -> tuple[int, list[Any]]:
    ran = await crawl(net, "--once", HOST, "--json", *arguments, **settings)
    assert "Traceback" not in ran.stderr, ran.stderr
    return ran.returncode, [json.loads(line) for line in ran.stdout.splitlines()]


def of(events: list[Any], name: str) -> list[Any]:
    return [event for event in events if event["event"] == name]


async def test_a_visit_is_told_for_people_without_what_could_hurt_their_terminal(
    net: Net,
) -> None:
    page = Page(json.dumps(HOSTILE).encode())
    await net.serve(HonestSite({"/agent-bridge.json": page}))
    ran = await crawl(net, "--once", HOST)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"dns +shop\.test: 127\.0\.0\.1 allowed", ran.stdout)
    assert re.search(r"ask +/agent-bridge\.json \(well_known\)", ran.stdout)
    assert re.search(r"next +in \d+ (h|d)", ran.stdout)
    assert "[red]Alder" in ran.stdout
    assert all(character.isprintable() or character == "\n" for character in ran.stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--store"],
        ["--declared", "https://a.io/"],
        ["--once", "a.io", "--store", "--declared", "https://a.io/"],
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["crawl", *arguments]).exit_code == 2


def test_without_a_registry_there_is_nothing_to_crawl_for(tmp_path: Path) -> None:
    set_ = {"FAIR_REGISTRY_DATA": str(tmp_path), "FAIR_REGISTRY_DATABASE_URL": ""}
    ran = CliRunner().invoke(main, ["crawl"], env=set_)
    assert ran.exit_code == 1
    assert "serve" in ran.output


# --- with a database ------------------------------------------------------------------


@pytest.fixture(scope="module")
def scene(engines: dict[Role, Engine], owner: Engine, gazetteer: Gazetteer) -> Scene:
    lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)
    return Scene(engines, owner, lister, Clock())


def url_of(database: URL) -> str:
    return database.render_as_string(hide_password=False)


@pytest.mark.slow
async def test_store_needs_a_listed_site_and_ends_with_one_without(
    net: Net, database: URL
) -> None:
    code, events = await once(net, "--store", database_url=url_of(database))
    assert code == 1
    assert events[-1] == {"event": "not_leased", "host": HOST, "why": "not_listed"}


@pytest.mark.slow
async def test_a_crawler_shows_its_figures_until_it_is_stopped(
    net: Net, scene: Scene, database: URL
) -> None:
    host = (await scene.register()).host.name
    await net.serve(HonestSite({"/agent-bridge.json": WAB}), host)
    await scene.sql("UPDATE registry.task SET leased_until = NULL, due_at = NULL")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "registry", "crawl", "--json"),
        env=environment(net, database_url=url_of(database)),
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout
    async with asyncio.timeout(180):
        async for line in process.stdout:
            figures = json.loads(line)
            # A probe or a proof may be done before the visit is.
            visited = figures["visits"] and figures["ended"].get("done")
            if visited and figures["freshness"] is not None:
                break
        process.send_signal(signal.SIGTERM)
        await process.communicate()
    assert process.returncode == 0
    assert figures["leased"]["crawl"] >= 1
    assert figures["visits"]
    assert 0 < figures["freshness"] <= 1
