"""Folders, servers and processes of one measurement, all gone when it ends."""

import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, ParamSpec, TypeVar

import psutil

from registry.db.engine.embedded import DATABASE, EmbeddedPostgres, start_embedded

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def exit_on_sigterm() -> None:
    """Make SIGTERM unwind the stack, so that servers and processes are ended."""
    signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one must not break off the ending
    raise SystemExit(128 + number)


@contextmanager
def scratch_folder(folder_to_keep: Path | None = None) -> Iterator[Path]:
    """Yield the folder to keep, or one that is removed afterwards."""
    if folder_to_keep is not None:
        yield folder_to_keep
        return
    folder = Path(tempfile.mkdtemp(prefix="fair-registry-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch_postgres(
    folder: Path, database: str = DATABASE
) -> Iterator[EmbeddedPostgres]:
    """Run a server on this folder, with an empty database."""
    server = start_embedded(folder)
    try:
        server.create_database(database)
        yield server
    finally:
        server.close()


def database_url(server: EmbeddedPostgres) -> str:
    return server.url().render_as_string(hide_password=False)


def in_process(
    function: Callable[Arguments, Result],
    *arguments: Arguments.args,
    **options: Arguments.kwargs,
) -> Result:
    """Call the function in a new process, whose CPU time and memory are its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(function, *arguments, **options).result()
        except BaseException:
            for process in active_children():
                process.terminate()
            raise


def postgres_cpu_s(server: EmbeddedPostgres) -> float:
    """Return the CPU seconds of PostgreSQL so far, closed connections included."""
    postmaster = psutil.Process(server.pid)
    spent_s = 0.0
    for process in (postmaster, *postmaster.children()):
        with suppress(psutil.NoSuchProcess):  # a connection was closed meanwhile
            spent_s += _spent_s(process.cpu_times())
    return spent_s


def _spent_s(times: Any) -> float:
    spent: float = (
        times.user + times.system + times.children_user + times.children_system
    )
    return spent
