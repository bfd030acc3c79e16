"""Which code ranks: what policies are logged with, and what an index was made by."""

import hashlib
from functools import cache
from importlib.resources import files

_PACKAGES = ("compiled", "ranking", "index", "index/csrc")


@cache
def digest_of_code() -> str:
    """`sha256:…` over the ranking code: each file's path and bytes, in order of path."""
    digest = hashlib.sha256()
    root = files("registry")
    for package in _PACKAGES:
        for file in sorted(root.joinpath(package).iterdir(), key=lambda one: one.name):
            if file.name.endswith((".py", ".c", ".h")):
                content = file.read_bytes()
                digest.update(f"{package}/{file.name} {len(content)}\n".encode())
                digest.update(content)
    return f"sha256:{digest.hexdigest()}"
