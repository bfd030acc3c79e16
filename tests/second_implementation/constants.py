"""The policy's text and the data files that docs/policy.md names.

Everything in this folder is written from that page and imports nothing of the registry:
what is missing here is missing there.
"""

import json
import math
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

ROOT = Path(__file__).parents[2]
FULL = 10_000
Constants = SimpleNamespace


def read_policy(text: str) -> Constants:
    return Constants(**json.loads(text))


def package_folder(name: str) -> Path:
    spec = find_spec(name)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def decay(steps: int, scale: int, floor: int = 0) -> int:
    """10000 · exp(-steps / scale), rounded, with steps up to where nothing is left."""
    last = math.ceil(scale * math.log(2 * FULL)) + 1
    return max(floor, round(FULL * math.exp(-min(steps, last) / scale)))
