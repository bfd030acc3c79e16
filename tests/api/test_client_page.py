"""Blocks of docs/client.md, executed against a registry that is real."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.api.running import RunningRegistry

PAGE = Path(__file__).parents[2] / "docs" / "client.md"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE
)
EXECUTED = [block for block in BLOCKS if not block.startswith("# not executed")]
OUTPUTS = (
    r"1 zaytoun-table\.test \d+\.\d+ .*\n   \S+ \w+",
    r"(?s)relevance \d+ 4000 \d+.*zaytoun-table\.test.*sites in Jordan",
    r"entry \d+ of \d+ in ",
    r"site_unknown ",
    r"zaytoun-table\.test",
    r"zaytoun-table\.test",
)
NODE = re.search(r"^```js\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("number", "expected"), list(enumerate(OUTPUTS)))
def test_a_block_runs_as_it_stands(
    registry: RunningRegistry, tmp_path: Path, number: int, expected: str
) -> None:
    if "# needs langchain-core" in EXECUTED[number] and not find_spec("langchain_core"):
        pytest.skip("langchain-core is not installed: its block was not executed")
    block = EXECUTED[number].replace("http://127.0.0.1:8080", registry.origin)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(expected, done.stdout), done.stdout


def test_the_block_for_node_searches_and_reports(registry: RunningRegistry) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed: its block was not executed")
    assert NODE
    done = subprocess.run(
        [node, "--input-type=module", "--eval", NODE[1]],
        env={"REGISTRY": registry.origin},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(
        r"zaytoun-table\.test \d+[^\n]* https://.*on record: [0-9a-f]{64}",
        done.stdout,
        re.DOTALL,
    ), done.stdout


def test_every_block_but_the_owners_is_executed() -> None:
    assert len(EXECUTED) == len(OUTPUTS) == len(BLOCKS) - 1
