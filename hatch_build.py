"""Compiles the registry's C into the wheel, or beside the sources of an editable one.

FAIR_REGISTRY_WHEEL_FOR=aarch64 makes a wheel to pass on, for that machine with any Linux
of glibc 2.17 and later; without a library there is none. The library is called by
ctypes, so one wheel is for every Python.
"""

import os
import platform
import re
import runpy
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILE = Path("registry", "compiled", "compile.py")


class CompileKernel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        module = runpy.run_path(str(Path(self.root) / COMPILE))
        if version == "editable":
            module["compile_kernel"]()
            return
        passed_on = os.environ.get("FAIR_REGISTRY_WHEEL_FOR")
        machine = passed_on or platform.machine()
        library = Path(self.root, "build", machine, "_kernel.shared")
        library.parent.mkdir(parents=True, exist_ok=True)
        if module["compile_kernel"](machine, library):
            if passed_on:
                verify_runs_with(library.read_bytes(), module["GLIBC"])
            system = (
                f"manylinux_{module['GLIBC']}_{machine}"
                if passed_on
                else sysconfig.get_platform()
            )
            build_data["force_include"][str(library)] = (
                "registry/compiled/_kernel.shared"
            )
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{re.sub('[-.]', '_', system)}"
        elif passed_on:
            raise RuntimeError("a wheel to pass on holds the compiled library")


def verify_runs_with(library: bytes, glibc: str) -> None:
    """Raises: RuntimeError if the library asks for a later version of glibc."""
    wanted = {
        tuple(map(int, version.split(b".")))
        for version in re.findall(rb"GLIBC_([0-9]+\.[0-9]+)", library)
    }
    newest = max(wanted, default=(0,))
    if newest > tuple(map(int, glibc.split("."))):
        raise RuntimeError(f"the library asks for glibc {newest}: let zig make it")
