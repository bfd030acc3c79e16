"""`audit trials`: a day's trials of invariance, run again from what the log commits to."""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, cast

import click
import msgspec
from rich.progress import Progress

from registry.auditor.command import decode_lines, named_registry_option, run_audit
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.reproduce import Held, OutcomeTally
from registry.auditor.source import LogSource, LogUnreadable
from registry.auditor.trust import TrustOptions, trust_options
from registry.auditor.verify import follow
from registry.errors import RegistryError
from registry.ranking.freshness import SECONDS_PER_DAY
from registry.ranking.policy import POLICY_BY_DIGEST, Policy
from registry.records.canonical import digest_of
from registry.records.disclosure import verify_disclosure
from registry.records.recomputation import Recomputation
from registry.records.record import parse_record
from registry.records.record_fields import Members
from registry.records.rules.calendar_days import start_of
from registry.reports.archive.archive_manifest import Manifest
from registry.reports.archive.duck import open_duck
from registry.reports.archive.reading import iterate_rankings, open_archive
from registry.reports.invariance import (
    InvarianceResult,
    digest_swaps,
    result_members,
    seed_of,
)
from registry.terminal.options import DAY_TYPE, FOLDER
from registry.terminal.output import DEFAULT_URL, errors, json_option
from registry.usecases.reports.shadow import TrialMaterial, question_of, shadow_of
from registry.usecases.reports.try_invariance import Question, Shadow, try_invariance
from registry.usecases.sites.site_profiler import SiteProfiler, make_profiler

SWAPPED = "pairs change places"


@click.command()
@click.argument("day", type=DAY_TYPE)
@named_registry_option
@trust_options
@click.option(
    "--disclosures",
    type=click.File("rb"),
    help="Answers of GET /v1/rankings/{id} to who has the whole id, one a line.",
)
@click.option(
    "--archive",
    type=FOLDER,
    help="An archive of the days before, which opens all that is not erased.",
)
@json_option
def trials(
    day: datetime,
    named: str | None,
    disclosures: Any,
    archive: Path | None,
    *,
    as_json: bool,
    **trust: Any,
) -> None:
    """Run the invariance trials of DAY again, as far as their queries are disclosed.

    Sites come from the registry, as its commitment in the log names them; queries from
    disclosures that you hold, of some rankings or all. Exit code 1 if the results in the
    log are others, 3 if not all could be computed.
    """
    rerun, tally = Rerun(day.date().isoformat()), OutcomeTally()
    opened = _archived(archive, rerun.archived)
    held = chain(decode_lines(disclosures or (), Held), opened)
    run_audit(
        named or DEFAULT_URL,
        lambda source: rerun.hold(source, TrustOptions(**trust), held),
        as_json=as_json,
    )
    tally.add(Held(id=rerun.day, leaf_index=None), rerun.outcome, as_json=as_json)
    raise SystemExit(tally.print_outcome(as_json=as_json))


def _archived(folder: Path | None, manifests: list[Manifest]) -> Iterator[Held]:
    """Yield the rankings of an archive, and add its manifest to the others."""
    if folder is None:
        return
    with (
        tempfile.TemporaryDirectory(prefix="fair-registry-") as scratch,
        open_duck(Path(scratch)) as duck,
    ):
        archive = open_archive(folder)
        manifests.append(archive.manifest)
        for row in iterate_rankings(duck, archive):
            opened = [{"disclosure": text} for text in row.disclosures().values()]
            yield Held(id=row.id, leaf_index=row.leaf_index, openings=tuple(opened))


def run_trials(shadow: Shadow, *, trials: int, seed: int) -> InvarianceResult:
    """Run trials, and show on standard error how many are done."""
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("Trials", total=trials)
        return try_invariance(
            shadow,
            trials=trials,
            seed=seed,
            on_progress=lambda done: progress.advance(task, done),
        )


