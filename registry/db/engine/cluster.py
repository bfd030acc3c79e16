"""The folder in which the embedded PostgreSQL keeps its files, and who serves it."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import psutil

from registry.db.engine import bundled_postgres
from registry.db.engine.bundled_postgres import MAJOR, StartFailed
from registry.db.engine.private_files import give_to, replace_file

OWNER = "postgres"
INITDB_TIMEOUT_S = 120.0

_INITDB = (
    *("--username", OWNER, "--auth-local", "peer", "--auth-host", "reject"),
    *("--encoding", "UTF8", "--no-locale"),
    # At PostgreSQL's own 1 GB a change of many sites has checkpoint after checkpoint,
    # each of which logs every page whole again and holds up commits.
    *("--set", "max_wal_size=4GB"),
)
_HBA = (
    "# The registry writes this file at each start.\nlocal all all peer map=registry\n"
)


def create_cluster(cluster: Path) -> None:
    """Make the cluster unless it is there, and let in its users alone.

    Raises: StartFailed.
    """
    account = bundled_postgres.account_for(cluster)
    version = cluster / "PG_VERSION"
    if not version.exists():
        # Renamed once it is whole: a start that is killed leaves no half of one.
        fresh = cluster.with_name("postgres.new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(mode=0o700)
        give_to(fresh, account)
        initdb = bundled_postgres.run(
            *("initdb", "--pgdata", str(fresh), *_INITDB),
            account=account,
            cluster=fresh,
            timeout_s=INITDB_TIMEOUT_S,
        )
        if initdb.returncode:
            raise StartFailed(initdb.stderr.strip())
        fresh.rename(cluster)
    _verify_version(cluster, version.read_text().strip())
    users = sorted({"root", account.pw_name})
    mapped = "".join(f'registry "{name}" all\n' for name in users)
    replace_file(cluster / "pg_hba.conf", _HBA)
    replace_file(cluster / "pg_ident.conf", mapped)


def _verify_version(cluster: Path, version: str) -> None:
    """Raises: StartFailed."""
    if version != str(MAJOR):
        raise StartFailed(
            f"{cluster} was made by PostgreSQL {version}, and this release brings "
            f"{MAJOR}; docs/run.md, section Upgrade, has the way to take it over"
        )


def status_of(cluster: Path) -> list[str]:
    """Return the lines of postmaster.pid, [] without one.

    They are pid, folder, start, port, folder of the socket, address, memory, status.
    """
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []
    return [line.strip() for line in lines]


def pid_of(cluster: Path) -> int:
    """Raises: ValueError without a server."""
    return int((status_of(cluster) or [""])[0])


def is_running(cluster: Path) -> bool:
    """Return whether the process that the cluster names lives and serves it.

    The number may be another process's by now, in a container even regularly; and a
    dead server stays a zombie, without arguments, where no process waits for it.
    """
    try:
        return str(cluster) in psutil.Process(pid_of(cluster)).cmdline()
    except (psutil.NoSuchProcess, ValueError):
        return False


def disown(cluster: Path) -> None:
    """Remove the files that name a process which is no server of this cluster.

    Not where the process is gone: then PostgreSQL itself removes them, once it has made
    sure that no child of the killed server still writes.
    """
    with suppress(ValueError):
        pid = pid_of(cluster)
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        if psutil.pid_exists(pid):
            (cluster / "postmaster.pid").unlink()
            for lock in cluster.glob(".s.PGSQL.*.lock"):
                lock.unlink()


def cause_of_end(log: Path, start: int) -> str:
    """Return the server's own last word of why it does not start, if it logged one."""
    with suppress(FileNotFoundError), log.open("rb") as file:
        file.seek(start)
        lines = file.read().decode(errors="replace").splitlines()
        fatal = [
            i for i, line in enumerate(lines) if "FATAL:" in line or "PANIC:" in line
        ]
        if fatal:
            messages = (line.partition(":  ")[2] for line in lines[fatal[-1] :][:3])
            return "; ".join(filter(None, messages))
    return ""
