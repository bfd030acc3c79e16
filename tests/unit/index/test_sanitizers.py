"""The C under sanitizers: no access outside of its arrays, nothing undefined."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SANITIZERS = (
    *("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    "-fno-omit-frame-pointer",
)
SUITES = (
    "tests/unit/index/test_inversion.py",
    "tests/unit/index/test_kernel.py",
    "tests/unit/index/test_matching.py",
)
# Half of the seconds, and no call of ours: sanitizers slow NumPy down too.
NUMPY_ALONE = "windows_of_a_topic or no_embedding_means or no_row_has_more_merit"
ROOT = Path(__file__).parents[3]

COMPILE = """
import sys
from pathlib import Path
from registry.compiled import compile
# What is checked is the source: the third level takes three times as long to compile.
compile._FLAGS = ["-O1" if flag == "-O3" else flag for flag in compile._FLAGS]
sys.exit(not compile.compile_kernel(output=Path(sys.argv[1])))
"""
TESTS = """
import sys
from pathlib import Path
import pytest
from registry.compiled import library
library.LIBRARY = Path(sys.argv[1])
assert library.find_library()
sys.exit(pytest.main(sys.argv[2:]))
"""
READS_BEYOND = "int beyond(const int *four) { return four[4]; }"
CALL = """
import ctypes, sys
import numpy as np
four = np.zeros(4, np.int32)
ctypes.CDLL(sys.argv[1]).beyond(ctypes.c_void_p(four.ctypes.data))
"""


@pytest.fixture(scope="module")
def compiler() -> str:
    path = next(filter(None, map(shutil.which, ("gcc", "cc"))), None)
    if path is None or not runtime_of(path).is_absolute():
        reason = "no gcc with sanitizers here: apt-get install gcc libc6-dev"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    return path


def runtime_of(compiler: str) -> Path:
    """Return where the library is that a sanitized program loads first."""
    command = [compiler, "-print-file-name=libasan.so"]
    return Path(subprocess.check_output(command, text=True).strip())


def run(
    compiler: str, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    environment |= {
        "LD_PRELOAD": str(runtime_of(compiler)),
        # Leaks are Python's own; frames of each allocation would double the time.
        "ASAN_OPTIONS": "detect_leaks=0:malloc_context_size=2",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "HYPOTHESIS_PROFILE": "dev",
        "FAIR_REGISTRY_DRAWS": "20",
    }
    return subprocess.run(
        [sys.executable, "-c", *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_sanitizers_would_tell(compiler: str, tmp_path: Path) -> None:
    source, library = tmp_path / "beyond.c", tmp_path / "beyond.so"
    source.write_text(READS_BEYOND)
    flags = [*SANITIZERS, "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(library)], check=True)
    called = run(compiler, CALL, str(library))
    assert called.returncode
    assert "heap-buffer-overflow" in called.stderr


def test_tests_of_the_kernel_are_clean(compiler: str, tmp_path: Path) -> None:
    library = tmp_path / "kernel"
    subprocess.run(
        [sys.executable, "-c", COMPILE, str(library)],
        cwd=ROOT,
        env={**os.environ, "CC": " ".join((compiler, *SANITIZERS))},
        check=True,
    )
    options = ["-q", "-n0", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'of'}"]
    chosen = ["-k", f"not ({NUMPY_ALONE})", *SUITES]
    tested = run(compiler, TESTS, str(library), *options, *chosen)
    assert tested.returncode == 0, (tested.stdout + tested.stderr)[-5_000:]
