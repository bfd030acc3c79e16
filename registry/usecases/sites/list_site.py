"""Listing a site: its entry, its documents and its ranking profile, in one step."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

import structlog

from registry.db import labels
from registry.db.engine.engines import Connection, Engine
from registry.db.engine.prepared import Gathered
from registry.db.sites import documents, notices, probes, profiles
from registry.db.sites import listed_sites as sites
from registry.db.sites.notices import Notice
from registry.db.sites.profiles import StoredProfile
from registry.formats.document import StoredDocument
from registry.formats.offer import last_change
from registry.index.columns.features import encode_features
from registry.index.columns.rows import rows_of
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile, make_profiles, parse_profile
from registry.ranking.quality import (
    QUALITY_WINDOW,
    StoredProbe,
    quality,
    summarise_probes,
)
from registry.reports.labels import DOCUMENT
from registry.sites.entry import SiteEntry, Unlisted
from registry.sites.gazetteer import Gazetteer
from registry.sites.label import Label
from registry.sites.place import decide_place
from registry.usecases.ids import Clock
from registry.usecases.sites.declared import label_documented
from registry.usecases.sites.notices import document_notices, make_notice, place_notices
from registry.usecases.sites.parse_site import ParsedSite
from registry.usecases.sites.site_profiler import SiteProfiler, subject_of

RENEWED_AT_ONCE = 500

_WHY_UNLISTED: dict[Unlisted, str] = {
    "documents_missing": "Visits of three days found no document that counts.",
    "documents_expired": "The last of its documents is past its own expires_at.",
}
_BACK = (
    "Serve a sound document at its address. It is listed again by the next visit, which "
    "POST /v1/sites/HOST/refresh brings forward."
)

logger = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteUpdate:
    """Update of a site that is to be listed. entry: as it stands, locked.

    notices: of the same visit, placed before those of the listing.
    """

    entry: SiteEntry
    understood: ParsedSite
    declarations: dict[str, Any]
    now: datetime
    notices: Sequence[Notice] = ()


@dataclass(frozen=True, slots=True)
class Lister(SiteProfiler):
    """Listing of sites, and of their profiles."""

    async def list_sites(
        self, connection: Connection, several: Sequence[SiteUpdate]
    ) -> list[SiteEntry]:
        """Write what was understood of sites, each once, in as few round trips as of one.

        `changed_at` moves only with what agents can do.
        """
        if not several:
            return []
        site_ids = [update.entry.site_id for update in several]
        stored = await documents.documents_of_sites(connection, site_ids)
        writes, cooling_days = Gathered(), self.policy.place_cooling_days
        listed, changed = [], []
        for update in several:
            entry = self._listed(update)
            before = {document.url: document for document in stored[entry.site_id]}
            await sites.save_site(writes, entry, update.declarations)
            await _save_own_label(writes, update)
            await documents.save_documents(
                connection,
                entry.site_id,
                update.understood.documents,
                update.now,
                writes=writes,
                before=before,
            )
            await notices.gather_notices(
                writes,
                entry.site_id,
                [
                    *_notices_of(update, before),
                    *place_notices(update.entry, entry, cooling_days),
                ],
                update.now,
            )
            listed.append(entry)
            formats = {document.format for document in update.understood.documents}
            if not (
                _stands(update.entry, entry, formats, before.values())
                and await self._has_profile(connection, entry)
            ):
                changed.append((entry, formats))
        await self._save_profiles(connection, changed, several[0].now, writes)
        await writes.carry_out(connection)
        return listed

    def _listed(self, update: SiteUpdate) -> SiteEntry:
        entry, understood = update.entry, update.understood
        placed = decide_place(
            entry.place_state,
            self.gazetteer.locate(understood.site.location),
            update.now,
            cooling_days=self.policy.place_cooling_days,
        )
        return replace(
            entry,
            site=understood.site,
            conflicts=understood.listing.conflicts,
            **placed._asdict(),
            conformance="strict" if understood.is_strict else "tolerated",
            updated_at=update.now,
            changed_at=last_change(
                *(entry.site, understood.site, entry.changed_at, update.now),
                credit_days=self.policy.freshness_credit_days,
            ),
            semantic_hash=understood.meaning,
            unlisted_for=None,
        )

    async def unlist_site(
        self, connection: Connection, entry: SiteEntry, reason: Unlisted, now: datetime
    ) -> None:
        """Unlist a site: its entry stays public, but no answer has it meanwhile.

        A document that has run out stays with it, one that is gone does not.
        """
        await sites.note_unlisted(connection, entry.site_id, reason, now)
        await profiles.unlist(connection, entry.site_id)
        if reason == "documents_missing":
            await documents.retire_documents(connection, entry.site_id, now)
        notice = make_notice("unlisted", _WHY_UNLISTED[reason], fix=_BACK)
        await notices.save_notices(connection, entry.site_id, [notice], now)

    async def note_probe(
        self, connection: Connection, site_id: int, probe: StoredProbe
    ) -> None:
        """Write a probe and let it count in the site's quality."""
        await probes.save_probe(connection, site_id, probe)
        body = await profiles.lock_profile(connection, site_id, self.policy.digest)
        if body is None:
            return  # the renewal of the profile counts the probe
        since = probe.observed_at - 2 * QUALITY_WINDOW
        results = await probes.probes_since(connection, site_id, since)
        figures = summarise_probes(results)
        profile = replace(
            parse_profile(body), probes=figures, quality=quality(figures, self.policy)
        )
        (stored,) = stored_profiles([profile], self.policy)
        await profiles.change_profile(connection, site_id, stored)

    async def renew_profiles(
        self, engine: Engine, now: Clock, *, at_once: int = RENEWED_AT_ONCE
    ) -> None:
        """Compute each profile of another policy again, from the stored site.

        Any number may do so at a time, beside crawls; what was done stays done.
        at_once: hosts read at a time; each is a transaction of its own.
        """
        renewed, after = 0, ""
        while hosts := await self._hosts_to_renew(engine, after, at_once):
            for host in hosts:
                async with engine.begin() as connection:
                    renewed += await self._renew(connection, host, now())
            after = hosts[-1]
        if renewed:
            logger.info("profiles_renewed", count=renewed, policy=self.policy.digest)

    async def _hosts_to_renew(
        self, engine: Engine, after: str, limit: int
    ) -> list[str]:
        async with engine.connect() as connection:
            return await profiles.hosts_of_other_policies(
                connection, self.policy.digest, after=after, limit=limit
            )

    async def _renew(self, connection: Connection, host: str, now: datetime) -> bool:
        """Renew a profile; return False where another process came first."""
        entry = await sites.lock_site(connection, host)
        policy = self.policy.digest
        if entry is None or await profiles.lock_profile(
            connection, entry.site_id, policy
        ):
            return False
        stored = await documents.current_documents(connection, entry.site_id)
        writes = Gathered()
        formats = {document.format for document in stored}
        await self._save_profiles(connection, [(entry, formats)], now, writes)
        await writes.carry_out(connection)
        return True

    async def _has_profile(self, connection: Connection, listed: SiteEntry) -> bool:
        """Return whether a profile of this policy is stored, listed or not as the entry."""
        return await profiles.is_current(
            connection, listed.site_id, self.policy.digest, listed=listed.is_listed
        )

    async def _save_profiles(
        self,
        connection: Connection,
        several: Sequence[tuple[SiteEntry, set[str]]],
        now: datetime,
        writes: Gathered,
    ) -> None:
        """several: each with the formats of its documents."""
        if not several:
            return
        results = await probes.probes_of_sites(
            connection,
            [entry.site_id for entry, _ in several],
            now - 2 * QUALITY_WINDOW,
        )
        subjects = [
            subject_of(entry, formats, summarise_probes(results[entry.site_id]))
            for entry, formats in several
        ]
        new = make_profiles(subjects, encoder=self.encoder, policy=self.policy)
        stored = stored_profiles(new, self.policy)
        for (entry, _), profile in zip(several, stored, strict=True):
            await profiles.save_profile(
                writes, entry.site_id, profile, listed=entry.is_listed
            )


