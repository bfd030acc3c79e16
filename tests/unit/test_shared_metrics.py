"""Figures of several processes, served as one."""

import os
import subprocess
import sys
import urllib.request
from pathlib import Path

from registry.observability import SHARED_METRICS, metrics_in, metrics_served

WORKS = """
import sys
from crawler.metrics import DUE, REQUESTS
from registry.observability import INVARIANCE_TRIALS, PROBLEMS
PROBLEMS.labels("busy").inc(int(sys.argv[1]))
INVARIANCE_TRIALS.set(int(sys.argv[1]))
REQUESTS.set(int(sys.argv[1]))
DUE.labels("crawl").set(int(sys.argv[1]))
print("done", flush=True)
sys.stdin.read()
"""


def start(folder: Path, number: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKS, str(number)],
        env={**os.environ, SHARED_METRICS: str(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "done\n"
    return process


def figures(port: int) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    pairs = (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return {name.removeprefix("fair_registry_"): float(value) for name, value in pairs}


def test_counts_are_added_up_and_the_moments_are_of_the_living(tmp_path: Path) -> None:
    with metrics_served(("127.0.0.1", 0), metrics_in(tmp_path)) as port:
        assert port
        processes = [start(tmp_path, number) for number in (1, 2, 4)]
        shared = figures(port)
        assert shared['problems_total{code="busy"}'] == 7
        assert shared["crawler_requests_under_way"] == 7
        assert shared["invariance_trials"] == 4
        for process in processes[1:]:
            process.communicate()
        shared = figures(port)
        assert shared['problems_total{code="busy"}'] == 7
        assert shared["crawler_requests_under_way"] == 1
        assert shared["invariance_trials"] == 4
        assert shared['crawler_due_tasks{kind="crawl"}'] == 1
        processes[0].communicate()
        shared = figures(port)
        assert 'crawler_due_tasks{kind="crawl"}' not in shared
        assert shared['problems_total{code="busy"}'] == 7
