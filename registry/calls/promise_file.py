"""Promises of a registry, as lines of a file that `audit promises` checks later."""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec


class PromiseLine(msgspec.Struct, rename="camel", kw_only=True, frozen=True):
    """A promise that came with an answer, as a line of the client's file of promises.

    id: of the record, the public half of a ranking's. received_at: by the client's clock.
    """

    registry: str
    id: str
    leaf_hash: str
    promise: dict[str, str]
    received_at: datetime | None = None


def keep_promise(file: Path, registry: str, answer: dict[str, Any]) -> None:
    """Append the promise of an answer that has id, leafHash and promise."""
    receipt = PromiseLine(
        registry=registry,
        id=str(answer["id"]).partition(".")[0],
        leaf_hash=answer["leafHash"],
        promise=answer["promise"],
        received_at=datetime.fromtimestamp(time.time(), UTC),
    )
    with file.open("ab") as lines:
        lines.write(msgspec.json.encode(receipt) + b"\n")
