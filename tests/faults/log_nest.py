"""A nest of what writes the log.

A publisher is `registry.publisher.main`; a writer is the recorder of the web processes
under sixteen callers, who tell of each record that was acknowledged.
"""

import asyncio
import os
from typing import Any

from registry import publisher
from registry.db.engine.engines import Role, open_engine
from registry.db.log.rankings import CountingWriter
from registry.errors import Unavailable
from registry.usecases.ids import IdSource
from registry.usecases.search.record_rankings import RankingRecorder
from tests.db.rankings import make_ranking, numbered
from tests.faults.early_recorder import EarlyRecorder
from tests.faults.nest import fork_on_order

CALLERS = 16
RETRY_PAUSE_S = 0.02


def live(order: dict[str, Any]) -> None:
    if order["what"] == "publisher":
        publisher.main()
    else:
        asyncio.run(write(order))


async def write(order: dict[str, Any]) -> None:
    """Until killed. Of each acknowledged record a line: caller and leaf hash.

    Every other caller asks as the operator, if there is one.
    """
    engine = open_engine(order["url"], Role.API, pool=2)
    kind = EarlyRecorder if order["early"] else RankingRecorder
    recorder, counting = kind(engine), RankingRecorder(engine, kind=CountingWriter)
    acknowledged = os.open(order["told"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def call(number: int) -> None:
        while True:
            operator = order["operator"] if number % 2 else None
            ranking = make_ranking(IdSource(), operator=operator)
            try:
                count = await (counting if operator else recorder).record(
                    ranking.on_record
                )
            except Unavailable:
                await asyncio.sleep(RETRY_PAUSE_S)
                continue
            leaf = (
                numbered(ranking, count) if count else ranking.record
            ).leaf_hash.hex()
            os.write(acknowledged, f"{os.getpid()}.{number} {leaf}\n".encode())

    running = (recorder.run(), counting.run())
    await asyncio.gather(*running, *(call(number) for number in range(CALLERS)))


if __name__ == "__main__":
    fork_on_order(live)
