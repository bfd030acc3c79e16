"""Compiles the registry's C into the wheel, or beside the sources of an editable one."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILE = Path("registry", "compiled", "compile.py")


class CompileKernel(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        module = runpy.run_path(str(Path(self.root) / COMPILE))
        if module["compile_kernel"]():
            build_data["artifacts"].append("registry/compiled/_kernel.shared")
            build_data["pure_python"] = False
            build_data["infer_tag"] = True
