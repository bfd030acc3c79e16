"""Requests to the demo town, by set and half, with the hosts that do what is asked."""

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

Half = Literal["tuned", "looked_at_once"]
_FOLDER = Path(__file__).parent


def read_sets(
    file: str = "requests.toml",
) -> dict[str, dict[str, frozenset[str]]]:
    """Return by set the right hosts of each request; none for an off-topic one."""
    sets = tomllib.loads((_FOLDER / file).read_text())
    groups = sets.pop("hosts")
    return {
        name: {text: _hosts(right, groups) for text, right in requests.items()}
        for name, requests in sets.items()
    }


def _hosts(right: str, groups: Mapping[str, str]) -> frozenset[str]:
    return frozenset(groups.get(right, right).split())


def half_of(text: str) -> Half:
    first = hashlib.sha256(text.encode()).digest()[0]
    return "tuned" if first % 2 else "looked_at_once"
