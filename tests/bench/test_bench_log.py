"""`bench log`: a short run has every figure, and loses nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from registry.bench.log import lags_of

FIGURES = {
    "records_per_s",
    "p99_ms",
    "checkpoint_lag_ms_p99",
    "bytes_per_ranking",
    "verify_entries_per_s",
    "proof_ms",
    "proof_kept_ms",
}


@pytest.mark.slow
def test_short_run_measures_everything() -> None:
    command = Path(sys.executable).with_name("fair-registry")
    run = subprocess.run(
        [command, "bench", "log", *("--seconds", "1", "--entries", "1000"), "--json"],
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    output = json.loads(run.stdout)
    assert output.keys() >= FIGURES
    assert all(output[name] > 0 for name in FIGURES)
    assert output["turned_away"] == output["unlogged"] == 0


def test_a_record_lags_until_a_checkpoint_is_seen_that_covers_it() -> None:
    covered = [(1.0, 0), (2.0, 2), (3.0, 2), (4.0, 3)]
    assert lags_of([0.5, 1.5, 2.5], covered) == [1.5, 0.5, 1.5]