@cache
def make_lister(policy: Policy, *, allow_loopback: bool = False) -> Lister:
    """Make the lister of a policy, once: it takes a second and memory."""
    gazetteer, encoder = Gazetteer.load(), load_encoder(policy)
    return Lister(gazetteer, encoder, policy, allow_loopback)


def stored_profiles(
    profiles_: Sequence[Profile], policy: Policy
) -> list[StoredProfile]:
    """Return profiles that were made under the policy as they are stored."""
    rows = rows_of(profiles_, policy)
    return [
        StoredProfile(profile=rows.bodies[n], features=features, policy=policy.digest)
        for n, features in enumerate(encode_features(rows, policy))
    ]


async def _save_own_label(writes: Gathered, update: SiteUpdate) -> None:
    """Note the label that documents declare for reports, where they do or did."""
    label = label_documented(update.understood.listing.site)
    if label == label_documented(update.entry.site) == Label():
        return
    await labels.save_own_label(
        writes,
        update.entry.site_id,
        label,
        stated_by=DOCUMENT,
        source=update.understood.documents[0].url,
        now=update.now,
    )


def _notices_of(
    update: SiteUpdate, before: Mapping[str, StoredDocument]
) -> list[Notice]:
    """Make the notices of an update. before: its current documents until now, by URL."""
    understood = update.understood
    if update.entry.unlisted_for is not None:
        listing_notices = [make_notice("listed_again", "A document counts again.")]
    else:
        listing_notices = document_notices(
            before, understood.documents, refused=understood.refused_urls
        )
    return [*update.notices, *listing_notices]


def _stands(
    before: SiteEntry,
    entry: SiteEntry,
    formats: set[str],
    stored: Iterable[StoredDocument],
) -> bool:
    """Return whether a profile made before still holds."""
    return (
        entry.site == before.site
        and entry.place == before.place
        and entry.conformance == before.conformance
        and formats == {document.format for document in stored}
    )
