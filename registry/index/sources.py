"""Digest of the code: policies are logged with it.

It covers all of the registry and the crawler but what no score passes through, so that a
new module is covered without being named: a score depends on how a document is fetched
and read, on probes, on the window that they count in, on a user's cell, on the tables of
cities and words, and only then on the formulas. So does the page that says all of it
in words.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

PACKAGES = ("registry", "crawler")
NOT_COVERED = frozenset(
    {
        "registry/auditor",
        "registry/bench",
        "registry/demo",
        "registry/interfaces/web",
        "registry/reports",
        "registry/terminal",
    }
)
"""Packages that run beside the service, write pages or read the log."""

_SUFFIXES = (".py", ".c", ".h", ".gz", ".npy", ".toml", ".json", ".md")


@cache
def digest_of_code() -> str:
    """`sha256:…` of the code that runs."""
    return digest_sources([(name, files(name)) for name in PACKAGES])


@cache
def policy_page() -> bytes:
    """Return docs/policy.md, which says how to compute a ranking."""
    return files("registry.ranking").joinpath("policy.md").read_bytes()


@cache
def digest_of_page() -> str:
    return f"sha256:{hashlib.sha256(policy_page()).hexdigest()}"


def digest_sources(packages: Sequence[tuple[str, Traversable]]) -> str:
    """`sha256:…` over packages: each file's path and bytes, in order of path."""
    digest = hashlib.sha256()
    for name, folder in packages:
        for path, content in _sources_in(folder, name):
            digest.update(f"{path} {len(content)}\n".encode())
            digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def _sources_in(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    if path in NOT_COVERED:
        return
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources_in(entry, f"{path}/{entry.name}")
        elif entry.name.endswith(_SUFFIXES):
            yield f"{path}/{entry.name}", entry.read_bytes()
