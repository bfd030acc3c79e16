"""Which code ranks: what policies are logged with, and what an index was made by."""

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

_PACKAGES = ("compiled", "index", "ranking")


@cache
def digest_of_code() -> str:
    """`sha256:…` over the ranking code: each file's path and bytes, in order of path."""
    digest = hashlib.sha256()
    for package in _PACKAGES:
        for path, content in _sources_in(files("registry") / package, package):
            digest.update(f"{path} {len(content)}\n".encode())
            digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def _sources_in(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for one in sorted(folder.iterdir(), key=lambda one: one.name):
        if one.is_dir():
            yield from _sources_in(one, f"{path}/{one.name}")
        elif one.name.endswith((".py", ".c", ".h")):
            yield f"{path}/{one.name}", one.read_bytes()
