"""The main job, as `make demo` runs it: real processes, TLS, PostgreSQL.

The gate plays the demo here and nowhere else.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.ports import free_port

pytestmark = pytest.mark.slow

TIMEOUT_S = 300
# A demo that takes two minutes would begin with the day's 10,000 trials beside its acts.
WITHOUT_TRIALS = {"FAIR_REGISTRY_INVARIANCE_TRIALS": "0"}
# Another test plays the acts, and sees the service start and end.
WITHOUT_ACTS = """
import contextlib

from registry.cli import demo, main

@contextlib.asynccontextmanager
async def serve_nothing(settings):
    yield settings

async def play(self, service, town):
    pass

demo.running_service = serve_nothing
demo.Demo._play = play
main()
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "registry", *arguments]


def test_demo_plays_every_act_and_ends(tmp_path: Path) -> None:
    port = free_port()
    played = subprocess.run(
        command("demo", "--once", "--json", f"--port={port}", f"--data={tmp_path}/d"),
        env={**os.environ, **WITHOUT_TRIALS},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    summary = json.loads(played.stdout)
    assert summary["failures"] == []
    assert summary["registered"] >= 40
    assert summary["active"] + summary["rejected"] == summary["registered"]
    assert summary["rejected"] >= 2
    assert summary["documents"] >= summary["active"]
    assert summary["searches"] == summary["report"]["rankings"]
    shown = summary["report"]["sentences"] - summary["report"]["withheld"]
    assert shown >= 20, "15 of 25 sentences were withheld"
    assert summary["selections"] == summary["report"]["selections"]
    assert summary["records"] > summary["searches"] + summary["active"]
    assert summary["logVerified"] is True
    assert summary["own"] == {
        "host": "registry.test",
        "formats": ["abp", "awas", "awp", "wab", "webmcp"],
        "conformance": "strict",
        "rank": 1,
    }
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1)


def test_demo_that_can_not_listen_ends_with_an_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        played = subprocess.run(
            command("demo", "--once", "--json", f"--port={port}", f"--data={tmp_path}"),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    assert played.returncode != 0
    assert str(port) in played.stdout + played.stderr


def test_demo_deletes_nothing_that_is_not_a_demos(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    refused = subprocess.run(
        command("demo", "--once", "--json", f"--data={tmp_path}"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert refused.returncode == 1
    assert "--data" in refused.stderr
    assert (tmp_path / "postgres").is_dir()


def test_demo_serves_on_until_it_is_interrupted(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [
            *(sys.executable, "-c", WITHOUT_ACTS, "demo"),
            f"--data={tmp_path}/d",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    ) as playing:
        try:
            assert playing.stdout is not None
            shown = ""
            deadline = time.monotonic() + TIMEOUT_S
            while "serves on" not in shown and time.monotonic() < deadline:
                shown += playing.stdout.readline()
            assert "serves on" in shown
            assert playing.poll() is None
            playing.send_signal(signal.SIGINT)
            playing.communicate(timeout=TIMEOUT_S)
            assert playing.returncode == 0
        finally:
            playing.kill()
