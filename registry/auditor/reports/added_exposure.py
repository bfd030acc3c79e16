"""`audit exposure`: the daily exposure of sites, verified and added up."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from math import sqrt
from pathlib import Path
from typing import Any

import click

from registry.auditor.command import EXIT_UNPROVEN, registry_options, run_audit
from registry.auditor.proof_check import ProvenEntries
from registry.auditor.prove import leaf_index_of, open_entries
from registry.auditor.reports.archived_exposure import ArchivedExposure, open_exposure
from registry.auditor.reports.logged_reports import names_window, pages, read_record
from registry.auditor.reports.report_signature import fetch_promise_key, key_of_promises
from registry.auditor.source import LogSource, NotThere
from registry.auditor.trust import TrustOptions, trust_options
from registry.errors import Refused
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import EXPOSURE_TYP, verify_detached
from registry.records.canonical import digest_of
from registry.reports.exposure_table import FORM, UNIT, ExposureTable, parse_table
from registry.reports.refusals import EXPOSURE_TABLE_UNLOGGED
from registry.reports.render.report_rows import format_instant
from registry.terminal.options import DAY_TYPE, FOLDER
from registry.terminal.output import console, json_option, print_json, shown
from registry.usecases.reports.calendar_months import midnight

PAGE = 100
DAY = timedelta(days=1)
MAX_SHOWN = 20
DEVIATIONS = 3
"""Standard deviations of noise by which a share's ends are moved apart."""
AMOUNTS = ("appearances", "attention", "selections")
SELECTIONS = "selections"
COUNTS = "appearances and attention, which --archive holds against rankings"
LABELS = "labels; with --archive they are those that `audit reproduce-report` proves"
UNPROVEN = {False: [COUNTS], True: [COUNTS, LABELS]}
"""Figures that nothing proves without an archive, by whether shares are by label."""


@click.command()
@click.argument("day", type=DAY_TYPE)
@registry_options
@click.option("--until", type=DAY_TYPE, help="Last day to add up. [default: DAY]")
@click.option(
    "--by",
    type=click.Choice(["size", "independence"]),
    help="Add up by this label of the sites, as it counted at the end.",
)
@click.option("--promise-key", metavar="VKEY", help="Who must have signed the tables.")
@click.option(
    "--archive",
    type=FOLDER,
    help="Hold the tables against this archive, and take the labels from it.",
)
@trust_options
@json_option
def exposure(
    day: datetime,
    url: str,
    until: datetime | None,
    by: str | None,
    promise_key: str | None,
    *,
    archive: Path | None,
    as_json: bool,
    **trust: Any,
) -> None:
    """Verify the exposure of sites on DAY, and add it up over days and by label.

    Each table must be signed, and its digest must stand in the log. Shares have two
    ends, as sites with few appearances have no row and the others have noise. Without
    --archive counts and labels are the registry's word. Exit code 1: a table differs;
    3: nothing differs, and shares are by labels of which nothing is proven.
    """
    first, last = day.date(), (until or day).date()
    if last < first:
        raise click.UsageError("--until is before DAY")
    days = [first + DAY * number for number in range((last - first).days + 1)]

    async def work(source: LogSource) -> tuple[Sum, Mapping[str, str]]:
        key = key_of_promises(promise_key or await fetch_promise_key(source))
        exact = open_exposure(archive, key, first, last) if archive else None
        options = TrustOptions(**trust)
        added = await _add_up(source, options, key, days, exact)
        if by and exact:
            return added, {site.site_id: getattr(site, by) for site in exact.sites}
        return added, await _labels(source, by, midnight(last + DAY)) if by else {}

    added, labels = run_audit(url, work, as_json=as_json)
    classes = added.by_class(labels) if by else {}
    unproven = [SELECTIONS, *([] if archive else UNPROVEN[bool(by)])]
    _print_outcome(added, classes, unproven, as_json=as_json)
    if added.differences or LABELS in unproven:
        raise SystemExit(1 if added.differences else EXIT_UNPROVEN)


@dataclass(slots=True)
class Sum:
    """Tables of days added up. withheld: what is given for no site.

    variance: by site, of the noise in its attention. differences: from an archive.
    """

    days: int = 0
    rankings: int = 0
    erased: int = 0
    withheld_days: int = 0
    sites: dict[str, Counter[str]] = field(default_factory=dict)
    withheld: Counter[str] = field(default_factory=Counter)
    variance: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)

    def add(self, table: ExposureTable) -> None:
        self.days += 1
        self.rankings += table.rankings
        self.erased += table.erased
        self.withheld_days += not table.sites and table.others.appearances is None
        for row in table.sites:
            counts = self.sites.setdefault(row.site, Counter())
            counts["appearances"] += row.appearances
            counts["attention"] += row.attention
            counts["selections"] += row.selections or 0
            if table.noise:
                self.variance[row.site] += table.noise.attention**2
        for name in AMOUNTS:
            self.withheld[name] += getattr(table.others, name) or 0
        if table.noise:  # a ranking gives one unit, or none where it is empty
            listed = sum(row.attention for row in table.sites)
            self.withheld["attention"] += (
                UNIT * (table.rankings - table.erased) - listed
            )

    def totals(self) -> dict[str, int]:
        sites = self.sites.values()
        return {name: sum(site[name] for site in sites) for name in AMOUNTS}

    def by_class(self, labels: Mapping[str, str]) -> dict[str, list[float]]:
        """Return the share of attention of each label: the least and the most it can be."""
        listed: Counter[str] = Counter()
        variance: Counter[str] = Counter()
        for site, counts in self.sites.items():
            label = labels.get(site, "unknown")
            listed[label] += counts["attention"]
            variance[label] += self.variance[site]
        withheld = self.withheld["attention"]
        whole = sum(listed.values()) + withheld
        return {
            name: [
                round(min(max(amount / whole, 0), 1), 6)
                for amount in (
                    listed[name] - DEVIATIONS * sqrt(variance[name]),
                    listed[name] + withheld + DEVIATIONS * sqrt(variance[name]),
                )
            ]
            for name in sorted({*listed, *labels.values()})
            if whole > 0
        }

    def members(self) -> dict[str, Any]:
        ordered = sorted(self.sites.items(), key=lambda row: -row[1]["appearances"])
        return {
            "days": self.days,
            "rankings": self.rankings,
            "erased": self.erased,
            "untoldDays": self.withheld_days,
            "told": self.totals(),
            "withheld": dict(self.withheld),
            "attentionDeviation": round(sqrt(self.variance.total())),
            "sites": [{"site": site, **counts} for site, counts in ordered],
        }


