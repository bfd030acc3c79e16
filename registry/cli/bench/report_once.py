"""One report of the whole window of `bench report`, and what it took: printed as JSON.

`figures` is the digest of all that is told but for the code that told it: it is the same
whether `compiled` or not, and for another version of the code over the same rows.
"""

import asyncio
import json
import resource
import sys
import time
from dataclasses import replace
from hashlib import sha256

import msgspec

from registry.cli.bench.report_window import END, START
from registry.compiled.library import find_library
from registry.db.engine import Role, engine_at
from registry.fairness.report.figures import Algorithm, FairnessReport, Window
from registry.process import calm_collector
from registry.ranking.policy import DEFAULT_POLICY
from registry.usecases.report import make_report


async def _make(url: str) -> FairnessReport:
    window = Window(start_at=START, end_at=END)
    async with (
        engine_at(url, Role.AUDITOR) as engine,
        engine.connect() as connection,
    ):
        return await make_report(connection, window, DEFAULT_POLICY)


def _digest(made: FairnessReport) -> str:
    told = msgspec.json.encode(
        replace(made, algorithm=Algorithm(policy_digest="", code_digest=""))
    )
    code = made.algorithm.code_digest.encode()  # a sentence has it, too
    return sha256(told.replace(code, b"")).hexdigest()


def main(url: str) -> None:
    calm_collector()
    begun, cpu = time.perf_counter(), time.process_time()
    made = asyncio.run(_make(url))
    found = {
        "rankings": made.counts.rankings,
        "seconds": round(time.perf_counter() - begun, 1),
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "cpu_s": round(time.process_time() - cpu, 1),
        "queries": made.counts.queries,
        "sites": made.counts.sites,
        "scored": made.counts.scored,
        "compiled": find_library() is not None,
        "figures": _digest(made),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
