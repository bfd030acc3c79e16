"""A bench that is ended by SIGTERM leaves no server, no process and no folder."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import PATIENCE_S, until


@pytest.mark.slow
@pytest.mark.parametrize(
    "subject", [("report", "--rankings", "1000000"), ("crawl", "leases")]
)
def test_sigterm_ends_the_embedded_server(
    subject: tuple[str, ...], tmp_path: Path
) -> None:
    command = Path(sys.executable).with_name("fair-registry")
    bench = subprocess.Popen(
        [command, "bench", *subject],
        env={"TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        asyncio.run(until("the server runs", lambda: bool(servers(tmp_path))))
        bench.send_signal(signal.SIGTERM)
        assert bench.wait(PATIENCE_S) == 128 + signal.SIGTERM
        assert servers(tmp_path) == []
        assert list(tmp_path.glob("fair-registry-bench-*")) == []
    finally:
        bench.kill()
        for server in servers(tmp_path):
            server.kill()


def servers(folder: Path) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in argument for argument in process.info["cmdline"] or ())
    ]
