"""Running the whole service as child processes that live and end together."""

import asyncio
import ctypes
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import click
import structlog

from registry.process import EXIT_DAMAGED, HEARTBEAT_S, HEARTBEATS
from registry.settings_reader import EXIT_MISCONFIGURED
from registry.web.granian_options import ALLOCATOR, web_arguments

RESTART_PAUSE_S = 1.0
DAMAGED_PAUSE_S = 30.0
STOP_TIMEOUT_S = 10.0
KILL_TIMEOUT_S = 5.0
STALL_S = 30.0
"""Silence after which a part counts as hung; none blocks its event loop nearly as long."""
START_S = 120.0
"""Silence before the first heartbeat, or of all processes of a part: imports on a machine
that is full."""
PR_SET_PDEATHSIG = 1  # linux/prctl.h
STANDARD_ERROR = 2  # what parts say is news; the result of a command is its own output

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Part:
    """A process of the service. arguments: of this Python, as after `python`.

    It, or each process that it starts, shows by `registry.process.beat` that it lives.
    """

    name: str
    arguments: Sequence[str]


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
        pause_s = 0.0
        while not self._stopping:
            with _named_pipe() as (pipe, heartbeats):
                process = await self._start(part, pipe)
                code = await _until_ended(part, process, heartbeats)
            # A part that was killed leaves workers that would go on listening.
            _end_group(process.pid)
            if code == EXIT_MISCONFIGURED:
                raise CannotGoOn(f"the {part.name} can't run with these settings")
            if not self._stopping:
                logger.warning("part_ended", part=part.name, exit_code=code)
                pause_s = pause_after(code, pause_s)
                await asyncio.sleep(pause_s)

    async def _start(self, part: Part, pipe: Path) -> asyncio.subprocess.Process:
        """Raises: CannotGoOn."""
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *part.arguments,
                stdout=STANDARD_ERROR,
                env={**ALLOCATOR, **self._environment, HEARTBEATS: str(pipe)},
                preexec_fn=end_with_parent if sys.platform == "linux" else None,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotGoOn(f"the {part.name} can't be started: {error}") from error
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


def pause_after(code: int, before_s: float) -> float:
    """Return the seconds until a part starts again. before_s: the pause before this run.

    Starts that find a log damaged, until somebody mends it, come ever more seldom.
    """
    if code != EXIT_DAMAGED:
        return RESTART_PAUSE_S
    return min(max(2 * before_s, RESTART_PAUSE_S), DAMAGED_PAUSE_S)


@contextmanager
def _named_pipe() -> Iterator[tuple[Path, int]]:
    """Give the path of a pipe and its open end for reading."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-") as folder:
        pipe = Path(folder) / "heartbeats"
        os.mkfifo(pipe, mode=0o600)
        end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            yield pipe, end
        finally:
            os.close(end)


async def _until_ended(
    part: Part, process: asyncio.subprocess.Process, heartbeats: int
) -> int:
    """Return the exit code of the part; of its processes those that hang are killed."""
    deadlines = {process.pid: time.monotonic() + START_S}
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_S):
                return await process.wait()
        now = time.monotonic()
        if beating := _pids_in(heartbeats):
            deadlines[process.pid] = now + START_S
            deadlines |= dict.fromkeys(beating, now + STALL_S)
        for pid in [pid for pid in deadlines if deadlines[pid] < now]:
            del deadlines[pid]
            _kill_member(part, pid, process.pid)


def _pids_in(heartbeats: int) -> set[int]:
    """Return the processes that beat since the last look."""
    try:
        lines = os.read(heartbeats, 1 << 16).split(b"\n")
    except BlockingIOError:
        return set()
    # The pipe holds less than is read, and each line is written at once.
    return {int(line) for line in lines if line.isdigit()}


def _kill_member(part: Part, pid: int, leader: int) -> None:
    """Kill a process of the part's group that hangs; one that has ended is silent too."""
    with suppress(ProcessLookupError):
        if os.getpgid(pid) == leader:
            logger.error("part_hangs", part=part.name, pid=pid)
            os.kill(pid, signal.SIGKILL)


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
    return [
        Part("indexer", ["-m", "registry.indexer"]),
        Part("web", web_arguments(host, port, workers)),
        *(Part(f"crawler-{n}", ["-m", "crawler"]) for n in range(1, crawlers + 1)),
        Part("publisher", ["-m", "registry.publisher"]),
        Part("reporter", ["-m", "registry.reporter"]),
        *([Part("witnesses", ["-m", "crawler.witnesses"])] if witnessed else []),
    ]
