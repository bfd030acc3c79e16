"""The fairness report of an archive's window, without a database."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from operator import call
from pathlib import Path

from registry.ranking.policy import Policy
from registry.reports.archive.observing import claims_of_archive, observe_archive
from registry.reports.archive.reading import Archive
from registry.reports.build_report import RunJobs, build_report
from registry.reports.model import FairnessReport
from registry.reports.report_terms import Algorithm, Terms, Window

JOBS_AT_ONCE = 2
"""Sums of a report are loops in NumPy that leave the interpreter to others."""


@contextmanager
def side_by_side() -> Iterator[RunJobs]:
    """Give the jobs of a report threads of their own."""
    with ThreadPoolExecutor(JOBS_AT_ONCE) as threads:
        yield partial(threads.map, call)


def window_of_archive(archive: Archive) -> Window:
    manifest = archive.manifest
    return Window(start_at=manifest.start_at, end_at=manifest.end_at)


def report_of_archive(
    archive: Archive, algorithm: Algorithm, terms: Terms, policy: Policy
) -> FairnessReport:
    """Return the report of an archive. terms: of its window. Raises: Refused."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch:
        observed = observe_archive(archive, Path(scratch), terms.operator)
        trials = archive.manifest.trials
        claims = claims_of_archive(archive, Path(scratch))
        with side_by_side() as run_jobs:
            return build_report(
                observed,
                algorithm,
                terms,
                policy,
                trials,
                claims=claims,
                run_jobs=run_jobs,
            )
