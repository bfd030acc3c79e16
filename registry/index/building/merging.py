"""A merge of large levels, in a process of its own: `python -m` this module.

It maps the levels as they lie in the index folder, writes there the one that is made of them,
and ends. So nothing of it is in the way of changes, and its memory goes with it. Its job
comes as a line on its standard input, which stays open: a builder that dies takes it
along, and what it wrote is named by nobody then.
"""

import os
import subprocess
import sys
import threading
from pathlib import Path

# More threads of BLAS would spin beside serving, at the priority of the process.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import msgspec

from registry.index.building.builder import Merge
from registry.index.building.manifest import IndexManifest
from registry.index.building.recovery import levels_in
from registry.index.segments.array_file import write_file
from registry.index.segments.segment_file import row_arrays, segment_arrays
from registry.ranking.policy import Policy

NICENESS = 15
MERGE_TIMEOUT_S = 3_600.0
_NAME = "registry.index.building.merging"


class MergeFiles(msgspec.Struct, frozen=True):
    """Names of files. members: there is none where all rows are on the panel."""

    segment: str
    rows: str
    members: str


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """levels: an index of nothing but these, as they lie in files."""

    folder: str
    policy: Policy
    levels: IndexManifest
    files: MergeFiles


def merge_apart(job: Job) -> None:
    """Merge in a process of its own; once it returns, the files are there.

    Raises: OSError, also where the process was killed, or had no room or memory.
    """
    reading, writing = os.pipe()
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(msgspec.json.encode(job) + b"\n")
            pipe.flush()
            run = subprocess.run(  # noqa: S603 — this Python
                [sys.executable, "-m", _NAME],
                stdin=reading,
                stderr=subprocess.PIPE,
                check=False,
                timeout=MERGE_TIMEOUT_S,
            )
    except subprocess.TimeoutExpired as expired:
        raise OSError("a merge did not end in an hour") from expired
    finally:
        os.close(reading)
    if run.returncode:
        last = run.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise OSError(f"a merge ended with {run.returncode}: {last}")


def main() -> None:
    os.nice(max(0, NICENESS - os.nice(0)))
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=Job)
    threading.Thread(target=_end_with_builder, daemon=True).start()
    make(job)


def _end_with_builder() -> None:
    # Not through a buffer, whose lock the interpreter wants when it ends.
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)


def make(job: Job) -> None:
    """Raises: FileDamaged, OSError, MemoryError."""
    folder = Path(job.folder)
    level = Merge(levels_in(folder, job.levels, job.policy), job.policy).merged()
    if members := level.members:
        bodies = members.rows.bodies.runs
        write_file(
            folder / job.files.members, segment_arrays(members.part.segment, bodies)
        )
    write_file(folder / job.files.rows, row_arrays(level.rows))
    bodies = level.rows.bodies.runs
    write_file(folder / job.files.segment, segment_arrays(level.part.segment, bodies))


if __name__ == "__main__":
    main()
