"""Compilation: what it needs, what is told where it failed, and wheels to pass on."""

import ctypes
import os
import runpy
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import registry
from registry.compiled.compile import LIBRARY, compile_kernel, digest_of_sources

PACKAGE = Path(registry.__file__).parent
ROOT = PACKAGE.parent
START = """
import sys
from registry import open_services
from registry.ranking.policy import DEFAULT_POLICY
open_services.squared_chords = sys.exit  # what is told is told before tables are read
open_services._ready_ranking(DEFAULT_POLICY)
"""
FAILURES = [
    ("false", "the kernel did not compile"),
    ("no-such-compiler", "no C compiler"),
]
COPYING = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
exec cp '{library}' "$2"
"""
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="no compiler here"
)


def run(
    *arguments: str, folder: Path, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """Copy the package, without the compiled library, to a folder of its own."""
    without = shutil.ignore_patterns("_kernel.*")
    shutil.copytree(PACKAGE, tmp_path / "registry", ignore=without)
    return tmp_path


@pytest.mark.parametrize("named", ["no-such-compiler", "no-such-compiler -m64"])
def test_a_compiler_that_is_not_there_is_told(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd
) -> None:
    monkeypatch.setenv("CC", named)
    before = LIBRARY.stat() if LIBRARY.exists() else None

    assert not compile_kernel(output=tmp_path / "kernel")

    assert "no C compiler" in capfd.readouterr().err
    assert (LIBRARY.stat() if LIBRARY.exists() else None) == before
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
def test_a_failed_compilation_is_reported_at_every_start_until_one_succeeds(
    installation: Path,
) -> None:
    for compiler, reason in FAILURES:
        compiled = compile_by(compiler, installation)
        assert compiled.returncode == 1
        assert reason in compiled.stderr
        starts = 2 if compiler == FAILURES[-1][0] else 1
        for _ in range(starts):
            (warning,) = warnings_of_a_start(installation)
            assert reason in warning
            assert "-m registry.compiled.compile" in warning

    if not LIBRARY.exists():
        pytest.skip("no compiled library here: nothing succeeds")
    copying = installation / "cc"
    copying.write_text(COPYING.format(library=LIBRARY))
    copying.chmod(0o700)
    compiled = compile_by(str(copying), installation)
    assert compiled.returncode == 0, compiled.stderr
    assert warnings_of_a_start(installation) == []


def compile_by(compiler: str, installation: Path) -> subprocess.CompletedProcess[str]:
    arguments = ("-m", "registry.compiled.compile")
    return run(*arguments, folder=installation, CC=compiler)


def warnings_of_a_start(installation: Path) -> list[str]:
    started = run("-c", START, folder=installation)
    assert started.returncode == 0, started.stderr
    lines = (started.stdout + started.stderr).splitlines()
    return [line for line in lines if "ranking_by_numpy" in line]


def build_wheel(to: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    arguments = ("-m", "hatchling", "build", "--target", "wheel", "--directory")
    return run(*arguments, str(to), folder=ROOT, **environment)


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="flags of another machine")
def test_a_wheel_to_pass_on_is_for_every_python_of_its_machine(tmp_path: Path) -> None:
    built = build_wheel(tmp_path, FAIR_REGISTRY_WHEEL_FOR="x86_64")

    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stem.endswith("-py3-none-manylinux_2_17_x86_64")
    with zipfile.ZipFile(wheel) as files:
        libraries = [name for name in files.namelist() if "_kernel" in name]
        assert libraries == ["registry/compiled/_kernel.shared"]
        library = ctypes.CDLL(files.extract(libraries[0], tmp_path))
        assert {"NOTICE", "LICENSE"} <= {Path(name).name for name in files.namelist()}
    sources = (ctypes.c_char * 64).in_dll(library, "sources").value.decode()
    assert sources == digest_of_sources()


def test_no_wheel_is_passed_on_without_the_library(tmp_path: Path) -> None:
    built = build_wheel(tmp_path, FAIR_REGISTRY_WHEEL_FOR="riscv64", CC="false")

    assert built.returncode != 0
    assert "no C compiler for riscv64" in built.stderr
    assert [*tmp_path.glob("*.whl")] == []


def test_a_library_that_asks_for_a_later_glibc_is_not_passed_on() -> None:
    verify = runpy.run_path(str(ROOT / "hatch_build.py"))["verify_runs_with"]

    verify(b"\0GLIBC_2.2.5\0GLIBC_2.17\0", "2.17")
    with pytest.raises(RuntimeError, match=r"\(2, 34\)"):
        verify(b"\0GLIBC_2.17\0GLIBC_2.34\0", "2.17")
