"""Digest of the code that ranks: policies are logged with it, indexes made by it."""

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
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources_in(entry, f"{path}/{entry.name}")
        elif entry.name.endswith((".py", ".c", ".h")):
            yield f"{path}/{entry.name}", entry.read_bytes()
