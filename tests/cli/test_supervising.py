"""The supervisor: a part that ends or hangs is replaced, one that can't run ends all."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from registry.cli.service import supervise
from registry.cli.service.serve import beside
from registry.cli.service.supervise import CannotGoOn, Part, Supervisor, pause_after
from registry.process import EXIT_DAMAGED
from registry.settings_reader import EXIT_MISCONFIGURED
from registry.web.granian_options import HEAD_TIMEOUT_MS
from tests.waiting import until

STALL_S = 8.0  # a machine that is full keeps who lives waiting for a while, too
LIVES = """
import asyncio, os, sys
from registry.process import run_until_stopped
async def live():
    with open(sys.argv[1], "a") as file:
        print(os.getpid(), file=file, flush=True)
    await asyncio.Event().wait()
run_until_stopped(live())
"""

MASTER = """
import os, subprocess, sys
children = [subprocess.Popen([sys.executable, "-c", *sys.argv[1:]]) for _ in range(2)]
os.wait()
children.append(subprocess.Popen(children[0].args))
os.wait()
"""


@asynccontextmanager
async def supervised(*parts: Part) -> AsyncIterator[None]:
    async with beside([Supervisor(parts, {}).run()]):
        yield


def living(folder: Path) -> Part:
    return Part("living", ["-c", LIVES, str(folder / "pids")])


def pids_of(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


async def test_part_that_hangs_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "STALL_S", STALL_S)
    async with supervised(living(tmp_path)):
        await until("it runs", lambda: len(pids_of(tmp_path)) == 1)
        await asyncio.sleep(STALL_S + 2)
        assert len(pids_of(tmp_path)) == 1, "who shows that it lives is let alone"
        os.kill(pids_of(tmp_path)[0], signal.SIGSTOP)
        await until("another runs in its stead", lambda: len(pids_of(tmp_path)) >= 2)


async def test_of_several_processes_of_a_part_the_one_that_hangs_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "STALL_S", STALL_S)
    command = ["-c", MASTER, LIVES, str(tmp_path / "pids")]
    async with supervised(Part("several", command)):
        await until("both run", lambda: len(pids_of(tmp_path)) == 2)
        hanging, working = pids_of(tmp_path)
        os.kill(hanging, signal.SIGSTOP)
        await until("another runs in its stead", lambda: len(pids_of(tmp_path)) >= 3)
        os.kill(working, 0)


async def test_part_that_settings_keep_from_working_ends_the_service() -> None:
    leaving = Part("leaving", ["-c", f"raise SystemExit({EXIT_MISCONFIGURED})"])
    with pytest.raises(CannotGoOn, match="the leaving can't run"):
        async with supervised(leaving):
            await asyncio.Event().wait()


async def test_part_that_cannot_be_started_ends_the_service(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "executable", "/absent")
    with pytest.raises(CannotGoOn, match="can't be started"):
        async with supervised(Part("absent", [])):
            await asyncio.Event().wait()


async def test_what_ends_the_block_ends_the_works(tmp_path: Path) -> None:
    async def fail() -> None:
        async with supervised(living(tmp_path)):
            await until("it runs", lambda: len(pids_of(tmp_path)) == 1)
            raise LookupError

    with pytest.raises(LookupError):
        await fail()
    with pytest.raises(ProcessLookupError):
        os.kill(pids_of(tmp_path)[0], 0)


@pytest.mark.parametrize("own", [None, "narenas:4"])
async def test_parts_give_memory_back_unless_the_environment_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    """Without it a flood of pings closes the bridge for good (ADR 0296)."""
    name, file = "_RJEM_MALLOC_CONF", tmp_path / "environment"
    monkeypatch.delenv(name, raising=False)
    if own:
        monkeypatch.setenv(name, own)
    script = f"import os; open({str(file)!r}, 'w').write(os.environ[{name!r}] + ';')"
    async with supervised(Part("writing", ["-c", script])):
        await until("it has written", lambda: file.exists() and ";" in file.read_text())
    assert file.read_text().startswith(own or "background_thread:true")


def test_clients_close_an_idle_connection_before_the_server_does() -> None:
    kept_by_aiohttp_s = 15
    kept_s = max(kept_by_aiohttp_s, httpx.Limits().keepalive_expiry or 0)
    assert kept_s + 5 <= HEAD_TIMEOUT_MS / 1_000


def test_who_finds_a_log_damaged_is_started_ever_more_seldom() -> None:
    pauses = [0.0]
    for _ in range(8):
        pauses.append(pause_after(EXIT_DAMAGED, pauses[-1]))
    assert pauses[1:] == [1, 2, 4, 8, 16, 30, 30, 30]
    assert pause_after(-9, pauses[-1]) == 1, "who was killed comes back at once"


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN])
async def test_the_end_of_a_terminal_stops_it_unless_nohup_started_it(
    tmp_path: Path, before: signal.Handlers
) -> None:
    """Else the embedded database would run on, without anybody."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *living(tmp_path).arguments),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, before),
    )
    await until("it runs", lambda: len(pids_of(tmp_path)) == 1)
    is_ignored = signal.SIGHUP in signals_ignored_by(process.pid)
    process.send_signal(signal.SIGTERM if is_ignored else signal.SIGHUP)
    assert await process.wait() == 0
    assert is_ignored == (before is signal.SIG_IGN)


def signals_ignored_by(pid: int) -> set[int]:
    status = Path(f"/proc/{pid}/status").read_text()
    (mask,) = re.findall(r"SigIgn:\s*([0-9a-f]+)", status)
    return {number for number in range(1, 65) if int(mask, 16) & 1 << number - 1}
