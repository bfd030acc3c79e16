"""A process that has read all that its children read, and forks them on order.

To import everything and to read the tables takes seconds, which a test that starts
fifty processes does not have. Each line of the nest's standard input is one order, a
JSON object; the answer is the pid. A child lives until it is killed. One that ends by
itself leaves the reason in a file, which a kill -9 never does.
"""

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import PATIENCE_S, until


class Nest:
    """The test's end of it. folder: of what the children log, and of why they ended."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._log = folder / "nest.log"
        self._ended = folder / "ended"

    @classmethod
    @asynccontextmanager
    async def open(cls, module: str, folder: Path) -> AsyncIterator["Nest"]:
        """module: what runs `fork_on_order`. In the end it and its children are killed."""
        with (folder / "nest.log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", module),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=log,
                cwd=Path(__file__).parents[2],
                start_new_session=True,
            )
        try:
            yield cls(process, folder)
        finally:
            assert process.stdin
            process.stdin.close()
            await process.wait()

    async def hatch(
        self, environment: dict[str, str], **order: object
    ) -> psutil.Process:
        """Raises: AssertionError, TimeoutError."""
        members = {**order, "environment": environment, "ended": str(self._ended)}
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{json.dumps(members)}\n".encode())
        async with asyncio.timeout(PATIENCE_S):
            pid = await self._process.stdout.readline()
        assert pid, f"the nest has ended:\n{self._log.read_text()}"
        return psutil.Process(int(pid))

    async def until(
        self, what: str, holds: Callable[[], bool | Awaitable[bool]]
    ) -> None:
        """As `waiting.until`; a child that has ended by itself breaks it."""
        await until(what, holds, broken=self._why_one_ended)

    def _why_one_ended(self) -> str:
        return self._ended.read_text() if self._ended.exists() else ""


def fork_on_order(live: Callable[[dict[str, Any]], object]) -> None:
    """The nest's own end. Until standard input ends, which ends it and its children."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _hatch(live, json.loads(line))
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    os.killpg(0, signal.SIGKILL)


def _hatch(live: Callable[[dict[str, Any]], object], order: dict[str, Any]) -> None:
    """Never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(2, 1)  # the answers to orders are the nest's alone
    environment = order.pop("environment")
    os.environ.update(environment)
    try:
        live(order)
    finally:
        reason = traceback.format_exc() if sys.exc_info()[0] else "it was through"
        with Path(order["ended"]).open("a") as ended:
            ended.write(f"a process of the nest ended ({order}): {reason}\n")
        os._exit(1)
