"""The indexer alone over a made-up registry: how long, how much CPU and memory."""

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import dataclass

import psutil

from registry.index.building.manifest import read_manifest
from registry.index.building.taking_up import is_made_here
from registry.index.segments.array_file import FileDamaged
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, as_environment

_PAUSE_S = 0.05
_TIMEOUT_S = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Indexed:
    """What the whole index took; memory in MB at most.

    own_mb: what nobody else has and no file holds. mapped_mb: pages of files besides.
    """

    seconds: float
    cpu_s: float
    own_mb: int
    mapped_mb: int


async def make_index(settings: Settings) -> Indexed | None:
    """Built from the database, unless the folder has one of this code."""
    if _is_there(settings):
        return None
    started, own_mb, mapped_mb = time.perf_counter(), 0, 0
    command = [sys.executable, "-m", "registry.indexer"]
    environment = {**os.environ, **as_environment(settings)}
    indexer = subprocess.Popen(command, env=environment)  # noqa: ASYNC220, S603 — our own
    try:
        process = psutil.Process(indexer.pid)
        async with asyncio.timeout(_TIMEOUT_S):
            while not _is_there(settings):
                own, mapped = memory_mb(process)
                own_mb, mapped_mb = max(own_mb, own), max(mapped_mb, mapped)
                await asyncio.sleep(_PAUSE_S)
        spent = process.cpu_times()
    finally:
        indexer.terminate()
        await asyncio.to_thread(indexer.wait)
    return Indexed(
        seconds=round(time.perf_counter() - started, 1),
        cpu_s=round(spent.user + spent.system, 1),
        own_mb=own_mb,
        mapped_mb=mapped_mb,
    )


def memory_mb(process: psutil.Process) -> tuple[int, int]:
    """Of its own, and of files that it has mapped."""
    told = process.memory_info()
    return (told.rss - told.shared) >> 20, told.shared >> 20


def _is_there(settings: Settings) -> bool:
    try:
        manifest = read_manifest(settings.index)
    except FileDamaged:
        return False
    return manifest is not None and is_made_here(manifest, DEFAULT_POLICY)
