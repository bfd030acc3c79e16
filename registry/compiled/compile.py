"""Compilation of the registry's C; run at installation, or `python -m` this module.

Imports nothing of the project, so that a build can run it before anything is installed.
"""

import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE / "_kernel.shared"
"""Not `.so`: packaging tools would take that for an extension module."""
# No flag that lets a compiler reorder floating-point sums: bounds must stay bounds. errno
# and traps are not used, so roots and comparisons may be vectorised.
_FLAGS = (
    "-std=c11",
    "-O3",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fPIC",
    "-pthread",
    "-shared",
    "-Wall",
    "-Wextra",
)
# Vector instructions that every such machine of the last fifteen years has.
_BASELINES = {"x86_64": "-march=x86-64-v2", "AMD64": "-march=x86-64-v2"}


def digest_of_sources() -> str:
    """Return the SHA-256 of all sources, which the library carries."""
    digest = hashlib.sha256()
    for source in _sources("*.[ch]"):
        digest.update(f"{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()


def compile_kernel() -> bool:
    """Compile the library and tell if it succeeded; prints the reason if not."""
    compiler = _compiler()
    if compiler is None:
        _report("no C compiler here: ranking will use NumPy, about thirty times slower")
        return False
    baseline = _BASELINES.get(platform.machine())
    output = LIBRARY.with_suffix(f".{os.getpid()}")
    command = [
        *compiler,
        *_FLAGS,
        *([baseline] if baseline else []),
        f'-DSOURCES="{digest_of_sources()}"',
        *("-o", str(output), *map(str, _sources("*.c")), "-lm"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 — our own sources
    if run.returncode:
        _report(f"the kernel did not compile, ranking will use NumPy:\n{run.stderr}")
        return False
    output.replace(LIBRARY)  # atomic, also while the old one is in use
    return True


def _sources(names: str) -> list[Path]:
    """List the sources, which each package keeps beside their callers."""
    return sorted(HERE.parent.glob(f"*/csrc/{names}"))


def _compiler() -> list[str] | None:
    if named := shlex.split(os.environ.get("CC", "")):
        return named if shutil.which(named[0]) else None
    path = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    return [path] if path else None


def _report(message: str) -> None:
    sys.stderr.write(f"fair-registry: {message}\n")


if __name__ == "__main__":
    sys.exit(0 if compile_kernel() else 1)
