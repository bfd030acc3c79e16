"""Writes the examples of OpenAPI from a registry that it starts:

python -m tests.contract.write_examples
"""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import httpx

from registry.db.engine.embedded import start_embedded
from registry.interfaces.web.openapi_operations import EXAMPLES
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.sites.list_site import Lister
from tests.api.running import run_registry, signing_web
from tests.conftest import TEMPLATE, _migrate
from tests.contract.example_calls import ExampleCalls, prepare
from tests.contract.test_examples import perform_all

ROWS, LETTERS = 1, 1_500


def write(folder: Path) -> None:
    server = start_embedded(folder / "pg")
    server.create_database(TEMPLATE)
    asyncio.run(_migrate(server.url(TEMPLATE)))
    (folder / "data").mkdir()
    with run_registry(server, folder / "data") as registry:
        lister = Lister(
            gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
        )
        registry.run(prepare(registry, lister))
        document = httpx.get(f"{registry.origin}/openapi.json", timeout=60).json()
        with signing_web(registry) as http:
            examples = perform_all(ExampleCalls(registry, http), document)
    server.close()
    for example in examples.values():
        del example["headers"]
    shortened = {name: shorten(examples[name]) for name in sorted(examples)}
    lines = (
        f"{json.dumps(name)}: {json.dumps(shortened[name], ensure_ascii=False)}"
        for name in shortened
    )
    EXAMPLES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def shorten(value: Any) -> Any:
    """Return the first row of each list of objects, and the beginning of long texts."""
    if isinstance(value, dict):
        return {name: shorten(member) for name, member in value.items()}
    if isinstance(value, list):
        is_long = len(value) > 64 or isinstance(value[0] if value else 0, dict)
        return [shorten(row) for row in value[: ROWS if is_long else None]]
    return value[:LETTERS] if isinstance(value, str) else value


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
