"""A shadow index: one thing of some sites is otherwise, and nothing of it is served.

What is listed is made into profiles, indexed and searched by the code that does so in
earnest.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from random import Random

from registry.index.building.builder import Builder, uncommitted_index
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import search
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
from registry.ranking.rank_score import RankScale
from registry.reports.invariance import Page, ResultSlot
from registry.sites.action import Action
from registry.sites.identifier import MAX_SITE_NUMBER
from registry.sites.site import Site
from registry.usecases.reports.perturb import (
    PERTURB,
    Draw,
    MakeProfile,
    TrialListing,
    coin_word,
)

DEPTH = 50  # places of an answer that are compared
JOINS, REORDERED = "irrelevant_site", "registration_order"
IDENTITY = "identity"
MOVES = frozenset({"nearer", "farther"})


@dataclass(frozen=True, slots=True)
class Perturbed:
    """Index with one thing otherwise. changed: ids of whom that concerns, as they were.

    former: ids as they were, by those that they have now, where these are others.
    """

    index: Index
    changed: frozenset[int]
    former: Mapping[int, int]


def perturb(
    name: str,
    listings: Sequence[TrialListing],
    profiles: Mapping[int, Profile],
    *,
    make: MakeProfile,
    policy: Policy,
    draw: Draw,
) -> Perturbed:
    """Return the index with one thing otherwise.

    listings: those that are changed; where a site joins, the first is what it is like.
    profiles: of all sites, as they are.
    """
    if name == JOINS:
        joining = make(_stranger(draw.rng, listings[0]))
        changed, ids = [joining], [joining.site_id]
    else:
        if name == IDENTITY:
            listings = _alone(listings, profiles)
        changed = [make(PERTURB[name](listing, draw)) for listing in listings]
        ids = [listing.entry.site_id for listing in listings]
    former = {
        profile.site_id: site_id
        for profile, site_id in zip(changed, ids, strict=True)
        if profile.site_id != site_id
    }
    others = {
        site_id: profile
        for site_id, profile in profiles.items()
        if site_id not in former.values()
    }
    others |= {profile.site_id: profile for profile in changed}
    if name == REORDERED:
        index = _built_in_turns([*others.values()], policy, draw.rng)
    else:
        index = uncommitted_index(others.values(), policy)
    return Perturbed(index, frozenset(ids), former)


def _alone(
    listings: Sequence[TrialListing], profiles: Mapping[int, Profile]
) -> list[TrialListing]:
    """Return those whose publisher has no other site: the others share places by it."""
    sites = Counter(profile.publisher for profile in profiles.values())
    return [
        listing
        for listing in listings
        if sites[profiles[listing.entry.site_id].publisher] == 1
    ]


def first_page(index: Index, query: Query, *, now: datetime, seed: bytes) -> Page:
    """Return the first page. seed: the same for the same question, so that ties fall alike."""
    result = search(index, query, now=now, seed=seed, k=DEPTH)
    scale = RankScale.of(index.policy)
    return Page(
        slots=tuple(
            ResultSlot(
                site_id=row.site_id,
                score=row.score,
                shown=scale.shown(row.score, row.factors),
                behind=row.sharing,
            )
            for row in result.sites
        ),
        is_whole=not result.has_more,
    )


def _built_in_turns(profiles: list[Profile], policy: Policy, rng: Random) -> Index:
    """Build an index as sites come one after the other."""
    rng.shuffle(profiles)
    half = rng.randint(0, len(profiles))
    builder = Builder.build(profiles[:half], policy)
    return builder.with_changes(profiles[half:], []).index


def _stranger(rng: Random, like: TrialListing) -> TrialListing:
    """A site in words that nobody has."""
    words = [coin_word(rng) for _ in range(8)]
    site = Site(
        name=words[0],
        description=" ".join(words[1:5]),
        actions=(Action(name=words[5], description=" ".join(words[6:])),),
    )
    host = f"{words[0].casefold()}.test"
    entry = replace(
        like.entry,
        site_id=rng.randrange(MAX_SITE_NUMBER),
        host=host,
        registrable_domain=host,
        site=site,
        place=None,
        conflicts=(),
    )
    return TrialListing(entry=entry, formats=frozenset({"wab"}), probes=ProbeFigures())
