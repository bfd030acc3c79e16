"""Profiles of sites, of what their entries say. No I/O: an outsider makes them as well."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, Subject, make_profiles
from registry.ranking.quality import ProbeFigures
from registry.ranking.words.lexicon import lexicon_of
from registry.sites.entry import SiteEntry
from registry.sites.gazetteer import Gazetteer


@dataclass(frozen=True, slots=True)
class SiteProfiler:
    """Making of profiles, with tables that are loaded once a process.

    allow_loopback: of a registry for development, for materials of its sites.
    """

    gazetteer: Gazetteer
    encoder: Encoder
    policy: Policy
    allow_loopback: bool = False

    def __post_init__(self) -> None:
        lexicon_of(self.encoder, self.policy)  # not in the middle of the first job

    def profile_of(
        self, entry: SiteEntry, formats: Iterable[str], figures: ProbeFigures
    ) -> Profile:
        subject = subject_of(entry, formats, figures)
        (profile,) = make_profiles([subject], encoder=self.encoder, policy=self.policy)
        return profile


def make_profiler(policy: Policy) -> SiteProfiler:
    return SiteProfiler(Gazetteer.load(), load_encoder(policy), policy)


def subject_of(
    entry: SiteEntry, formats: Iterable[str], figures: ProbeFigures
) -> Subject:
    return Subject(
        site=entry.site,
        site_id=entry.site_id,
        publisher=publisher_of(entry.registrable_domain),
        host=entry.host,
        registrable_domain=entry.registrable_domain,
        formats=formats,
        place=entry.place,
        probes=figures,
        changed_at=entry.changed_at.replace(microsecond=0),
        conformance=entry.conformance,
    )


def publisher_of(registrable_domain: str) -> int:
    """An opaque 63-bit number, so that the ranker groups sites without names."""
    digest = hashlib.sha256(b"publisher\0" + registrable_domain.encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
