"""A shadow index: one thing of some sites is otherwise, and nothing of it is served.

What is listed is made into profiles, indexed and searched by the code that does so in
earnest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random

from registry.index.building.builder import Builder
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import search
from registry.ranking.policy import Policy
from registry.ranking.profile import Profile
from registry.ranking.quality import ProbeFigures
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
MOVES = frozenset({"nearer", "farther"})


def perturb(
    name: str,
    listings: Sequence[TrialListing],
    profiles: Mapping[int, Profile],
    *,
    make: MakeProfile,
    policy: Policy,
    draw: Draw,
) -> tuple[Index, frozenset[int]]:
    """Return the index with one thing otherwise, and the ids of whom that concerns.

    listings: those that are changed; where a site joins, the first is what it is like.
    profiles: of all sites, as they are.
    """
    if name == JOINS:
        changed = [make(_stranger(draw.rng, listings[0]))]
    else:
        changed = [make(PERTURB[name](listing, draw)) for listing in listings]
    ids = frozenset(profile.site_id for profile in changed)
    others = {**profiles, **{profile.site_id: profile for profile in changed}}
    if name == REORDERED:
        return _built_in_turns([*others.values()], policy, draw.rng), ids
    return Builder.build(others.values(), policy).index, ids


def ask(index: Index, query: Query, *, now: datetime, seed: bytes) -> Page:
    """Return the first page. seed: the same for the same question, so that ties fall alike."""
    result = search(index, query, now=now, seed=seed, k=DEPTH)
    return Page(
        places=tuple(
            ResultSlot(site_id=row.site_id, score=row.score, behind=row.sharing)
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
