"""A process's memory: what was given back is not cleared by the system again."""

import platform
import subprocess
import sys

import pytest

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


def faults(*kept: str) -> int:
    """How many pages were cleared in the second round."""
    command = [sys.executable, "-c", ROUNDS, *kept]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc",
    reason="another C library than glibc can't be told to keep what is given back",
)
def test_what_was_given_back_is_at_hand() -> None:
    assert faults(str(256 << 20)) < faults() / 4
