"""Writes the registry's list of the crawler's problem kinds:

python tests/contract/write_crawler_problems.py
"""

from pathlib import Path

import msgspec

import crawler.refusals
import registry.interfaces.web
from registry.errors import ProblemType

LIST = Path(registry.interfaces.web.__path__[0], "crawler_problems.json")


def crawler_problems() -> bytes:
    declared = vars(crawler.refusals).values()
    kinds = [kind for kind in declared if isinstance(kind, ProblemType)]
    return msgspec.json.format(msgspec.json.encode(kinds), indent=2) + b"\n"


if __name__ == "__main__":
    LIST.write_bytes(crawler_problems())
