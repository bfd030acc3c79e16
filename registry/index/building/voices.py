"""One publisher, one voice: near-duplicate sites of a registrable domain share a place.

Within a publisher, sites are taken by their id; each joins the first leader whose words
are nearly its own, or leads a place itself. A publisher has a limited number of places;
past it a site joins the leader most like it. So the grouping depends on nothing but the
set of sites. A site is compared with all leaders at once, and a publisher whose sites
say what they said is not looked at again: nobody's subdomains hold up the others.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.ranking.policy import FULL, Policy

FEW_SITES = 16
"""Of so few each is compared with each leader by itself, which costs less then."""

TermIds = npt.NDArray[np.int64]
FindLeader = Callable[[int], int]
"""From a site's position to that of the one whose place it shares."""


@dataclass(frozen=True, slots=True)
class Voice:
    """What a publisher's sites say, in the order of their ids, and how they share.

    leaders: for each site the position, among these, of the one that leads its place.
    """

    said: tuple[bytes, ...]
    leaders: tuple[int, ...]


def voices_of(
    publishers: Sequence[int],
    said: Sequence[bytes],
    known: Mapping[int, Voice],
    policy: Policy,
) -> dict[int, Voice]:
    """Of each publisher with several sites.

    publishers, said: one a site, in the order of the sites' ids; said: the hashes of
    its words, ascending, as bytes. known: an earlier result under the same policy.
    """
    by_publisher: dict[int, list[bytes]] = defaultdict(list)
    for publisher, own in zip(publishers, said, strict=True):
        by_publisher[publisher].append(own)
    return {
        publisher: _voice(tuple(group), known.get(publisher), policy)
        for publisher, group in by_publisher.items()
        if len(group) > 1
    }


def leaders_of(publishers: Sequence[int], voices: Mapping[int, Voice]) -> list[int]:
    """For each site the position of the one whose place it shares: itself if it leads."""
    leaders = list(range(len(publishers)))
    members: dict[int, list[int]] = defaultdict(list)
    for position, publisher in enumerate(publishers):
        if publisher in voices:
            members[publisher].append(position)
    for publisher, positions in members.items():
        for position, leader in zip(positions, voices[publisher].leaders, strict=True):
            leaders[position] = positions[leader]
    return leaders


def _voice(said: tuple[bytes, ...], known: Voice | None, policy: Policy) -> Voice:
    if known is not None and known.said == said:
        return known
    find = (
        _among_few(said, policy) if len(said) <= FEW_SITES else _at_once(said, policy)
    )
    first: dict[bytes, int] = {}  # copies are found without comparing
    for position, own in enumerate(said):
        if own not in first:
            first[own] = find(position)
    return Voice(said, tuple(first[own] for own in said))


def _among_few(said: tuple[bytes, ...], policy: Policy) -> FindLeader:
    words = [frozenset(memoryview(own).cast("Q")) for own in said]
    leading: list[int] = []

    def find(position: int) -> int:
        own = words[position]
        common = [len(own & words[leader]) for leader in leading]
        for leader, shared in zip(leading, common, strict=True):
            union = len(words[leader]) + len(own) - shared
            if shared * FULL >= policy.duplicate_site_bp * union:
                return leader
        if len(leading) < policy.publisher_places_max:
            leading.append(position)
            return position
        return leading[common.index(max(common))]

    return find


def _at_once(said: tuple[bytes, ...], policy: Policy) -> FindLeader:
    hashes, ids = np.unique(
        np.frombuffer(b"".join(said), np.uint64), return_inverse=True
    )
    ends = np.cumsum([len(own) // hashes.itemsize for own in said])
    terms = np.split(ids, ends[:-1])
    places = _Places(len(hashes), policy)
    return lambda position: places.find(terms[position], position)


class _Places:
    """The places of one publisher: who leads them, with which terms.

    terms, owners: parallel; each leader's terms, and the number of its place.
    """

    def __init__(self, vocabulary: int, policy: Policy) -> None:
        self._policy = policy
        self._marks = np.zeros(vocabulary, np.bool_)
        self._leaders: list[int] = []
        self._sizes = np.empty(0, np.int64)
        self._terms = np.empty(0, np.int64)
        self._owners = np.empty(0, np.int64)

    def find(self, own: TermIds, position: int) -> int:
        """The leader that a site joins: itself in a new place if it is like none."""
        common = self._common(own)
        union = self._sizes + len(own) - common
        # As `is_near_duplicate`, of every leader at once.
        like = np.flatnonzero(common * FULL >= self._policy.duplicate_site_bp * union)
        if len(like):
            return self._leaders[int(like[0])]
        if len(self._leaders) < self._policy.publisher_places_max:
            self._open(own, position)
            return position
        return self._leaders[int(np.argmax(common))]

    def _common(self, own: TermIds) -> npt.NDArray[np.int64]:
        """How many terms each leader shares with these."""
        self._marks[own] = True
        sharing = self._owners[self._marks[self._terms]]
        self._marks[own] = False
        return np.bincount(sharing, minlength=len(self._leaders))

    def _open(self, own: TermIds, position: int) -> None:
        place = np.full(len(own), len(self._leaders))
        self._leaders.append(position)
        self._sizes = np.append(self._sizes, len(own))
        self._terms = np.concatenate([self._terms, own])
        self._owners = np.concatenate([self._owners, place])
