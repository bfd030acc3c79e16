"""Profiles made again by an outsider, of what the registry says they are made of."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import msgspec

from registry.auditor.profiles.committed import LATEST, Committed
from registry.auditor.source import LogSource, LogUnreadable
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile
from registry.sites.identifier import format_site_id
from registry.usecases.sites.profile_material import (
    MAKES_NONE,
    ProfileMaterial,
    find_profile,
    oldest_left_out,
    unprobed_profiles,
)
from registry.usecases.sites.site_profiler import SiteProfiler

AT_ONCE = 8
TRIES, PAUSE_S = 4, 1.0
"""A site that changes this very second is in the database before it is in the index."""
COUNTED_WITHIN = timedelta(hours=1)
"""Time until a probe or a visit counts, where an index follows within seconds: later is a choice."""


@dataclass(slots=True)
class RecomputedProfiles:
    """profiles: by site, that the generation commits to and their material gives.

    left_out: when the oldest probe was made that counts in it since. materials: as served
    last. differences: of those whose material gives another. missing: why others could not
    be made.
    """

    profiles: dict[int, Profile] = field(default_factory=dict)
    left_out: dict[int, datetime | None] = field(default_factory=dict)
    materials: dict[int, ProfileMaterial] = field(default_factory=dict)
    differences: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        word = "[red]not the same[/]" if self.differences else "[green]the same[/]"
        return "not made" if self.missing else word

    def visited_at(self, site_id: int) -> datetime:
        """Return when its documents were fetched last; an index follows in a while."""
        documents = self.materials[site_id].documents
        newest = max((document.fetched_at for document in documents), default=0)
        return datetime.fromtimestamp(min(max(0, newest), 2**35), UTC)

    def untimely(self, at: datetime) -> Iterator[str]:
        """Yield the profiles that are not of the time of an answer. at: of its record."""
        for site_id, profile in self.profiles.items():
            name, due = format_site_id(site_id), self.left_out.get(site_id)
            if due and due + COUNTED_WITHIN < at:
                yield f"{name}: its probe of {due:%Y-%m-%dT%H:%MZ} does not count in it"
            newest = max(profile.changed_at, profile.probes.observed_at or at)
            if newest > at + COUNTED_WITHIN:
                yield f"{name}: it holds what was seen at {newest:%Y-%m-%dT%H:%MZ}"


@dataclass(slots=True)
class ProfileMaker:
    """Makes profiles as the registry does."""

    source: LogSource
    profiler: SiteProfiler
    pause_s: float = PAUSE_S
    _slots: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(AT_ONCE)
    )
    _known: dict[bytes, tuple[Profile, datetime | None]] = field(default_factory=dict)
    _unprobed: dict[str, Profile] = field(default_factory=dict)

    @property
    def policy(self) -> Policy:
        return self.profiler.policy

    async def make(
        self, committed: Committed, site_ids: Iterable[int]
    ) -> RecomputedProfiles:
        """Profiles that were made before are not asked for again.

        Raises: LogUnreadable; Refused where the generation proves nothing.
        """
        wanted = list(dict.fromkeys(site_ids))
        await committed.fetch_sites(wanted)
        recomputed = RecomputedProfiles()
        known = {
            site_id: self._known[digest]
            for site_id in wanted
            if (digest := committed.digests.get(site_id)) in self._known
        }
        recomputed.profiles |= {site: profile for site, (profile, _) in known.items()}
        recomputed.left_out |= {site: due for site, (_, due) in known.items()}
        listed = [site for site in wanted if site in committed.digests]
        open_sites = [site for site in listed if site not in known]
        recomputed.differences += [
            f"{format_site_id(site)}: the generation does not have it"
            for site in wanted
            if site not in committed.digests
        ]
        for left in reversed(range(TRIES)):
            if not open_sites:
                break
            open_sites = await self._try(committed, open_sites, recomputed)
            if open_sites and left:
                await asyncio.sleep(self.pause_s)
        self._known |= {
            committed.digests[site]: (own, recomputed.left_out[site])
            for site, own in recomputed.profiles.items()
        }
        for site_id in open_sites:
            name, visited_at = format_site_id(site_id), recomputed.visited_at(site_id)
            if abs(datetime.now(UTC) - visited_at) < COUNTED_WITHIN:
                of = f"its visit of {visited_at:%Y-%m-%dT%H:%MZ}"
                recomputed.missing.append(
                    f"{name}: the index has not followed {of} yet"
                )
            else:
                of = "its documents and probes give"
                recomputed.differences.append(f"{name}: its profile is not what {of}")
        return recomputed

    async def _try(
        self,
        committed: Committed,
        site_ids: Sequence[int],
        recomputed: RecomputedProfiles,
    ) -> list[int]:
        """Return the sites whose material gives neither this profile nor that of now."""
        materials = await asyncio.gather(*map(self._material, site_ids))
        self._make_unprobed([own for own in materials if not isinstance(own, str)])
        open_sites = []
        for site_id, material in zip(site_ids, materials, strict=True):
            if isinstance(material, str):
                recomputed.missing.append(f"{format_site_id(site_id)}: {material}")
                continue
            recomputed.materials[site_id] = material
            if profile := self._find(material, committed.digests[site_id]):
                recomputed.profiles[site_id] = profile
                recomputed.left_out[site_id] = oldest_left_out(material, profile)
            elif await self._has_changed(committed, material, site_id):
                recomputed.missing.append(f"{material.host}: it has changed since")
            else:
                open_sites.append(site_id)
        return open_sites

    async def _material(self, site_id: int) -> ProfileMaterial | str:
        """Return why there is none where there is none."""
        name = format_site_id(site_id)
        try:
            async with self._slots:
                answer = await self.source.get_json(f"/v1/profiles/{name}")
            material = msgspec.convert(answer, ProfileMaterial)
        except (LogUnreadable, msgspec.ValidationError) as error:
            return str(error)
        return material if material.id == name else "another site was served"

    def _make_unprobed(self, materials: Sequence[ProfileMaterial]) -> None:
        """Make them at once; where one makes no profile, `_find` makes each by itself."""
        self._unprobed.clear()
        with suppress(*MAKES_NONE):
            profiles = unprobed_profiles(materials, self.profiler)
            self._unprobed |= zip((own.id for own in materials), profiles, strict=True)

    def _find(self, material: ProfileMaterial, digest: bytes) -> Profile | None:
        bare = self._unprobed.get(material.id)
        try:
            return find_profile(material, self.profiler, digest, bare)
        except MAKES_NONE:
            return None  # what makes no profile makes not this one

    async def _has_changed(
        self, committed: Committed, material: ProfileMaterial, site_id: int
    ) -> bool:
        """Return whether the material gives the profile of now, which is another."""
        newest = await Committed.fetch(self.source, LATEST)
        await newest.fetch_sites([site_id])
        before = committed.digests[site_id]
        digest = newest.digests.get(site_id, before)
        return digest != before and self._find(material, digest) is not None
