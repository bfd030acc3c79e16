"""The fairness report of an archive's window, without a database."""

import tempfile
from pathlib import Path

from registry.archive.observing import claims_of_archive, observe_archive
from registry.archive.reading import Archive
from registry.fairness.report.build import build_report
from registry.fairness.report.figures import Algorithm, FairnessReport, Terms, Window
from registry.ranking.policy import Policy


def window_of_archive(archive: Archive) -> Window:
    manifest = archive.manifest
    return Window(start_at=manifest.start_at, end_at=manifest.end_at)


def report_of_archive(
    archive: Archive, algorithm: Algorithm, terms: Terms, policy: Policy
) -> FairnessReport:
    """terms: of the archive's window. Raises: Refused."""
    with tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch:
        observed = observe_archive(archive, Path(scratch), terms.operator)
        trials = archive.manifest.trials
        claims = claims_of_archive(archive, Path(scratch))
        return build_report(observed, algorithm, terms, policy, trials, claims=claims)
