"""One publisher, one voice: near-duplicate sites of a registrable domain share a place.

Within a publisher, sites are taken by their id; each joins the first leader whose words
are nearly its own, or leads a place itself. A publisher has a limited number of places;
past it a site joins the leader most like it. So the grouping depends on nothing but the
set of sites, and costs no more than sites times places.
"""

from collections import defaultdict
from collections.abc import Sequence

from registry.ranking.capability_depth import is_near_duplicate
from registry.ranking.policy import Policy

Terms = frozenset[str]


def leaders_of(
    publishers: Sequence[int], terms: Sequence[Terms], policy: Policy
) -> list[int]:
    """For each site the position of the one whose place it shares: itself if it leads.

    publishers, terms: one a site, in the order of the sites' ids.
    """
    by_publisher: dict[int, list[int]] = defaultdict(list)
    for position, publisher in enumerate(publishers):
        by_publisher[publisher].append(position)
    leaders = list(range(len(terms)))
    for group in by_publisher.values():
        if len(group) > 1:
            _join(group, terms, leaders, policy)
    return leaders


def _join(
    group: Sequence[int], terms: Sequence[Terms], leaders: list[int], policy: Policy
) -> None:
    leading: dict[Terms, int] = {}
    known: dict[Terms, int] = {}  # copies are found without comparing
    for position in group:
        own = terms[position]
        if own not in known:
            known[own] = _leader_for(own, leading, position, policy)
            if known[own] == position:
                leading[own] = position
        leaders[position] = known[own]


def _leader_for(
    own: Terms, leading: dict[Terms, int], position: int, policy: Policy
) -> int:
    for terms, leader in leading.items():
        if is_near_duplicate(own, terms, policy.duplicate_site_bp):
            return leader
    if len(leading) < policy.publisher_places_max:
        return position
    return leading[max(leading, key=lambda terms: len(terms & own))]
