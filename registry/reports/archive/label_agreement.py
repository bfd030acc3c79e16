"""Agreement of an archive's labels with those that auditors signed, and that count.

The log holds each statement of an auditor whole but for the text of its source, and
who follows it verified each signature (`records.rules.log_rules`). What
sites declare of themselves is for `auditor.reports.declared_agreement`.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from registry.records.labelling import Labelling
from registry.records.record import format_minute, parse_record
from registry.reports.archive.agreement import Agreement
from registry.reports.labels import AUDITOR, NO_LABEL, LabelStatement, SiteLabel, settle
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id, parse_site_id

_Key = tuple[int, str]  # site, auditor's verifier key


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Labelling that an auditor signed, and the entry and minute of its record."""

    index: int
    minute: str
    labelling: Labelling


@dataclass(slots=True, kw_only=True)
class LabelAgreement(Agreement):
    """Agreement of labels with statements of auditors.

    labels: of each site the newest of each author by `end`. size: leaves that the
    archive was made from. known: the auditors whose labels may count; empty: any who
    signs. statements: how many were found to stand behind a label. auditors: how many
    labels of each count as his.
    """

    end: datetime
    size: int
    labels: Iterable[tuple[int, list[LabelStatement]]]
    known: Collection[str] = ()
    statements: int = 0
    auditors: Counter[str] = field(default_factory=Counter)
    _newest: dict[_Key, list[Statement]] = field(default_factory=dict)
    _at_the_end: dict[_Key, list[Statement]] = field(default_factory=dict)

    def visit(self, index: int, entry: bytes) -> None:
        if b'"kind":"label"' not in entry or index >= self.size:
            return
        members = parse_record(entry)
        end, minute = format_minute(self.end), str(members["t"])
        if members["kind"] != "label" or minute > end:
            return
        site, auditor = str(members["site"]), str(members["auditor"])
        labelling = Labelling.parse(members)
        statement = Statement(index=index, minute=minute, labelling=labelling)
        key = parse_site_id(site), auditor
        if minute == end:  # whether before or behind the instant the log does not say
            self._at_the_end.setdefault(key, []).append(statement)
        else:
            self._keep(key, statement)

    def finish(self, sites: Iterable[SiteDisclosure]) -> None:
        """sites: as the report takes them."""
        settled: dict[int, SiteLabel] = {}
        for site_id, labels in self.labels:
            settled[site_id] = settle(labels, self.end)
            for label in labels:
                self._look_at(site_id, label)
        for (site_id, auditor), (statement, *_) in self._newest.items():
            at = f"entry {statement.index}, what {auditor} says of site"
            self.differ(f"{at} {format_site_id(site_id)}, is not in the archive")
        for site in sites:
            counting = settled.get(parse_site_id(site.site_id), NO_LABEL)
            for difference in _unsettled(site, counting):
                self.differ(difference)

    def _look_at(self, site_id: int, label: LabelStatement) -> None:
        at = f"the label of site {format_site_id(site_id)} by {label.stated_by}"
        if label.valid_from > self.end:
            self.differ(f"{at} was not on record before the window ended")
        if label.kind == AUDITOR:
            self.auditors[label.stated_by] += 1
            self._hold(site_id, label, at)

    def _keep(self, key: _Key, statement: Statement) -> None:
        """The newest by the auditor's clock; where several are, any of them may count."""
        newest = self._newest.setdefault(key, [])
        if newest and newest[0].labelling.stated_at > statement.labelling.stated_at:
            return
        if newest and newest[0].labelling.stated_at < statement.labelling.stated_at:
            newest.clear()
        newest.append(statement)

    def _hold(self, site_id: int, label: LabelStatement, at: str) -> None:
        key = site_id, label.stated_by
        if self.known and label.stated_by not in self.known:
            self.differ(f"{at} is of an auditor who was not named")
        required = self._newest.pop(key, [])
        candidates = required + self._at_the_end.get(key, [])
        if not candidates:
            self.differ(f"{at} is in the archive, and no statement of it in the log")
            return
        unlike = [list(differing(label, candidate)) for candidate in candidates]
        if [] in unlike:
            self.statements += 1
            return
        nearest = min(range(len(unlike)), key=lambda number: len(unlike[number]))
        names = ", ".join(unlike[nearest])
        self.differ(f"{at} differs from entry {candidates[nearest].index} in: {names}")


def differing(label: LabelStatement, statement: Statement) -> Iterator[str]:
    """Names of what the archive has otherwise than it was signed and logged."""
    labelling, own, stated = statement.labelling, label.label, statement.labelling.label
    for name, shown, signed in (
        ("size", own.size, stated.size),
        ("independence", own.independence, stated.independence),
        ("chain", own.chain, stated.chain),
        ("commission", own.commission_percent, stated.commission_percent),
        ("day observed", label.observed_on, labelling.observed_on),
        ("time of signing", label.stated_at, labelling.stated_at),
        ("source", label.source, labelling.source_digest),
        ("minute on record", format_minute(label.valid_from), statement.minute),
    ):
        if shown != signed:
            yield f"{name} ({shown}, signed was {signed})"


def _unsettled(site: SiteDisclosure, label: SiteLabel) -> Iterator[str]:
    """Yield how the published site differs. label: which counts by its sources."""
    for name, shown, counts in (
        ("size", site.size, label.size or "unknown"),
        ("independence", site.independence, label.independence or "unknown"),
        ("commission", site.commission_percent, label.commission_percent),
    ):
        if shown != counts:
            difference = f"site {site.site_id} has the {name} {shown} in the archive"
            yield f"{difference}, and by its labels {counts} counts"
