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
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
LIBRARY = HERE / "_kernel.shared"
"""Path of the library; packaging tools would take `.so` for an extension module."""
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
# Vector instructions that every such machine of the last fifteen years has, by names
# that GCC knew before its version 11.
_BASELINES = {"x86_64": ("-mssse3", "-msse4.2", "-mpopcnt")}
GLIBC = "2.17"
"""The oldest C library that a library compiled by zig runs with."""
FAILURE = LIBRARY.with_suffix(".failed")
"""Path of the reason why the last compilation failed: it is shown at every start."""


def digest_of_sources() -> str:
    """Return the SHA-256 of all sources, which the library carries."""
    digest = hashlib.sha256()
    for source in _sources("*.[ch]"):
        digest.update(f"{source.name}\0".encode() + source.read_bytes())
    return digest.hexdigest()


def compile_kernel(machine: str = platform.machine(), output: Path = LIBRARY) -> bool:
    """Compile the library and tell if it succeeded; prints the reason if not.

    machine: as `platform.machine` names it; another than this one needs zig.
    """
    reason, message = _compile(machine, output)
    if reason:
        text = f"{reason}: ranking will use NumPy, much slower\n{message}"
        sys.stderr.write(f"fair-registry: {text}")
    if output == LIBRARY:
        FAILURE.unlink(missing_ok=True)
        if reason:
            error = next((line for line in message.splitlines() if "error" in line), "")
            FAILURE.write_text(": ".join(filter(None, (reason, error))), "utf-8")
    return not reason


def _compile(machine: str, output: Path) -> tuple[str, str]:
    """Return why it failed, or "", and what the compiler says."""
    compiler = _compiler(machine)
    if compiler is None:
        return f"no C compiler for {machine} here", ""
    unfinished = output.with_suffix(f".{os.getpid()}")
    command = [
        *compiler,
        *_FLAGS,
        *_BASELINES.get(machine, ()),
        f'-DSOURCES="{digest_of_sources()}"',
        *("-o", str(unfinished), *map(str, _sources("*.c")), "-lm"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 — our own sources
    if run.returncode:
        return "the kernel did not compile", run.stderr
    unfinished.replace(output)  # atomic, also while the old one is in use
    return "", run.stderr


def _sources(names: str) -> list[Path]:
    """List the sources, which each package keeps beside their callers."""
    return sorted(HERE.parent.glob(f"*/csrc/{names}"))


def _compiler(machine: str) -> list[str] | None:
    if machine == platform.machine():
        if named := shlex.split(os.environ.get("CC", "")):
            return named if shutil.which(named[0]) else None
        path = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
        if path:
            return [path]
    if find_spec("ziglang") is None:
        return None
    target = ["-target", f"{machine}-linux-gnu.{GLIBC}"]
    zig = [sys.executable, "-m", "ziglang", "cc", "-g0"]
    return [*zig, *target] if sys.platform == "linux" else zig


if __name__ == "__main__":
    sys.exit(0 if compile_kernel() else 1)
