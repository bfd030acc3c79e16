"""Running the whole service as child processes that live and end together."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import structlog

RESTART_PAUSE_S = 1.0
STOP_TIMEOUT_S = 10.0
PR_SET_PDEATHSIG = 1  # linux/prctl.h
STANDARD_ERROR = 2  # what parts say is news; the result of a command is its own output

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the service. arguments: of this Python, as after `python`."""

    name: str
    arguments: Sequence[str]


class Supervisor:
    """Starts the parts, starts again what ends by itself, and stops all of them."""

    def __init__(self, parts: Sequence[Part], environment: Mapping[str, str]) -> None:
        self._parts = parts
        self._environment = {**os.environ, **environment}
        self._running: dict[str, asyncio.subprocess.Process] = {}
        self._stopping = False

    async def run(self) -> None:
        """Until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for part in self._parts:
                    group.create_task(self._keep_running(part))
        finally:
            await self._stop()

    async def _keep_running(self, part: Part) -> None:
        while not self._stopping:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *part.arguments,
                stdout=STANDARD_ERROR,
                env=self._environment,
                preexec_fn=end_with_parent if sys.platform == "linux" else None,
                start_new_session=True,
            )
            self._running[part.name] = process
            code = await process.wait()
            # A part that was killed leaves workers that would go on listening.
            _end_group(process.pid)
            if not self._stopping:
                logger.warning("part_ended", part=part.name, exit_code=code)
                await asyncio.sleep(RESTART_PAUSE_S)

    async def _stop(self) -> None:
        self._stopping = True
        alive = [one for one in self._running.values() if one.returncode is None]
        for process in alive:
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await asyncio.gather(*(process.wait() for process in alive))
        for process in alive:
            _end_group(process.pid)
        await asyncio.gather(*(process.wait() for process in alive))


def _end_group(leader: int) -> None:
    """Kill whatever is left of the process group that the part led."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def end_with_parent() -> None:
    """In a child: a kill -9 of its parent must not leave it at work."""
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
        "registry.app:create_app_from_environment",
    ]
    return [
        Part("indexer", ["-m", "registry.indexer"]),
        Part("web", web),
        *(Part(f"crawler-{n}", ["-m", "crawler"]) for n in range(1, crawlers + 1)),
        Part("publisher", ["-m", "registry.publisher"]),
        Part("reporter", ["-m", "registry.reporter"]),
        *([Part("witnesses", ["-m", "crawler.witnesses"])] if witnessed else []),
    ]
