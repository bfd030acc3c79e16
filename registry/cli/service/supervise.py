"""Running the whole service as child processes that live and end together."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import click
import structlog

from registry.process import HEARTBEAT_PIPE, HEARTBEAT_S
from registry.settings_reader import EXIT_MISCONFIGURED

RESTART_PAUSE_S = 1.0
STOP_TIMEOUT_S = 10.0
KILL_TIMEOUT_S = 5.0
STALL_S = 30.0
"""Silence after which a part counts as hung; none blocks its event loop nearly as long."""
START_S = 120.0
"""Silence before the first heartbeat: imports on a machine that is full."""
PR_SET_PDEATHSIG = 1  # linux/prctl.h
STANDARD_ERROR = 2  # what parts say is news; the result of a command is its own output
CONNECTIONS = 16_384
"""Connections a web process holds at once: to granian each counts, one that is idle too."""
HEAD_TIMEOUT_MS = 5_000
"""Time for the head of a request; a connection that is quiet for so long is closed."""

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the service. arguments: of this Python, as after `python`.

    beats: shows that it lives, by `registry.process`.
    """

    name: str
    arguments: Sequence[str]
    beats: bool = True


class CannotGoOn(click.ClickException):
    """A part can not run, and to start it again would not help."""


class Supervisor:
    """Starts the parts, starts again what ends by itself, and stops all of them."""

    def __init__(self, parts: Sequence[Part], environment: Mapping[str, str]) -> None:
        self._parts = parts
        self._environment = {**os.environ, **environment}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = False

    async def run(self) -> None:
        """Run all parts until cancelled. Raises: ExceptionGroup of CannotGoOn."""
        try:
            async with asyncio.TaskGroup() as group:
                for part in self._parts:
                    group.create_task(self._keep_running(part))
        finally:
            await self._stop()

    async def _keep_running(self, part: Part) -> None:
        """Raises: CannotGoOn."""
        while not self._stopping:
            heartbeats, pipe = os.pipe()
            os.set_blocking(heartbeats, False)
            try:
                process = await self._start(part, pipe)
                code = await _until_ended(part, process, heartbeats)
            finally:
                os.close(heartbeats)
            # A part that was killed leaves workers that would go on listening.
            _end_group(process.pid)
            if code == EXIT_MISCONFIGURED:
                raise CannotGoOn(f"the {part.name} can't run with these settings")
            if not self._stopping:
                logger.warning("part_ended", part=part.name, exit_code=code)
                await asyncio.sleep(RESTART_PAUSE_S)

    async def _start(self, part: Part, pipe: int) -> asyncio.subprocess.Process:
        """Start the part; it alone keeps the pipe. Raises: CannotGoOn."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *part.arguments,
                stdout=STANDARD_ERROR,
                env={**self._environment, HEARTBEAT_PIPE: str(pipe)},
                pass_fds=(pipe,),
                preexec_fn=end_with_parent if sys.platform == "linux" else None,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotGoOn(f"the {part.name} can't be started: {error}") from error
        finally:
            os.close(pipe)
        self._running[part.name] = process
        return process

    async def _stop(self) -> None:
        self._stopping = True
        alive = [
            process for process in self._running.values() if process.returncode is None
        ]
        for process in alive:
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await asyncio.gather(*(process.wait() for process in alive))
        for process in alive:
            _end_group(process.pid)
        with suppress(TimeoutError):
            async with asyncio.timeout(KILL_TIMEOUT_S):
                await asyncio.gather(*(process.wait() for process in alive))


async def _until_ended(
    part: Part, process: asyncio.subprocess.Process, heartbeats: int
) -> int:
    """Return the exit code of the part, which is killed once it hangs."""
    last_beat, patience_s = time.monotonic(), START_S
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S):
                return await process.wait()
        if not part.beats or _read_all(heartbeats):
            last_beat, patience_s = time.monotonic(), STALL_S
        elif time.monotonic() - last_beat > patience_s:
            logger.error("part_hangs", part=part.name, silent_s=patience_s)
            _end_group(process.pid)


def _read_all(pipe: int) -> bytes:
    """Return what waits in the pipe, b"" if nothing does."""
    try:
        return os.read(pipe, 1 << 16)
    except BlockingIOError:
        return b""


def _end_group(leader: int) -> None:
    """Kill whatever is left of the process group that the part led."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def end_with_parent() -> None:
    """End this child with its parent: a kill -9 must not leave it at work."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def parts_of_service(
    host: str, port: int, workers: int, *, crawlers: int = 1, witnessed: bool = False
) -> list[Part]:
    web = [
        *("-m", "granian", "--interface", "asgi", "--factory"),
        *("--host", host, "--port", str(port), "--workers", str(workers)),
        *("--no-ws", "--loop", "asyncio", "--log-level", "warning"),
        *("--respawn-failed-workers", "--respawn-interval", "0.2"),
        *("--workers-kill-timeout", "5"),
        *("--backpressure", str(CONNECTIONS), "--backlog", str(CONNECTIONS)),
        *("--http1-header-read-timeout", str(HEAD_TIMEOUT_MS)),
        "registry.app:create_app_from_environment",
    ]
    return [
        Part("indexer", ["-m", "registry.indexer"]),
        Part("web", web, beats=False),
        *(Part(f"crawler-{n}", ["-m", "crawler"]) for n in range(1, crawlers + 1)),
        Part("publisher", ["-m", "registry.publisher"]),
        Part("reporter", ["-m", "registry.reporter"]),
        *([Part("witnesses", ["-m", "crawler.witnesses"])] if witnessed else []),
    ]
