"""Buckets that processes share: their arithmetic, their places, and their end."""

import asyncio
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from registry.interfaces.http import bucket_table, limits
from registry.interfaces.http.bucket_table import BucketTable, Quota
from registry.web.granian_options import CONNECTIONS

KEY = b"k" * 32
THREE = Quota(3, 0.5)
SPEND_ALL = """
import sys
from pathlib import Path
from registry.interfaces.http.bucket_table import BucketTable
from registry.interfaces.http.bucket_table import Quota
table = BucketTable(Path(sys.argv[1]), b"k" * 32)
limit = Quota(3000, 1.0)
print(sum(table.take([("a", limit)], 100.0)[0] for _ in range(3000)))
"""


class Taker:
    """A table with a clock that stands still until it is moved."""

    def __init__(self, folder: Path | None = None) -> None:
        self.table = BucketTable(folder, KEY)
        self.now_s = 1_000.0

    def take(self, *names: str, limit: Quota = THREE) -> bool:
        return self.table.take([(name, limit) for name in names], self.now_s)[0]

    def wait_s(self, name: str) -> int:
        taken, [allowance] = self.table.take([(name, THREE)], self.now_s)
        return 0 if taken else allowance.wait_s


@pytest.fixture
def taker() -> Taker:
    return Taker()


def test_a_burst_passes_and_then_no_more(taker: Taker) -> None:
    assert [taker.wait_s("a") for _ in range(4)] == [0, 0, 0, 2]


def test_clients_do_not_share_a_bucket(taker: Taker) -> None:
    for _ in range(4):
        taker.take("a")
    assert taker.take("b")


def test_tokens_come_back_with_time(taker: Taker) -> None:
    for _ in range(3):
        taker.take("a")
    taker.now_s += 1.9
    assert taker.wait_s("a") == 1
    taker.now_s += 0.2
    assert taker.wait_s("a") == 0
    taker.now_s += 10_000
    assert [taker.wait_s("a") for _ in range(4)] == [0, 0, 0, 2]


def test_who_waits_as_long_as_was_said_passes(taker: Taker) -> None:
    for _ in range(3):
        taker.take("a")
    taker.now_s += taker.wait_s("a")
    assert taker.wait_s("a") == 0


def test_two_buckets_are_spent_together_or_not_at_all(taker: Taker) -> None:
    for _ in range(3):
        assert taker.take("wide")
    for _ in range(5):
        assert not taker.take("narrow", "wide")
    assert [taker.take("narrow") for _ in range(4)] == [True, True, True, False]


def test_a_clock_that_begins_anew_locks_nobody_out(tmp_path: Path) -> None:
    before = Taker(tmp_path)
    assert [before.take("a") for _ in range(4)] == [True, True, True, False]
    rebooted = Taker(tmp_path)
    rebooted.now_s = 1.0
    assert rebooted.take("a")


def test_what_one_process_spends_the_other_has_not(tmp_path: Path) -> None:
    item, other = Taker(tmp_path), Taker(tmp_path)
    turns = [taker.take("a") for taker in (item, other, item, other, item, other)]
    assert turns == [True, True, True, False, False, False]


def test_processes_that_spend_at_once_share(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SPEND_ALL, str(tmp_path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    spent = sum(int(process.communicate()[0]) for process in running)
    # Each alone would spend 3,000. A process that waits too long for the lock goes on
    # without, so a few more may pass.
    assert 3_000 <= spent < 4_500


def test_a_process_without_the_lock_sees_no_bucket_half_written(tmp_path: Path) -> None:
    """It would take the bucket for a new one, which is full."""
    command = [sys.executable, "-c", SPEND_ALL, str(tmp_path)]
    table = BucketTable(tmp_path, KEY)
    tag = table.tag("a")
    table.take([("a", Quota(3000, 1.0))], 100.0)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as spending:
        while spending.poll() is None:
            assert table.slot(tag)[1] is not None


def test_a_process_that_stops_while_it_holds_the_lock_stops_nobody(
    tmp_path: Path,
) -> None:
    stopped, other = Taker(tmp_path), Taker(tmp_path)
    assert stopped.table.lock()
    assert [other.take("a") for _ in range(4)] == [True, True, True, False]


def test_strangers_who_crowd_a_set_do_not_make_a_spender_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who came once is forgotten before who has spent all."""
    monkeypatch.setattr(BucketTable, "form", replace(bucket_table.FORMAT, sets=1))
    taker = Taker()
    for _ in range(3):
        taker.take("spender")
    for number in range(1_000):
        assert taker.take(f"passer-by {number}")
    assert not taker.take("spender")


def test_memory_is_bounded_whoever_comes(taker: Taker, tmp_path: Path) -> None:
    shared = Taker(tmp_path)
    size = len(shared.table.memory)
    for number in range(20_000):
        shared.take(str(number))
    file = tmp_path / bucket_table.FORMAT.file_name
    assert file.stat().st_size == size == len(shared.table.memory) < 2 << 20
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_file_names_nobody(tmp_path: Path) -> None:
    Taker(tmp_path).take("192.0.2.77")
    assert b"192.0.2.77" not in (tmp_path / bucket_table.FORMAT.file_name).read_bytes()


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_who_can_not_share_limits_alone(tmp_path: Path, kind: str) -> None:
    file = tmp_path / bucket_table.FORMAT.file_name
    match kind:
        case "file":
            file.write_text("something else")
        case "link":
            file.symlink_to(tmp_path / "elsewhere")
        case "folder":
            file.mkdir()
    taker = Taker(tmp_path)
    assert [taker.take("a") for _ in range(4)] == [True, True, True, False]
    assert kind != "file" or file.read_text() == "something else"


async def test_more_connections_are_refused_no_more_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    waits: list[float] = []
    ended = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        await ended.wait()

    monkeypatch.setattr(limits, "asyncio", SimpleNamespace(sleep=sleep))
    held = limits.Limits(BucketTable(None, KEY))
    refused = [asyncio.create_task(held.hold_up()) for _ in range(1_000)]
    while len(waits) < len(refused):
        await asyncio.wait(refused, timeout=0)
    ended.set()
    await asyncio.gather(*refused)
    assert waits[:60] == [limits.HOLD_UP_S] * 60
    assert waits[-1] == len(refused) / limits.REFUSALS_PER_S
    assert limits.HELD_UP_MAX >= CONNECTIONS
