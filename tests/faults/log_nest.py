"""A process that has read all that the log's writers read, and forks them.

To import everything takes a second, which a test that starts forty of them does not
have. A publisher is `registry.publisher.main`; a writer is the recorder of the web
processes under sixteen callers, who tell of each record that was acknowledged.

Each line of standard input is one order, a JSON object; the answer is the pid.
"""

import asyncio
import json
import os
import signal
import sys
from contextlib import suppress
from typing import Any

from typing_extensions import override

from registry import publisher
from registry.db.engine import Role, open_engine
from registry.db.rankings import CountingWriter, RankingWriter
from registry.errors import Unavailable
from registry.usecases.chance import Chance
from registry.usecases.record_rankings import RankingRecorder, _Waiting
from tests.db.rankings import make_ranking, numbered

CALLERS = 16
RETRY_PAUSE_S = 0.02


class EarlyRecorder(RankingRecorder):
    """Broken on purpose: it acknowledges before it writes."""

    @override
    async def _write(self, writer: RankingWriter, batch: list[_Waiting]) -> None:
        for one in batch:
            if not one.durable.done():
                one.durable.set_result(None)
        await asyncio.sleep(0.005)
        await super()._write(writer, batch)


def main() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the killed
    pids = []
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            hatch(json.loads(line))
        pids.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def hatch(order: dict[str, Any]) -> None:
    """Never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    sys.stdin.close()
    os.dup2(2, 1)  # the answers to orders are the nest's alone
    os.environ.update(order["environment"])
    try:
        if order["what"] == "publisher":
            publisher.main()
        else:
            asyncio.run(write(order))
    finally:
        os._exit(0)


async def write(order: dict[str, Any]) -> None:
    """Until killed. Of each acknowledged record a line: caller and leaf hash.

    Every other caller asks as the operator, if there is one.
    """
    engine = open_engine(order["url"], Role.API, pool=2)
    kind = EarlyRecorder if order["early"] else RankingRecorder
    recorder, counting = kind(engine), RankingRecorder(engine, kind=CountingWriter)
    told = os.open(order["told"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def call(number: int) -> None:
        while True:
            operator = order["operator"] if number % 2 else None
            one = make_ranking(Chance(), operator=operator)
            try:
                count = await (counting if operator else recorder).record(one.on_record)
            except Unavailable:
                await asyncio.sleep(RETRY_PAUSE_S)
                continue
            leaf = (numbered(one, count) if count else one.record).leaf_hash.hex()
            os.write(told, f"{os.getpid()}.{number} {leaf}\n".encode())

    running = (recorder.run(), counting.run())
    await asyncio.gather(*running, *(call(number) for number in range(CALLERS)))


if __name__ == "__main__":
    main()
