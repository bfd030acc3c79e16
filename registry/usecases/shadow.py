"""What invariance is tried with: listed sites and recent questions, read as the auditor.

The queries are people's own: they are used here, and nothing keeps or tells them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from registry.audit.disclosure import parse_disclosure
from registry.db import documents, invariance, labels, probes, sites
from registry.db.documents import StoredDocument
from registry.db.engine import Connection
from registry.db.invariance import RecentRanking
from registry.fairness.labels import UNTOLD
from registry.index.query.constants import Filters
from registry.ranking.profile import Profile
from registry.usecases.declared import declarations_from
from registry.usecases.list_site import QUALITY_WINDOW, Lister, summarise_probes
from registry.usecases.perturb import Listing, MakeProfile
from registry.usecases.try_invariance import Question, Shadow
from registry.usecases.understand import FetchedBody

RANKINGS_MAX = 1_000
SITES_MAX = 1_000


def maker_of(lister: Lister) -> MakeProfile:
    """The code that makes profiles when a site is listed; it is not given the rest."""

    def make(listing: Listing) -> Profile:
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
    wanted = list(dict.fromkeys(one for each in recent for one in each.eligible))
    ids = await invariance.listed_ids(connection, wanted, most_sites)
    return Shadow(
        listings=await read_listings(connection, ids, now),
        questions=[question_of(one) for one in recent],
        make=maker_of(lister),
        encoder=lister.encoder,
        policy=lister.policy,
        now=now,
    )


async def read_listings(
    connection: Connection, site_ids: Sequence[int], now: datetime
) -> list[Listing]:
    """In the order of their hosts."""
    found = await sites.find_sites(connection, site_ids)
    hosts = sorted(one.host for one in found.values())
    declared = await sites.find_declared(connection, hosts)
    stored = await documents.documents_of_sites(connection, site_ids)
    probed = await probes.probes_of_sites(connection, site_ids, now - QUALITY_WINDOW)
    counting = await labels.labels_at(connection, now, site_ids)
    return [
        Listing(
            entry=entry,
            formats=frozenset(one.format for one in stored[entry.site_id]),
            probes=summarise_probes(probed[entry.site_id]),
            documents=tuple(_body(one) for one in stored[entry.site_id]),
            declarations=declarations_from(declarations),
            size=counting.get(entry.site_id, UNTOLD).size or "unknown",
            independence=counting.get(entry.site_id, UNTOLD).independence or "unknown",
        )
        for entry, declarations in (declared[host] for host in hosts)
    ]


def question_of(recent: RecentRanking) -> Question:
    """recent: of which nothing is erased."""
    told: dict[str, Any] = {
        one.name: one.value for one in map(parse_disclosure, recent.disclosures)
    }
    return Question(
        ranking=recent.record_id,
        text=told["query"],
        cell=told["location"],
        filters=msgspec.convert(told["filters"], Filters),
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
