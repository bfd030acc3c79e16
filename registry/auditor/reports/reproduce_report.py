"""`audit reproduce-report`: a kept report computed again, from public parts alone.

The log says which rankings and choices there were, the archive opens what they
disclosed, and every figure of the report is computed from it and compared.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import click
import msgspec

from registry.auditor.auditor_key import audience_of, log_option, signer_of
from registry.auditor.command import EXIT_UNPROVEN, registry_options, run_audit
from registry.auditor.reports.cited_report import CitedReport, parse_report
from registry.auditor.reports.forms_agreement import FormsAgreement, form_of
from registry.auditor.reports.held_archive import HeldArchive, hold_against_log
from registry.auditor.reports.logged_reports import names_window
from registry.auditor.reports.report_signature import (
    fetch_promise_key,
    key_of_promises,
    promise_key_option,
    read_signed,
)
from registry.auditor.source import LogSource
from registry.auditor.trust import TrustOptions, trust_options
from registry.errors import RegistryError
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import REPORT_TYP, verify_detached
from registry.records.attestation import Rescoring
from registry.records.canonical import JsonValue, digest_of
from registry.records.record import parse_record
from registry.reports.archive.reading import Archive, open_archive
from registry.reports.render.figure_comparison import Figure, figures_of
from registry.reports.render.json_object import format_json
from registry.reports.report_terms import Terms
from registry.terminal.key_files import KEY_FILE, key_file
from registry.terminal.options import FOLDER, READABLE
from registry.terminal.output import console, json_option, print_json, shown
from registry.terminal.registry_calls import with_client
from registry.tlog.note import Signer, format_vkey
from registry.usecases.reports.archived_report import (
    report_of_archive,
    window_of_archive,
)
from registry.usecases.reports.calendar_months import format_month

IMPOSSIBLE = 2
MAX_SHOWN = 100
NOT_PROVEN = (
    "that sampled sites were eligible, which `audit reproduce` checks for two days",
    "that the documents in the archive are those that the sites served",
)


@click.command("reproduce-report")
@registry_options
@click.option(
    "--archive",
    "folder",
    required=True,
    type=FOLDER,
    help="The archive of the report's window.",
)
@click.option(
    "--report", "file", required=True, type=READABLE, help="The report as JSON."
)
@click.option("--signature", type=READABLE, help="Of the report. [default: FILE.jws]")
@click.option(
    "--form",
    "forms",
    type=READABLE,
    multiple=True,
    help="It as CSV, Parquet or HTML; repeatable.",
)
@promise_key_option
@click.option(
    "--auditor",
    "auditors",
    metavar="VKEY",
    multiple=True,
    help="An auditor whose labels count; repeatable. Without it: every auditor's.",
)
@click.option(
    "--attest-as",
    "attest_as",
    metavar="NAME",
    help="Sign the outcome and put it on record; of your verifier key, as the registry "
    "has it.",
)
@click.option(
    "--auditor-key",
    type=KEY_FILE,
    default=lambda: key_file("auditor"),
    help="Your Ed25519 key, for --attest-as. [default: what `keygen auditor` made]",
)
@log_option
@trust_options
@json_option
def reproduce_report(
    url: str,
    folder: Path,
    file: Path,
    signature: Path | None,
    promise_key: str | None,
    *,
    forms: tuple[Path, ...],
    auditors: tuple[str, ...],
    attest_as: str | None,
    auditor_key: Path,
    log_name: str,
    as_json: bool,
    **trust: Any,
) -> None:
    """Compute every figure of a fairness report again, and list the differences.

    Needs the log, the archive and the report. Each label must be the one that an auditor
    or the site signed, or that its documents declare, and each category too; a month's
    tables and page, and each --form, must say what the JSON says. Exit code 0: all is the
    same; 1: a figure differs, or the archive; 2: not computed; 3: not all was computed.
    """

    async def work(source: LogSource) -> Reproduction:
        key = key_of_promises(promise_key or await fetch_promise_key(source))
        body = _verified(file, signature, key)
        cited = parse_report(body)
        archive = open_archive(folder, key)
        cited.check_window(window_of_archive(archive))
        settled = await TrustOptions(**trust).settle(source)
        stored = StoredDigest(cited.terms, digest_of(body))
        held = await hold_against_log(
            source, settled, archive, auditors=auditors, watch=stored.visit
        )
        held.further.append(await _compare_forms(source, stored, key, forms, body))
        return _compute(archive, cited, held, stored)

    with _impossible():
        reproduction = run_audit(url, work, as_json=as_json)
    if attest_as:
        signer = signer_of(auditor_key, attest_as)
        members = reproduction.attestation(signer, audience_of(url, log_name))
        with_client(url, lambda client: client.post("/v1/attestations", members))
    reproduction.print_outcome(as_json=as_json)
    raise SystemExit(reproduction.exit_code)


def _verified(file: Path, signature: Path | None, key: PublicKey) -> bytes:
    """Return the file. Raises: click.ClickException, Refused if others signed it."""
    token, body = read_signed(file, signature)
    verify_detached(token, body, key, typ=REPORT_TYP)
    return body


async def _compare_forms(
    source: LogSource,
    stored: "StoredDigest",
    key: PublicKey,
    paths: Iterable[Path],
    body: bytes,
) -> FormsAgreement:
    """Compare what is served of a month, and files. body: of the JSON."""
    agreement = FormsAgreement(body)
    for path in paths:
        agreement.compare(form_of(path), _verified(path, None, key))
    month = format_month(stored.terms.window.start_at.date())
    await agreement.compare_stored(source, month, stored.forms)
    return agreement


@contextmanager
def _impossible() -> Iterator[None]:
    """End with the code of a check that could not be made."""
    try:
        yield
    except click.ClickException as error:
        error.show()
        raise SystemExit(IMPOSSIBLE) from error
    except SystemExit as unable:
        raise SystemExit(IMPOSSIBLE) from unable


@dataclass(slots=True)
class StoredDigest:
    """Digest of the kept report of all of this window, held against this file.

    digest: of the file. leaf: of the record, None where there is none. forms: the digests
    that it has.
    """

    terms: Terms
    digest: str
    leaf: int | None = None
    is_other: bool = False
    forms: Mapping[str, str] = field(default_factory=dict)

    def visit(self, index: int, entry: bytes) -> None:
        if b'"kind":"report"' not in entry or self.terms.operator + self.terms.category:
            return
        members, window = parse_record(entry), self.terms.window
        if names_window(members, window.start_at, window.end_at):
            self.forms = cast("Mapping[str, str]", members["forms"])
            self.leaf, self.is_other = index, self.forms.get("json") != self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction:
    """held: against the log. failure: why nothing was computed."""

    held: HeldArchive
    stored_digest: StoredDigest
    figures: int
    differing: list[Figure]
    failure: str = ""

    @property
    def is_same(self) -> bool:
        unlike = self.held.differences or self.stored_digest.is_other
        return not (unlike or self.differing or self.failure)

    @property
    def exit_code(self) -> int:
        if not self.is_same:
            return 1
        return EXIT_UNPROVEN if self.held.missing else 0

    def attestation(self, signer: Signer, audience: str) -> dict[str, JsonValue]:
        """Sign what an auditor may attest to: of the whole log that he has read."""
        rankings = self.held.counts["rankings"]
        unlike = len(self.held.differences) + len(self.differing)
        unlike += self.stored_digest.is_other or bool(self.failure)
        rescoring = Rescoring(
            auditor=format_vkey(signer.verifier_key),
            audience=audience,
            first_index=0,
            last_index=self.held.rankings.size - 1,
            checked_count=rankings,
            mismatch_count=min(unlike, rankings),
            report=self.stored_digest.digest,
        )
        return rescoring.signed(signer.private).signed_members

    def print_outcome(self, *, as_json: bool) -> None:
        counts = {**self.held.counts, "figures": self.figures}
        auditors = dict(sorted(self.held.labels.auditors.items()))
        stored = self.stored_digest
        if as_json:
            print_json(
                {
                    "same": self.exit_code == 0,
                    **counts,
                    "auditors": auditors,
                    "archive": self.held.differences,
                    "differing": [_members(figure) for figure in self.differing],
                    "notChecked": self.held.missing,
                    "failure": self.failure,
                    "keptAtLeaf": stored.leaf,
                    "isTheKeptOne": stored.leaf is not None and not stored.is_other,
                    "notProven": NOT_PROVEN,
                }
            )
            return
        for line in self.held.differences:
            console.print_line(f"[red]differs:[/] {shown(line)}")
        for line in self.held.missing:
            console.print_line(f"not computed: {shown(line)}")
        for figure in self.differing[:MAX_SHOWN]:
            line = (
                f"{figure.path} is {figure.computed}, the report has {figure.reported}"
            )
            console.print_line(f"[red]differs:[/] {shown(line)}")
        if stored.leaf is not None:
            word = "[red]another report[/]" if stored.is_other else "this report"
            console.print(f"kept on record at entry {stored.leaf}: {word}")
        if self.failure:
            console.print(f"[red]not computed:[/] {shown(self.failure)}")
        for auditor, number in auditors.items():
            console.print_line(f"labels stated by {shown(auditor)}: {number}")
        line = ", ".join(f"{count} {name}" for name, count in counts.items())
        console.print_line(f"{line}; {len(self.differing)} figures differ")
        for line in NOT_PROVEN:
            console.print_line(f"  not proven by the log: {line}")


def _compute(
    archive: Archive, cited: CitedReport, held: HeldArchive, stored_digest: StoredDigest
) -> Reproduction:
    """Raises: RegistryError, where the archive is as the log says and yet unreadable."""
    if (digest := cited.algorithm.policy_digest) not in held.conduct.policies:
        held.rankings.differ(f"the policy {digest} of the report is not logged")
    reproduced = partial(Reproduction, held=held, stored_digest=stored_digest)
    try:
        report = report_of_archive(archive, cited.algorithm, cited.terms, cited.policy)
    except RegistryError as refused:
        if not held.differences:
            raise
        return reproduced(figures=0, differing=[], failure=str(refused))
    computed = msgspec.json.decode(format_json(report))
    figures = list(figures_of(cited.members, computed))
    differing = [figure for figure in figures if figure.differs]
    return reproduced(figures=len(figures), differing=differing)


def _members(figure: Figure) -> dict[str, object]:
    return {"path": figure.path, "told": figure.reported, "computed": figure.computed}
