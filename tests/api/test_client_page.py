"""Blocks of docs/client.md, executed against a registry that is real."""

import re
import subprocess
import sys
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
)


@pytest.mark.parametrize(("number", "expected"), list(enumerate(OUTPUTS)))
def test_a_block_runs_as_it_stands(
    registry: RunningRegistry, tmp_path: Path, number: int, expected: str
) -> None:
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


def test_every_block_but_the_owners_is_executed() -> None:
    assert len(EXECUTED) == len(OUTPUTS) == len(BLOCKS) - 1
