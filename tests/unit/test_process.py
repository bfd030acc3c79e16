"""A process's memory: what was given back is not cleared by the system again; its log."""

import asyncio
import contextlib
import errno
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from registry.observability import LossyStream
from registry.web import own_sockets
from registry.web.own_sockets import end_unread_connections
from tests.waiting import until

# Arrays that lie at the end of the heap together, and go together; the second round asks
# for what the first gave back.
ROUNDS = """
import resource, sys
from registry.process import keep_freed_memory
if sys.argv[1:]:
    keep_freed_memory(int(sys.argv[1]))
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [bytearray(b"x") * (3 << 20) for _ in range(40)]
    del arrays
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(*saved: str) -> int:
    """How many pages were cleared in the second round."""
    command = [sys.executable, "-c", ROUNDS, *saved]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="another C library than glibc can't be told to keep what is given back",
)
def test_what_was_given_back_is_at_hand() -> None:
    assert faults(str(256 << 20)) < faults() / 4


def test_log_that_nobody_reads_is_dropped_and_holds_up_nothing() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as read, os.fdopen(writer, "w") as stream:
        lossy = LossyStream(stream)
        lossy.write("first\n")
        writing = Thread(
            target=lambda: [lossy.write("x" * 10_000) for _ in range(100)], daemon=True
        )
        writing.start()
        writing.join(60)
        assert not writing.is_alive()
        assert read.readline() == b"first\n"
        read.close()
        lossy.write("nobody is there")


def test_log_on_a_full_disk_is_dropped_and_the_process_ends_well() -> None:
    """Else Python itself would end with code 120, since it can't write the rest."""
    logs = (
        "import structlog\n"
        "from registry.observability import configure_logging\n"
        "from registry.process import release_standard_streams\n"
        "configure_logging('text')\n"
        "structlog.get_logger().warning('x' * 100_000)\n"
        "release_standard_streams()"
    )
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", logs], stdout=full, stderr=full, check=False
        )
    assert ended.returncode == 0


def test_log_of_a_closed_stream_is_dropped() -> None:
    with Path(os.devnull).open("w") as stream:
        lossy = LossyStream(stream)
    lossy.write("late")
    LossyStream(stream).write("later")
    LossyStream(None).write("nowhere")


def test_socket_that_is_closed_during_the_look_hides_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = socket.create_server(("127.0.0.1", 0))
        closed.close()
        monkeypatch.setattr(own_sockets, "own_sockets", lambda: [closed, listener])
        assert own_sockets.limit_unread(400) == 1
        option = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert listener.getsockopt(*option) == 400


async def test_who_reads_nothing_is_cut_off() -> None:
    """The listener comes up only after the application has: so does that of granian."""
    before = socket.create_server(("127.0.0.1", 0))
    setting = asyncio.create_task(end_unread_connections(after_ms=300))
    await asyncio.sleep(0)
    listener = socket.create_server(("127.0.0.1", 0))
    await setting
    with before, listener, socket.create_connection(listener.getsockname()):
        option = (socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        assert listener.getsockopt(*option) == 300
        accepted, _ = listener.accept()
        accepted.setblocking(False)
        with accepted:
            with contextlib.suppress(BlockingIOError):
                while True:
                    accepted.send(bytes(1 << 20))

            async def is_over() -> bool:
                error = accepted.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                return bool(error == errno.ETIMEDOUT)

            await until("its connection to end", is_over)
