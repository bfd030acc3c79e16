"""Data that installed packages carry, read without importing their code."""

from importlib.util import find_spec
from pathlib import Path


def folder_of(package: str, distribution: str) -> Path:
    """Return the folder of a package. distribution: that brings it.

    Raises: RuntimeError if it is not installed.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{distribution} is not installed")
    return Path(spec.origin).parent
