"""The embedded PostgreSQL: a real server from a wheel, on a Unix socket.

The first process that opens a data folder starts the server, the last one that closes
it stops it; after a kill -9, of us or of the server, the next start takes up whatever is
there. The server lets in whom the operating system says: the user who started it, and
root (peer authentication); its socket lies in a folder that nobody else can enter.
"""

import fcntl
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from sqlalchemy.engine import URL

from registry.db.engine import bundled_postgres
from registry.db.engine.bundled_postgres import StartFailed
from registry.db.engine.cluster import (
    OWNER,
    cause_of_end,
    create_cluster,
    disown,
    is_running,
    pid_of,
    status_of,
)
from registry.db.engine.engines import ROLES_LOG_IN
from registry.db.engine.private_files import give_to, is_private, locked, open_private

DATABASE = "fair_registry"
START_TIMEOUT_S = 120.0  # after a crash the server first replays what was written
STOP_TIMEOUT_S = 60.0
RETRY_PAUSE_S = 0.2
MAX_SOCKET_PATH = 107  # unix(7)

_SOCKET = ".s.PGSQL.5432"
_LEFT_BEHIND = "still in use"
"""Part of the server's complaint while children of a killed server have not ended yet."""


# Terse: the details of an error are whole rows, with secrets and what people asked.
_OPTIONS = "-c unix_socket_permissions=0700 -c log_error_verbosity=terse"


class EmbeddedPostgres:
    """A running server and the address of the registry's database in it.

    folder: of the data, whose `postgres` holds the database.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "postgres"
        self._starting = folder / ".postgres.starting"
        self._users: IO[bytes] | None = None
        self._sockets: Path | None = None

    def url(self, database: str = DATABASE) -> URL:
        return URL.create(
            "postgresql",
            username=OWNER,
            database=database,
            query={"host": str(self._sockets), **ROLES_LOG_IN},
        )

    def create_database(
        self, name: str = DATABASE, template: str = "template1"
    ) -> None:
        """Make the database unless it is there. name, template: plain identifiers.

        Raises: StartFailed.
        """
        present = self._psql(
            f"SELECT 1 FROM pg_database WHERE datname = '{name}'"  # noqa: S608 — our own constants; identifiers can't be bound
        )
        if not present:
            self._psql(f"CREATE DATABASE {name} TEMPLATE {template}")

    def _psql(self, statement: str) -> str:
        """Return the output. Raises: StartFailed."""
        done = subprocess.run(  # noqa: S603 — constants
            [
                bundled_postgres.programs() / "psql",
                *("--host", str(self._sockets), "--username", OWNER),
                *("--no-psqlrc", "--tuples-only", "--no-align", "--no-password"),
                *("--dbname", "postgres", "--command", statement),
            ],
            check=False,
            capture_output=True,
            text=True,
            timeout=START_TIMEOUT_S,
        )
        if done.returncode:
            raise StartFailed(done.stderr.strip())
        return done.stdout.strip()

    @property
    def pid(self) -> int:
        return pid_of(self._folder)

    def is_running(self) -> bool:
        return is_running(self._folder)

    def start(self) -> None:
        """Start the server, also once it has died; at the same address.

        Raises: StartFailed.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        with locked(self._starting):
            create_cluster(self._folder)
            while not (self.is_running() and status_of(self._folder)[7:] == ["ready"]):
                if time.monotonic() > deadline:
                    raise StartFailed(f"not ready in time; its log: {self._log}")
                if self.is_running() or not self._launch(deadline):
                    time.sleep(RETRY_PAUSE_S)
            self._sockets = Path(status_of(self._folder)[4])
            if self._users is None:
                self._users = open_private(self._folder.with_name(".postgres.users"))
                fcntl.flock(self._users, fcntl.LOCK_SH)

    def close(self) -> None:
        """Stop the server unless another process uses it."""
        if self._users is None:
            return
        with locked(self._starting), self._users, suppress(BlockingIOError):
            fcntl.flock(self._users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._stop()
        self._users = None

    @property
    def _log(self) -> Path:
        return self._folder / "log"

    def _launch(self, deadline: float) -> bool:
        """Return whether it runs; else children of a killed server have yet to end.

        Raises: StartFailed.
        """
        sockets = self._socket_folder()
        disown(self._folder)
        logged = self._log.stat().st_size if self._log.exists() else 0
        options = f"-h '' -k {shlex.quote(_quoted(sockets))} {_OPTIONS}"
        seconds = max(1, int(deadline - time.monotonic()))
        answer = self._pg_ctl(
            *("start", "--wait", "--timeout", str(seconds)),
            *("--log", str(self._log), "--options", options),
            timeout_s=seconds + 10,
        )
        if answer.returncode and not self.is_running():
            cause = cause_of_end(self._log, logged) or answer.stderr.strip()
            if _LEFT_BEHIND not in cause:
                raise StartFailed(f"{cause}; its log: {self._log}")
            return False
        return True

    def _pg_ctl(
        self, *arguments: str, timeout_s: float
    ) -> subprocess.CompletedProcess[str]:
        """Raises: StartFailed."""
        return bundled_postgres.run(
            *("pg_ctl", "--pgdata", str(self._folder), *arguments),
            account=bundled_postgres.account_for(self._folder),
            cluster=self._folder,
            timeout_s=timeout_s,
        )

    def _socket_folder(self) -> Path:
        """Return where the socket is to lie: in the cluster, whose path may be too long.

        Then in a folder of its own, the same as before where that is still ours.
        """
        if len(os.fsencode(self._folder / _SOCKET)) <= MAX_SOCKET_PATH:
            return self._folder
        former = self._sockets or Path((status_of(self._folder)[4:5] or ["/"])[0])
        account = bundled_postgres.account_for(self._folder)
        if is_private(former, account.pw_uid):
            return former
        sockets = Path(tempfile.mkdtemp(prefix="fair-registry-"))
        give_to(sockets, account)
        return sockets

    def _stop(self) -> None:
        for mode in ("fast", "immediate"):
            if not self.is_running():
                break
            with suppress(StartFailed):
                self._pg_ctl(
                    *("stop", "--mode", mode, "--timeout", str(int(STOP_TIMEOUT_S))),
                    timeout_s=STOP_TIMEOUT_S + 10,
                )
        account = bundled_postgres.account_for(self._folder)
        sockets = self._sockets or self._folder
        if sockets != self._folder and is_private(sockets, account.pw_uid):
            shutil.rmtree(sockets, ignore_errors=True)


def start_embedded(folder: Path) -> EmbeddedPostgres:
    """Start the server of this data folder, or join the running one.

    Raises: StartFailed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    server = EmbeddedPostgres(folder.resolve())
    server.start()
    return server


def _quoted(folder: Path) -> str:
    """Return the folder as PostgreSQL's list of socket folders wants it."""
    doubled = str(folder).replace('"', '""')
    return f'"{doubled}"'
