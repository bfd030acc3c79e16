"""Groups by publisher: near-duplicate sites of a registrable domain share a slot.

Within a publisher, sites are taken by their id; each joins the first representative whose words
are nearly its own, or leads a slot itself. A publisher has a limited number of slots;
past it a site joins the representative most like it. So the grouping depends on nothing but the
set of sites. A site is compared with all representatives at once, and a publisher whose sites
say what they said is not looked at again: nobody's subdomains hold up the others.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from registry.ranking.policy import FULL, Policy

FEW_SITES = 16
"""Sites up to which each is compared with each representative by itself, for less."""

TermIds = npt.NDArray[np.int64]
FindRepresentative = Callable[[int], int]
"""Function of a site's position: the position of the site whose slot it shares."""


@dataclass(frozen=True, slots=True)
class PublisherGroup:
    """Terms of a publisher's sites, in the order of their ids, and how they share.

    representatives: for each site the position, among these, of the representative of its group.
    """

    terms: tuple[bytes, ...]
    representatives: tuple[int, ...]


def groups_of(
    publishers: Sequence[int],
    terms: Sequence[bytes],
    known: Mapping[int, PublisherGroup],
    policy: Policy,
) -> dict[int, PublisherGroup]:
    """Return the group of each publisher with several sites.

    publishers, terms: one a site, in the order of the sites' ids; terms: the hashes of
    its words, ascending, as bytes. known: an earlier result under the same policy.
    """
    by_publisher: dict[int, list[bytes]] = defaultdict(list)
    for publisher, own in zip(publishers, terms, strict=True):
        by_publisher[publisher].append(own)
    return {
        publisher: _group(tuple(group), known.get(publisher), policy)
        for publisher, group in by_publisher.items()
        if len(group) > 1
    }


def representatives_of(
    publishers: Sequence[int], groups: Mapping[int, PublisherGroup]
) -> list[int]:
    """Return, for each site, the position of its representative: its own if it is one."""
    representatives = list(range(len(publishers)))
    members: dict[int, list[int]] = defaultdict(list)
    for position, publisher in enumerate(publishers):
        if publisher in groups:
            members[publisher].append(position)
    for publisher, positions in members.items():
        for position, representative in zip(
            positions, groups[publisher].representatives, strict=True
        ):
            representatives[position] = positions[representative]
    return representatives


def _group(
    terms: tuple[bytes, ...], known: PublisherGroup | None, policy: Policy
) -> PublisherGroup:
    if known is not None and known.terms == terms:
        return known
    find = (
        _among_few(terms, policy)
        if len(terms) <= FEW_SITES
        else _at_once(terms, policy)
    )
    first: dict[bytes, int] = {}  # copies are found without comparing
    for position, own in enumerate(terms):
        if own not in first:
            first[own] = find(position)
    return PublisherGroup(terms, tuple(first[own] for own in terms))


def _among_few(terms: tuple[bytes, ...], policy: Policy) -> FindRepresentative:
    words = [frozenset(memoryview(own).cast("Q")) for own in terms]
    leading: list[int] = []

    def find(position: int) -> int:
        own = words[position]
        common = [len(own & words[representative]) for representative in leading]
        for representative, shared in zip(leading, common, strict=True):
            union = len(words[representative]) + len(own) - shared
            if shared * FULL >= policy.duplicate_site_bp * union:
                return representative
        if len(leading) < policy.publisher_places_max:
            leading.append(position)
            return position
        return leading[common.index(max(common))]

    return find


def _at_once(terms_of_sites: tuple[bytes, ...], policy: Policy) -> FindRepresentative:
    hashes, ids = np.unique(
        np.frombuffer(b"".join(terms_of_sites), np.uint64), return_inverse=True
    )
    ends = np.cumsum([len(own) // hashes.itemsize for own in terms_of_sites])
    terms = np.split(ids, ends[:-1])
    slots = _Slots(len(hashes), policy)
    return lambda position: slots.find(terms[position], position)


class _Slots:
    """The slots of one publisher: who leads them, with which terms.

    terms, owners: parallel; each representative's terms, and the number of its slot.
    """

    def __init__(self, vocabulary: int, policy: Policy) -> None:
        self._policy = policy
        self._marks = np.zeros(vocabulary, np.bool_)
        self._representatives: list[int] = []
        self._sizes = np.empty(0, np.int64)
        self._terms = np.empty(0, np.int64)
        self._owners = np.empty(0, np.int64)

    def find(self, own: TermIds, position: int) -> int:
        """The representative that a site joins: itself in a new slot if it is like none."""
        common = self._common(own)
        union = self._sizes + len(own) - common
        # As `is_near_duplicate`, of every representative at once.
        like = np.flatnonzero(common * FULL >= self._policy.duplicate_site_bp * union)
        if len(like):
            return self._representatives[int(like[0])]
        if len(self._representatives) < self._policy.publisher_places_max:
            self._open(own, position)
            return position
        return self._representatives[int(np.argmax(common))]

    def _common(self, own: TermIds) -> npt.NDArray[np.int64]:
        """Return how many terms each representative shares with these."""
        self._marks[own] = True
        sharing = self._owners[self._marks[self._terms]]
        self._marks[own] = False
        return np.bincount(sharing, minlength=len(self._representatives))

    def _open(self, own: TermIds, position: int) -> None:
        slot = np.full(len(own), len(self._representatives))
        self._representatives.append(position)
        self._sizes = np.append(self._sizes, len(own))
        self._terms = np.concatenate([self._terms, own])
        self._owners = np.concatenate([self._owners, slot])
