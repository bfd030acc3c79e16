"""A recorder that is wrong, so that the harness shows that it would notice."""

import asyncio

from typing_extensions import override

from registry.db.log.rankings import RankingWriter
from registry.usecases.search.record_rankings import RankingRecorder, _Waiting

PAUSE_S = 0.005


class EarlyRecorder(RankingRecorder):
    """Broken on purpose: it acknowledges before it writes."""

    @override
    async def _write(self, writer: RankingWriter, batch: list[_Waiting]) -> None:
        for item in batch:
            if not item.durable.done():
                item.durable.set_result(None)
        await asyncio.sleep(PAUSE_S)
        await super()._write(writer, batch)
