"""Agreement of an archive's samples of eligible sites with the seeds that the log fixes.

A ranking's record commits to its sample. Request and secret give the seed by which it was
drawn: who was returned and has a lesser key than one that was drawn is in it, and over
many draws the greatest keys are as large as fair ones.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np

from registry.auditor.profiles.answer_check import SURE
from registry.errors import RegistryError
from registry.index.query.eligible_estimate import PANEL_ROWS
from registry.index.query.sample import KEYS, draw_keys, left_out
from registry.ranking.policy import POLICY_BY_DIGEST, Policy
from registry.records.recomputation import disclosed_seed
from registry.records.rules.conduct_state import CommittedDay
from registry.reports.archive.agreement import Agreement
from registry.reports.archive.archive_rows import ArchivedRanking
from registry.reports.inference.draws import SampleDraw, chance_of
from registry.sites.identifier import format_site_id


class _Entry(msgspec.Struct):
    kind: str
    t: str
    seed: int = -1


_read_entry = msgspec.json.Decoder(_Entry).decode


@dataclass(slots=True, kw_only=True)
class SampleAgreement(Agreement):
    """Agreement of samples with their seeds.

    start, end: minutes of the window. sites: that the archive names. samples: how many
    were held against their seeds.
    """

    start: str
    end: str
    sites: int
    samples: int = 0
    _seed_of: "array[int]" = field(default_factory=lambda: array("q"))
    _lacking: Counter[str] = field(default_factory=Counter)
    _draws: dict[bytes, SampleDraw] = field(default_factory=dict)

    def visit(self, _: int, entry: bytes) -> None:
        """Note the leaf of the seed that a ranking of the window names."""
        if b'"kind":"ranking"' in entry:
            record = _read_entry(entry)
            if record.kind == "ranking" and self.start <= record.t < self.end:
                self._seed_of.append(record.seed)

    def finish(
        self, rows: Iterable[ArchivedRanking], days: Mapping[int, CommittedDay]
    ) -> None:
        """rows: one for each ranking visited, in their order. days: by leaf."""
        for row, leaf in zip(rows, self._seed_of, strict=False):
            if row.sampled:
                self._hold(row, days[leaf])
        if (chance := chance_of([*self._draws.values()])) < SURE:
            drawn = f"fair draws take keys as those of {len(self._draws)} samples"
            self.differ(f"{drawn} in {chance:.1g} of cases")
        for why, count in self._lacking.items():
            self.lack(f"{count} samples: {why}")

    def _hold(self, row: ArchivedRanking, day: CommittedDay) -> None:
        if not row.sample_logged:
            self._lacking["no record commits to them"] += 1
        policy, secret = POLICY_BY_DIGEST.get(row.policy), bytes.fromhex(day.secret)
        if policy is None:
            self._lacking["their policy is of another release"] += 1
        elif not secret:
            self._lacking[f"the secret of {day.day} is not revealed yet"] += 1
        else:
            self._draw(row, secret, policy)

    def _draw(self, row: ArchivedRanking, secret: bytes, policy: Policy) -> None:
        names = ("query", "location", "filters", "request")
        opened = [name for name in names if getattr(row, f"{name}_salt") is not None]
        try:
            values = {name: msgspec.json.decode(getattr(row, name)) for name in opened}
            seed = disclosed_seed(values, secret, policy.canonical_json.decode())
        except (RegistryError, msgspec.MsgspecError, ValueError) as error:
            self.differ(f"ranking {row.id}: what was asked can't be read: {error}")
            return
        if seed is None:
            self._lacking["not all that was asked is in the archive"] += 1
        else:
            self.samples += 1
            self._compare(row, seed, policy.eligible_sample)

    def _compare(self, row: ArchivedRanking, seed: bytes, size: int) -> None:
        is_part = self.sites > PANEL_ROWS
        for site_id in left_out(row.returned, row.sampled, seed, size, is_part=is_part):
            site = f"site {format_site_id(site_id)} was returned"
            self.differ(f"ranking {row.id}: {site} and belongs into the sample")
        if len(row.sampled) < row.eligible and not is_part:
            keys = draw_keys(np.array(row.sampled, np.int64), seed)
            draw = SampleDraw(int(keys.max()) / KEYS, len(row.sampled), row.eligible)
            self._draws.setdefault(seed, draw)
