"""Logs that nobody takes: the service starts, replaces a killed part and ends as ever."""

import asyncio
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from registry.client import RegistryClient
from tests.faults.service import STOPS_WITHIN_S
from tests.ports import free_port
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow


def publisher_of(process: subprocess.Popen[bytes]) -> psutil.Process | None:
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.Error):
            if "registry.publisher" in child.cmdline():
                return child
    return None


def serve(redirection: str, port: int, data: Path) -> subprocess.Popen[bytes]:
    command = Path(sys.executable).with_name("fair-registry")
    call = [str(command), "serve", "--port", str(port), "--data", str(data)]
    call += ["--crawlers", "0"]  # a part like the others, which takes longest to start
    return subprocess.Popen(
        ["bash", "-c", f'exec "$@" {redirection}', "bash", *call],
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one registry, which each test starts and stops."""
    return tmp_path_factory.mktemp("data")


@pytest.mark.parametrize("redirection", ["2>&-", "> >(head -1) 2>&1"])
async def test_log_that_cannot_be_written_stops_nothing(
    redirection: str, data: Path
) -> None:
    port = free_port()
    process = serve(redirection, port, data)

    def why_it_ended() -> str:
        return "" if process.poll() is None else f"it ended with {process.returncode}"

    try:
        async with RegistryClient(
            f"http://127.0.0.1:{port}", timeout_s=PATIENCE_S
        ) as client:
            await until("it is ready", client.is_ready, broken=why_it_ended)
            killed = publisher_of(process)
            assert killed
            killed.kill()

            def is_replaced() -> bool:
                publisher = publisher_of(process)
                return publisher is not None and publisher.pid != killed.pid

            await until("a publisher runs again", is_replaced, broken=why_it_ended)
            await until("it is ready again", client.is_ready, broken=why_it_ended)
    finally:
        process.terminate()
        await asyncio.to_thread(process.wait, STOPS_WITHIN_S)
    assert process.returncode == 0
