"""An archive held against the log: rankings, choices, labels, categories and trials."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from registry.auditor.follow_log import Follower
from registry.auditor.reports.declared_agreement import DeclaredAgreement
from registry.auditor.reports.sample_agreement import SampleAgreement
from registry.auditor.source import LogSource
from registry.auditor.state import state_of
from registry.auditor.trust import Trust
from registry.records.rules.conduct_state import ConductState
from registry.reports.archive.agreement import Agreement
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.archive.declared_rows import read_declared
from registry.reports.archive.duck import open_duck
from registry.reports.archive.label_agreement import LabelAgreement
from registry.reports.archive.label_rows import read_labels
from registry.reports.archive.ranking_agreement import RankingAgreement
from registry.reports.archive.reading import Archive, iterate_rankings
from registry.reports.archive.site_rows import read_sites
from registry.reports.archive.trial_agreement import TrialAgreement
from registry.tlog.checkpoint import verify_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.follow import Visit

if TYPE_CHECKING:
    from registry.reports.archive.duck import Duck


@dataclass(frozen=True, slots=True)
class HeldArchive:
    """conduct: what the log's records showed. further: what was compared besides."""

    rankings: RankingAgreement
    samples: SampleAgreement
    labels: LabelAgreement
    trials: TrialAgreement
    declared: DeclaredAgreement
    conduct: ConductState
    further: list[Agreement] = field(default_factory=list)

    @property
    def parts(self) -> tuple[Agreement, ...]:
        own = self.rankings, self.samples, self.labels, self.trials, self.declared
        return *own, *self.further

    @property
    def differences(self) -> list[str]:
        return [line for part in self.parts for line in part.differences]

    @property
    def missing(self) -> list[str]:
        """Return what could not be computed."""
        return [line for part in self.parts for line in part.missing]

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers of rows that were compared."""
        return {
            "rankings": self.rankings.rankings,
            "choices": self.rankings.choices,
            "openings": self.rankings.openings,
            "samples": self.samples.samples,
            "labels": self.labels.statements,
            "declared": self.declared.sites,
        }


async def hold_against_log(
    source: LogSource,
    trust: Trust,
    archive: Archive,
    *,
    auditors: Collection[str],
    watch: Visit,
) -> HeldArchive:
    """The log is read whole, and must hold the tree that the archive was made from.

    auditors: whose labels may count, or none for anybody's. watch: sees each entry.
    """
    manifest = archive.manifest
    covering = verify_checkpoint(manifest.checkpoint.encode(), trust.log_key).checkpoint
    with (
        tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch,
        open_duck(Path(scratch)) as duck,
    ):
        archive.view(duck)
        end, size = manifest.end_at, covering.size
        rankings = _rankings(duck, archive, size)
        texts = read_labels(duck)
        labels = LabelAgreement(end=end, size=size, labels=texts, known=auditors)
        trials, samples = _of_window(manifest)
        declared = DeclaredAgreement(end=end, size=size)

        visits = (rankings.visit, samples.visit, labels.visit, trials.visit)

        def see(index: int, entry: bytes) -> None:
            for visit in (*visits, declared.visit, watch):
                visit(index, entry)

        seen = state_of(trust.log_key, covering, TreeEdge(), ConductState())
        log = await Follower(source, trust, state=seen, watch=see).run()
        rankings.finish()
        if not rankings.differences:
            samples.finish(iterate_rankings(duck, archive), log.conduct.seeds)
        sites = read_sites(duck)
        if (count := len(sites)) != manifest.sites:
            rankings.differ(f"it has {count} sites, not {manifest.sites}")
        labels.finish(sites)
        trials.finish()
        rows = read_declared(duck) if manifest.has_declared else None
        declared.finish(sites, list(read_labels(duck)), rows)
    return HeldArchive(rankings, samples, labels, trials, declared, log.conduct)


def _rankings(duck: "Duck", archive: Archive, size: int) -> RankingAgreement:
    manifest = archive.manifest
    return RankingAgreement(
        start=manifest.start,
        end=manifest.end,
        size=size,
        sites=manifest.sites,
        rows=iterate_rankings(duck, archive),
    )


def _of_window(manifest: Manifest) -> tuple[TrialAgreement, SampleAgreement]:
    start, end, runs = manifest.start, manifest.end, manifest.trials
    trials = TrialAgreement(start=start, end=end, runs=runs, salts=manifest.swap_salts)
    return trials, SampleAgreement(start=start, end=end, sites=manifest.sites)