async def _add_up(
    source: LogSource,
    trust: TrustOptions,
    key: PublicKey,
    days: Sequence[date],
    exact: ArchivedExposure | None,
) -> Sum:
    """Raises: LogUnreadable, LogInvalid, Refused. exact: what the tables come from."""
    entries, _ = await open_entries(source, trust)
    record_ids = await _record_ids(source, days[0])
    added = Sum()
    for day in days:
        if day not in record_ids:
            raise NotThere(f"{source.name} has no exposure of {day}")
        index = await leaf_index_of(source, record_ids[day])
        table = await _verified(source, entries, key, day, index)
        added.add(table)
        added.differences += exact.differences(table) if exact else ()
    added.differences += exact.sums.differences() if exact else ()
    return added


async def _record_ids(source: LogSource, first: date) -> dict[date, str]:
    """Return the records of the tables since a day. Raises: LogUnreadable."""
    record_ids: dict[date, str] = {}
    async for page in pages(source, f"/v1/exposure?limit={PAGE}"):
        rows = {date.fromisoformat(row["day"]): row["recordId"] for row in page["days"]}
        is_known = rows.keys() <= record_ids.keys()
        record_ids |= rows
        if is_known or first >= min(record_ids):
            break
    return record_ids


async def _verified(
    source: LogSource, entries: ProvenEntries, key: PublicKey, day: date, index: int
) -> ExposureTable:
    """Return a day's table as the log has it. Raises: Refused, LogInvalid, LogUnreadable."""
    record = await read_record(entries, index)
    token, body = await source.signed_file(f"/v1/exposure/{day}")
    verify_detached(token, body, key, typ=EXPOSURE_TYP)
    table = parse_table(body)
    is_logged = names_window(record, midnight(day), midnight(day + DAY))
    is_logged = is_logged and record["forms"] == {FORM: digest_of(body)}
    if not is_logged or table.day != day.isoformat():
        detail = f"entry {index} does not name this table of {day}"
        raise Refused(EXPOSURE_TABLE_UNLOGGED, detail)
    return table


async def _labels(source: LogSource, by: str, at: datetime) -> dict[str, str]:
    """Return the label of each site at an instant. Raises: LogUnreadable."""
    labels: dict[str, str] = {}
    path = f"/v1/labels?at={format_instant(at)}"
    async for page in pages(source, path, "after", "nextAfter"):
        labels |= {row["site"]: row[by] or "unknown" for row in page["sites"]}
    return labels


def _print_outcome(
    added: Sum,
    classes: Mapping[str, Sequence[float]],
    unproven: Sequence[str],
    *,
    as_json: bool,
) -> None:
    if as_json:
        outcome = {"verified": not added.differences, "archive": added.differences}
        members = {**added.members(), "classes": classes, "notProven": unproven}
        print_json({**outcome, **members})
        return
    _show(added, classes)
    for line in unproven:
        console.print_line(f"  the registry's word: {line}")


def _show(added: Sum, classes: Mapping[str, Sequence[float]]) -> None:
    listed, withheld = added.totals(), added.withheld
    for line in added.differences[:MAX_SHOWN]:
        console.print_line(f"[red]differs:[/] {shown(line)}")
    console.print(
        f"[green]{added.days} days verified[/]: {added.rankings} rankings, "
        f"{added.erased} of them erased before they were counted"
    )
    for line in _lines(listed, withheld):
        console.print(f"  {line}")
    if added.withheld_days:
        console.print(f"  {added.withheld_days} days had too few rankings for a row")
    for row in added.members()["sites"][:MAX_SHOWN]:
        site, attention = shown(row["site"]), row["attention"] / UNIT
        console.print(
            f"  {site}  {row['appearances']} appearances, attention {attention:.3f}, "
            f"{row['selections']} selections"
        )
    for name, (least, most) in classes.items():
        console.print(f"  {shown(name)}: {least:.1%} to {most:.1%} of the attention")


def _lines(listed: Mapping[str, int], withheld: Counter[str]) -> Iterable[str]:
    for name, unit in (("appearances", 1), ("attention", UNIT), ("selections", 1)):
        rest = f", {withheld[name] / unit:g} without" if withheld[name] else ""
        yield f"{name}: {listed[name] / unit:g} by site{rest}"
