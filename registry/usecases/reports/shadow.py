"""Listed sites and recent questions that invariance is tried with, for the auditor.

The queries are people's own: they are used here, and nothing keeps or tells them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from registry.db import labels
from registry.db.engine.engines import Connection
from registry.db.reports import trial_material as invariance
from registry.db.reports.trial_material import RecentRanking
from registry.db.sites import documents, probes
from registry.db.sites import listed_sites as sites
from registry.db.sites.documents import StoredDocument
from registry.index.columns.filters import Filters
from registry.ranking.profile import Profile
from registry.records.disclosure import parse_disclosure
from registry.reports.labels import UNTOLD
from registry.usecases.reports.perturb import MakeProfile, TrialListing
from registry.usecases.reports.try_invariance import Question, Shadow
from registry.usecases.sites.declared import declarations_from
from registry.usecases.sites.list_site import QUALITY_WINDOW, Lister, summarise_probes
from registry.usecases.sites.parse_site import FetchedBody

RANKINGS_MAX = 1_000
SITES_MAX = 1_000


def maker_of(lister: Lister) -> MakeProfile:
    """Return the code that makes profiles when a site is listed; it is not given the rest."""

    def make(listing: TrialListing) -> Profile:
        return lister.profile_of(listing.entry, listing.formats, listing.probes)

    return make


async def cast_shadow(
    connection: Connection,
    lister: Lister,
    now: datetime,
    *,
    rankings: int = RANKINGS_MAX,
    most_sites: int = SITES_MAX,
) -> Shadow:
    """Sites that were eligible for the newest rankings, and others of all."""
    recent = await invariance.recent_rankings(connection, rankings)
    wanted = list(
        dict.fromkeys(site_id for ranking in recent for site_id in ranking.eligible)
    )
    ids = await invariance.listed_ids(connection, wanted, most_sites)
    return Shadow(
        listings=await read_listings(connection, ids, now),
        questions=[question_of(ranking) for ranking in recent],
        make=maker_of(lister),
        encoder=lister.encoder,
        policy=lister.policy,
        now=now,
    )


async def read_listings(
    connection: Connection, site_ids: Sequence[int], now: datetime
) -> list[TrialListing]:
    """Return listings in the order of their hosts."""
    rows = await sites.find_sites(connection, site_ids)
    hosts = sorted(site.host for site in rows.values())
    declared = await sites.find_declared(connection, hosts)
    stored = await documents.documents_of_sites(connection, site_ids)
    probed = await probes.probes_of_sites(connection, site_ids, now - QUALITY_WINDOW)
    counting = await labels.labels_at(connection, now, site_ids)
    return [
        TrialListing(
            entry=entry,
            formats=frozenset(document.format for document in stored[entry.site_id]),
            probes=summarise_probes(probed[entry.site_id]),
            documents=tuple(_body(document) for document in stored[entry.site_id]),
            declarations=declarations_from(declarations),
            size=counting.get(entry.site_id, UNTOLD).size or "unknown",
            independence=counting.get(entry.site_id, UNTOLD).independence or "unknown",
        )
        for entry, declarations in (declared[host] for host in hosts)
    ]


def question_of(recent: RecentRanking) -> Question:
    """Return the question of a ranking of which nothing is erased."""
    values: dict[str, Any] = {
        disclosure.name: disclosure.value
        for disclosure in map(parse_disclosure, recent.disclosures)
    }
    return Question(
        ranking=recent.record_id,
        text=values["query"],
        cell=values["location"],
        filters=Filters.from_record(values["filters"]),
    )


def _body(stored: StoredDocument) -> FetchedBody:
    return FetchedBody(
        asked_url=stored.url,
        url=stored.url,
        is_page="html" in stored.content_type,
        body=stored.body,
        content_type=stored.content_type,
        etag=stored.etag,
        last_modified=stored.last_modified,
        fetched_at=stored.fetched_at,
    )
