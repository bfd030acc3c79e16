"""Checks of a ranking by profiles that are made again."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from registry.auditor.profiles.answer_check import (
    AnswerCheck,
    DisclosedAnswer,
    ProvenProfiles,
)
from registry.auditor.profiles.committed import LATEST, Committed
from registry.auditor.profiles.recomputed_profiles import PAUSE_S, ProfileMaker
from registry.auditor.source import LogSource, LogUnreadable
from registry.errors import RegistryError
from registry.index.columns.hashes import hash_word
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import POLICY_BY_DIGEST
from registry.records.canonical import JsonValue
from registry.records.recomputation import Recomputation
from registry.records.record_fields import Members
from registry.records.rules.calendar_days import instant_of_minute
from registry.sites.gazetteer import Gazetteer
from registry.sites.identifier import format_site_id
from registry.usecases.sites.site_profiler import SiteProfiler

CHECKED = ("words", "factors", "publishers", "eligible sites", "sample")


@dataclass(slots=True)
class ProfileChecks:
    """Checks of a registry's rankings. sample: sites drawn for each. hosts: as served."""

    source: LogSource
    gazetteer: Gazetteer
    sample: int
    hosts: dict[str, str] = field(default_factory=dict)
    _makers: dict[str, ProfileMaker] = field(default_factory=dict)
    _generations: dict[str, Committed] = field(default_factory=dict)

    async def check(
        self, members: Members, values: Mapping[str, JsonValue], seed: bytes | None
    ) -> Recomputation:
        """members: of the record. values: its disclosures, proven."""
        maker = self.maker(str(members["policy"]))
        if maker is None:
            return _nothing("its policy is of another release")
        try:
            answer = DisclosedAnswer.read(values, maker.policy, seed)
        except KeyError as missing:
            return _nothing(f"{missing} is not disclosed")
        except (msgspec.ValidationError, ValueError) as error:
            return _differs(f"a disclosure: {error}")
        try:
            committed = await self._committed(str(members["snap"]))
            at = instant_of_minute(str(members["t"]))
            return await self._checked(answer, committed, maker, at)
        except LogUnreadable as unreadable:
            return _nothing(str(unreadable))
        except RegistryError as refused:
            return _differs(f"the generation: {refused.problem.detail}")

    async def _checked(
        self,
        answer: DisclosedAnswer,
        committed: Committed,
        maker: ProfileMaker,
        at: datetime,
    ) -> Recomputation:
        await committed.fetch_words(map(hash_word, answer.terms))
        drawn = await committed.draw_sites(self.sample)
        recomputed = await maker.make(committed, [*answer.named_ids, *drawn])
        self.hosts |= {own.id: own.host for own in recomputed.materials.values()}
        check = AnswerCheck(
            answer,
            ProvenProfiles(
                policy=maker.policy,
                profiles=recomputed.profiles,
                drawn=drawn,
                sites=committed.site_count,
                counts=committed.counts,
            ),
        )
        tests = [check.weights, check.words, check.factors, check.publishers]
        tests += [check.copies, check.left_out, check.eligible, check.sample]
        differing = [difference for test in tests for difference in test()]
        own = sum(site_id in recomputed.profiles for site_id in drawn)
        few = f"{own} of them drawn from {committed.site_count}"
        profiles = f"profiles of {len(recomputed.profiles)} sites, {few}"
        missing = [f"a profile: {reason}" for reason in recomputed.missing]
        missing += await self._newly_listed(committed)
        if answer.sample is None:
            missing.append("sample: the record does not name it")
        return Recomputation(
            checked=(profiles, *CHECKED),
            differences=(*recomputed.differences, *recomputed.untimely(at), *differing),
            missing=tuple(missing),
        )

    async def _newly_listed(self, committed: Committed) -> list[str]:
        """Draw sites from the index of now: who is left out of another is not drawn there."""
        newest = await self._committed(LATEST)
        drawn = await newest.draw_sites(self.sample)
        await committed.fetch_sites(drawn)
        absent = [site for site in drawn if site not in committed.digests]
        names = map(format_site_id, absent)
        return [f"{name}: in the index of now, and not in that one" for name in names]

    async def _committed(self, name: str) -> Committed:
        """Return a generation, proven as far as it was needed; the last two stay."""
        committed = self._generations.pop(name, None)
        committed = committed or await Committed.fetch(self.source, name)
        self._generations = {**dict([*self._generations.items()][-1:]), name: committed}
        return committed

    def maker(self, digest: str) -> ProfileMaker | None:
        """Return the maker under a policy; None if it is of another release."""
        policy = POLICY_BY_DIGEST.get(digest)
        if digest not in self._makers and policy is not None:
            self.use(SiteProfiler(self.gazetteer, load_encoder(policy), policy))
        return self._makers.get(digest)

    def use(self, profiler: SiteProfiler, pause_s: float = PAUSE_S) -> None:
        """Take the profiler for profiles of its policy."""
        maker = ProfileMaker(self.source, profiler, pause_s)
        self._makers[profiler.policy.digest] = maker


def _nothing(reason: str) -> Recomputation:
    return Recomputation(checked=(), differences=(), missing=(f"profiles: {reason}",))


def _differs(difference: str) -> Recomputation:
    return Recomputation(checked=("profiles",), differences=(difference,), missing=())
