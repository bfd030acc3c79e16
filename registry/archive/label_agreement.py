"""Whether the labels of an archive are those that auditors signed, and those that count.

The log holds each statement of an auditor whole but for the text of its source. What a
site's documents and its registration say stands in no record; of these only the rule
that settles who is right can be held against what the archive tells.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from registry.audit.labelling import Labelling, parse_labelling, verify_labelling
from registry.audit.record import format_minute, parse_record
from registry.errors import RegistryError
from registry.fairness.labels import (
    AUDITOR,
    UNTOLD,
    SiteLabel,
    ToldLabel,
    settle,
)
from registry.fairness.window.observation import SiteDisclosure
from registry.sites.identifier import parse_site_id, spell_site_id

MAX_DIFFERENCES = 100

_Key = tuple[int, str]  # site, auditor's verifier key


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What an auditor signed, and the entry and minute at which it is on record."""

    index: int
    minute: str
    said: Labelling


@dataclass(slots=True, kw_only=True)
class LabelAgreement:
    """Feed it every entry of a sound log by `visit`, then ask `finish`.

    told: of each site the newest word of each teller by `end`. size: leaves that the
    archive was made from. known: the auditors whose labels may count; empty: any who
    signs. statements: how many were found to stand behind a label. auditors: how many
    labels of each count as told by him. differences: sentences.
    """

    end: datetime
    size: int
    told: Iterable[tuple[int, list[ToldLabel]]]
    known: Collection[str] = ()
    statements: int = 0
    auditors: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
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
        try:
            said = verify_labelling(parse_labelling(members))
        except RegistryError as refused:
            told = f"entry {index}, a label of site {site} by {auditor}, is not signed"
            self._tell(f"{told} by this key: {refused}")
            return
        statement = Statement(index=index, minute=minute, said=said)
        key = parse_site_id(site), auditor
        if minute == end:  # whether before or behind the instant the log does not tell
            self._at_the_end.setdefault(key, []).append(statement)
        else:
            self._keep(key, statement)

    def finish(self, sites: Iterable[SiteDisclosure]) -> list[str]:
        """All differences; at most MAX_DIFFERENCES. sites: as the report takes them."""
        settled: dict[int, SiteLabel] = {}
        for site_id, several in self.told:
            settled[site_id] = settle(several, self.end)
            for one in several:
                self._look_at(site_id, one)
        for (site_id, auditor), (statement, *_) in self._newest.items():
            at = f"entry {statement.index}, what {auditor} says of site"
            self._tell(f"{at} {spell_site_id(site_id)}, is not in the archive")
        for site in sites:
            label = settled.get(parse_site_id(site.site_id), UNTOLD)
            for told in _unsettled(site, label):
                self._tell(told)
        return self.differences

    def _look_at(self, site_id: int, told: ToldLabel) -> None:
        at = f"the label of site {spell_site_id(site_id)} by {told.told_by}"
        if told.valid_from > self.end:
            self._tell(f"{at} was not on record before the window ended")
        if told.kind == AUDITOR:
            self.auditors[told.told_by] += 1
            self._hold(site_id, told, at)

    def _keep(self, key: _Key, statement: Statement) -> None:
        """The newest by the auditor's clock; where several are, any of them may count."""
        kept = self._newest.setdefault(key, [])
        if kept and kept[0].said.told_at > statement.said.told_at:
            return
        if kept and kept[0].said.told_at < statement.said.told_at:
            kept.clear()
        kept.append(statement)

    def _hold(self, site_id: int, told: ToldLabel, at: str) -> None:
        key = site_id, told.told_by
        if self.known and told.told_by not in self.known:
            self._tell(f"{at} is of an auditor who was not named")
        required = self._newest.pop(key, [])
        candidates = required + self._at_the_end.get(key, [])
        if not candidates:
            self._tell(f"{at} is in the archive, and no statement of it in the log")
            return
        unlike = [list(differing(told, one)) for one in candidates]
        if [] in unlike:
            self.statements += 1
            return
        nearest = min(range(len(unlike)), key=lambda place: len(unlike[place]))
        names = ", ".join(unlike[nearest])
        self._tell(f"{at} differs from entry {candidates[nearest].index} in: {names}")

    def _tell(self, told: str) -> None:
        if len(self.differences) < MAX_DIFFERENCES:
            self.differences.append(told)


def differing(told: ToldLabel, statement: Statement) -> Iterator[str]:
    """Names of what the archive tells otherwise than it was signed and logged."""
    said = statement.said
    for name, shown, signed in (
        ("size", told.label.size, said.label.size),
        ("independence", told.label.independence, said.label.independence),
        ("chain", told.label.chain, said.label.chain),
        (
            "commission",
            told.label.commission_percent,
            said.label.commission_percent,
        ),
        ("day observed", told.observed_on, said.observed_on),
        ("time of signing", told.told_at, said.told_at),
        ("source", told.source, said.source_digest),
        ("minute on record", format_minute(told.valid_from), statement.minute),
    ):
        if shown != signed:
            yield f"{name} ({shown}, signed was {signed})"


def _unsettled(site: SiteDisclosure, label: SiteLabel) -> Iterator[str]:
    """label: that which counts by what tellers say."""
    for name, shown, counts in (
        ("size", site.size, label.size or "unknown"),
        ("independence", site.independence, label.independence or "unknown"),
        ("commission", site.commission_percent, label.commission_percent),
    ):
        if shown != counts:
            told = f"site {site.site_id} has the {name} {shown} in the archive"
            yield f"{told}, and by its labels {counts} counts"
