"""The examples that Hypothesis draws in the gate are the same in each run."""

import importlib.util
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CONSTANTS = "".join(f"NUMBER_{number} = {number**7 + 71}\n" for number in range(200))


def drawn() -> list[int]:
    numbers: list[int] = []

    @settings(derandomize=True, max_examples=200)
    @given(st.integers())
    def draw(number: int) -> None:
        numbers.append(number)

    draw()
    return numbers


@pytest.mark.skipif(
    settings.get_current_profile_name() == "nightly", reason="its examples are new"
)
def test_what_is_imported_before_changes_no_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drawn()
    file = tmp_path / "constants_of_ours.py"
    file.write_text(CONSTANTS)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, file.stem, module)
    spec.loader.exec_module(module)
    assert drawn() == before