@dataclass(slots=True)
class Rerun:
    """A day's trials, as far as their questions are known, against the log.

    erased: entries that were before the results, whose questions may have been unknown.
    """

    day: str
    make_profiler: Callable[[Policy], SiteProfiler] = make_profiler
    commitment: Members = field(default_factory=dict)
    logged: Members = field(default_factory=dict)
    archived: list[Manifest] = field(default_factory=list)
    erased: list[range] = field(default_factory=list)
    outcome: Recomputation = field(default_factory=Recomputation)

    async def hold(
        self, source: LogSource, trust: TrustOptions, held: Iterable[Held]
    ) -> None:
        """Run the trials whose queries are held. Raises: LogUnreadable, Findings."""
        log = await follow(source, trust, None, watch=self._visit)
        material = await self._fetch_material(source)
        if material is not None:
            entries = ProvenEntries(source, log.checkpoint)
            self._run(material, await self._open(entries, held, material))

    def _visit(self, _: int, entry: bytes) -> None:
        members = parse_record(entry) if b'"kind":"trials"' in entry else {}
        if members.get("kind") == "trials" and members["day"] == self.day:
            name = "commitment" if "commitment" in members else "logged"
            setattr(self, name, members)
        elif b'"kind":"erase"' in entry and not self.logged:
            first = cast("int", parse_record(entry)["index"])
            last = cast("int", parse_record(entry).get("last", first))
            self.erased.append(range(first, last + 1))

    async def _fetch_material(self, source: LogSource) -> TrialMaterial | None:
        """Return what the log commits to; None where it is unavailable."""
        if not self.logged or "material" not in self.commitment:
            self.outcome.lack("the log has no results of this day, or no material")
            return None
        try:
            _, body = await source.signed_file(f"/v1/invariance/{self.day}")
            material = msgspec.json.decode(body, type=TrialMaterial)
        except (LogUnreadable, msgspec.DecodeError, ValueError) as unreadable:
            self.outcome.lack(f"the material: {unreadable}")
            return None
        if digest_of(body) != self.commitment["material"]:
            self.outcome.add("material", ["the material is not the one committed to"])
            return None
        return material

    async def _open(
        self, entries: ProvenEntries, held: Iterable[Held], material: TrialMaterial
    ) -> dict[str, Question]:
        """Return the questions that are disclosed, as the log has their digests."""
        wanted, questions = set(material.rankings), {}
        for ranking in held:
            record_id = ranking.id.partition(".")[0]
            index = -1 if ranking.leaf_index is None else ranking.leaf_index
            if record_id not in wanted or index not in range(entries.head.size):
                continue
            if any(index in entries_of for entries_of in self.erased):
                continue
            try:
                record = parse_record(await entries.at(index))
                digests = cast("Sequence[str]", record.get("_sd", ()))
                for text in ranking.disclosures:
                    verify_disclosure(text, digests)
                if record["id"] == record_id:
                    questions[record_id] = question_of(record_id, ranking.disclosures)
            except KeyError:
                continue  # not all that was asked is disclosed
            except (RegistryError, msgspec.ValidationError, ValueError) as error:
                self.outcome.differences += (f"a disclosure of {record_id}: {error}",)
        if closed := len(wanted - questions.keys()):
            of = f"of {closed} of {len(wanted)} rankings"
            self.outcome.lack(f"{of} no query is disclosed here")
        return questions

    def _run(self, material: TrialMaterial, questions: dict[str, Question]) -> None:
        """Run the trials with this release's code, and compare."""
        policy = POLICY_BY_DIGEST.get(material.policy)
        if policy is None:
            self.outcome.lack("the policy is of another release")
            return
        if not 0 <= material.at - start_of(self.day).timestamp() < SECONDS_PER_DAY:
            self.outcome.add("time", [f"the sites are ranked as at {material.at}"])
            return
        shadow = shadow_of(material, questions, self.make_profiler(policy))
        seed = seed_of(bytes.fromhex(str(self.logged["secret"])))
        result = run_trials(shadow, trials=material.trials, seed=seed)
        of = f"{len(material.sites)} sites and {len(material.rankings)} rankings"
        is_whole = questions.keys() >= {*material.rankings}
        most = result.trials if is_whole else material.trials
        self.outcome.add(of, self._compare(result, most))
        self.outcome.checked += tuple(
            f"{row.perturbation}: {row.violations} of {row.trials} {what}"
            for rows, what in ((result.tallies, "fail"), (result.swaps, SWAPPED))
            for row in rows
            if row.trials
        )

    def _compare(self, result: InvarianceResult, most: int) -> Iterator[str]:
        """Hold the results against the log's; unknown trials may have come out any way.

        most: that can have been run.
        """
        own, run, violated = result_members(result), result.trials, result.violations
        n, violations = (int(str(self.logged[name])) for name in ("n", "violations"))
        if not n and most:
            self.outcome.lack("by the log the registry ran none of the trials")
            return
        if not run <= n <= most:
            yield f"the log has {n} trials, and what is committed to gives {most}"
        if not violated <= violations <= violated + max(0, n - run):
            failing = f"{violated} of {run} trials fail here"
            yield f"the log has {violations} violations, {failing}"
        if result.generation != self.logged["snap"]:
            yield f"the sites give the index {result.generation}, not the one logged"
        if run == n and own["tallies"] != self.logged["tallies"]:
            yield "the numbers by perturbation are not those logged"
        if run == n and "swaps" in self.logged:
            yield from self._compare_swaps(result)

    def _compare_swaps(self, result: InvarianceResult) -> Iterator[str]:
        """Hold the pairs against those that an archive opens as the log commits to them."""
        runs = [
            (tuple(count for count in counts if count.is_swap), salt)
            for manifest in self.archived
            for counts, salt in zip(manifest.trials, manifest.swap_salts, strict=False)
        ]
        logged, minute = self.logged["swaps"], str(self.logged["t"])
        opened = [swaps for swaps, salt in runs if digest_swaps(swaps, salt) == logged]
        if any(swaps != result.swaps for swaps in opened):
            yield "the pairs of sites that change places are not those logged"
        elif not opened and any(m.start <= minute < m.end for m in self.archived):
            yield "the archive has other pairs of sites than the log commits to"
        elif not opened:
            self.outcome.lack("no archive opens the pairs of sites that change places")
