"""Counterfactual questions of auditors: the same query, one thing of some sites otherwise.

Nothing of it is served or logged: it is no answer to anybody's search. What an auditor
learns of a ranking that he names is what it would score, never what was asked.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from random import Random

from registry.db.engine.engines import Connection, Engine
from registry.db.reports import trial_material as invariance
from registry.errors import Gone, NotFound, RateLimited, Refused, Unavailable
from registry.index.building.builder import uncommitted_index
from registry.index.columns.filters import Filters
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import prepare_query, search
from registry.ranking.profile import Profile, parse_profile
from registry.records.counterfactual import Inquiry
from registry.reports.invariance import (
    PERTURBATION,
    Page,
    Perturbation,
    is_violated,
    slack_of,
)
from registry.sites.identifier import parse_site_id
from registry.sites.place import Point, centroid_of
from registry.usecases import refusals
from registry.usecases.background import in_background
from registry.usecases.ids import Clock
from registry.usecases.reports.perturb import Draw, TrialListing
from registry.usecases.reports.shadow import listings_of, maker_of, question_of
from registry.usecases.reports.shadow_index import JOINS, MOVES, first_page, perturb
from registry.usecases.reports.trial_materials import read_materials
from registry.usecases.reports.try_invariance import Question
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.search.receipts import record_id_of
from registry.usecases.sites.list_site import Lister

CHANGED_MAX = 16
SHADOW_MAX = 1_000
"""Sites of a shadow index: those that are changed, those that the index in use gives
first, and others of all."""

FIRST = 200
BUSY_S = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterfactual:
    """Answer to an inquiry. held: what the perturbation's `holds` says of before and after.

    shadow: sites in the shadow index; listed: in the index in use. changed: ids of those
    that are otherwise, or that joined.
    """

    perturbation: Perturbation
    at: datetime
    policy_digest: str
    shadow: int
    listed: int
    changed: tuple[int, ...]
    before: Page
    after: Page

    @property
    def held(self) -> bool:
        return not is_violated(
            self.perturbation.holds,
            self.before,
            self.after,
            frozenset(self.changed),
            slack=slack_of(self.shadow),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shadow:
    """Inputs of one question. profiles: of the sites as they are, the changed among them."""

    perturbation: Perturbation
    query: Query
    listings: Sequence[TrialListing]
    profiles: Sequence[Profile]
    listed: int
    now: datetime
    seed: bytes


class Counterfactuals:
    """Answers one question at a time. auditor: reads what it takes."""

    def __init__(
        self, auditor: Engine, lister: Lister, follower: IndexFollower, clock: Clock
    ) -> None:
        self._auditor = auditor
        self._lister = lister
        self._follower = follower
        self._clock = clock
        self._is_busy = False

    async def answer(self, inquiry: Inquiry, filters: Filters) -> Counterfactual:
        """Return the answer. inquiry: verified. filters: what its own mean. Raises: RegistryError."""
        if self._is_busy:
            raise RateLimited(refusals.COUNTERFACTUAL_BUSY, retry_after_s=BUSY_S)
        self._is_busy = True
        try:
            shadow = await self._read(inquiry, filters)
        except BaseException:
            self._is_busy = False
            raise
        return await in_background(lambda: self._compare(shadow))

    async def _read(self, inquiry: Inquiry, filters: Filters) -> _Shadow:
        perturbation = _perturbation_of(inquiry)
        changed = list(dict.fromkeys(map(_site_id, inquiry.sites)))
        if not self._follower.is_loaded:
            raise Unavailable(refusals.NOT_READY, retry_after_s=1)
        now, seed = self._clock(), sha256(inquiry.statement).digest()
        async with self._auditor.connect() as connection:
            question = await _question_of(connection, inquiry, filters)
            if perturbation.name in MOVES and question.cell is None:
                raise Refused(
                    refusals.PERTURBATION_UNFIT, "nobody is anywhere", pointer="/cell"
                )
            query = self._query_of(question)
            first = await in_background(lambda: self._first(query, now, seed))
            wanted = list(dict.fromkeys([*changed, *first]))
            stored = await invariance.profiles_of(
                connection, wanted, self._lister.policy.digest, SHADOW_MAX
            )
            if missing := [site_id for site_id in changed if site_id not in stored]:
                pointer = f"/sites/{changed.index(missing[0])}"
                raise Refused(
                    refusals.SITE_UNKNOWN, "the site is not listed", pointer=pointer
                )
            like = changed or list(stored)[:1]
            materials = await read_materials(connection, self._lister, like, now)
        listings = listings_of(materials, self._lister)
        if not listings:
            raise Refused(
                refusals.PERTURBATION_UNFIT, "no site is listed", pointer="/sites"
            )
        return _Shadow(
            perturbation=perturbation,
            query=query,
            listings=listings,
            profiles=[*map(parse_profile, stored.values())],
            listed=len(self._follower.index),
            now=now,
            seed=seed,
        )

    def _query_of(self, question: Question) -> Query:
        return prepare_query(
            question.text,
            self._lister.encoder,
            self._lister.policy,
            cell=question.cell,
            filters=question.filters,
        )

    def _first(self, query: Query, now: datetime, seed: bytes) -> list[int]:
        """Return whom the index in use gives first: the others are to stand among them."""
        result = search(self._follower.index, query, now=now, seed=seed, k=FIRST)
        ids = [
            site_id for row in result.sites for site_id in (row.site_id, *row.sharing)
        ]
        return ids[: SHADOW_MAX // 2]

    def _compare(self, shadow: _Shadow) -> Counterfactual:
        try:
            return compare(shadow, self._lister)
        finally:
            self._is_busy = False


def compare(shadow: _Shadow, lister: Lister) -> Counterfactual:
    """Ask two indexes the same question, one of them perturbed."""
    make, policy, name = maker_of(lister), lister.policy, shadow.perturbation.name
    profiles = {profile.site_id: profile for profile in shadow.profiles}
    if name != JOINS:
        profiles |= {profile.site_id: profile for profile in map(make, shadow.listings)}
    cell = shadow.query.cell
    draw = Draw(
        Random(shadow.seed),  # noqa: S311 — the same for the same statement
        shadow.now,
        Point(0, 0) if cell is None else centroid_of(cell),
    )
    perturbed = perturb(
        name, shadow.listings, profiles, make=make, policy=policy, draw=draw
    )
    before, after = (
        first_page(index, shadow.query, now=shadow.now, seed=shadow.seed)
        for index in (uncommitted_index(profiles.values(), policy), perturbed.index)
    )
    return Counterfactual(
        perturbation=shadow.perturbation,
        at=shadow.now,
        policy_digest=policy.digest,
        shadow=len(profiles),
        listed=shadow.listed,
        changed=tuple(sorted(perturbed.changed)),
        before=before,
        after=after.renamed(perturbed.former),
    )


def _perturbation_of(inquiry: Inquiry) -> Perturbation:
    perturbation = PERTURBATION.get(inquiry.perturbation)
    if perturbation is None:
        problem = f"it is none of {', '.join(PERTURBATION)}"
        raise Refused(refusals.PERTURBATION_UNFIT, problem, pointer="/perturbation")
    if (perturbation.name == JOINS) == bool(inquiry.sites):
        problem = (
            "a site of ours joins"
            if perturbation.name == JOINS
            else "name who is changed"
        )
        raise Refused(refusals.PERTURBATION_UNFIT, problem, pointer="/sites")
    return perturbation


def _site_id(spelled: str) -> int:
    with Refused.on(
        ValueError, refusals.SITE_UNKNOWN, "no id of a site", pointer="/sites"
    ):
        return parse_site_id(spelled)


async def _question_of(
    connection: Connection, inquiry: Inquiry, filters: Filters
) -> Question:
    if inquiry.ranking is None:
        return Question(
            ranking="", text=inquiry.query or "", cell=inquiry.cell, filters=filters
        )
    wanted = record_id_of(inquiry.ranking)
    answer = (await invariance.find_rankings(connection, [wanted])).get(wanted)
    if answer is None:
        raise NotFound(refusals.RANKING_UNKNOWN, pointer="/ranking")
    if not answer.disclosures:
        raise Gone(refusals.RANKING_ERASED, pointer="/ranking")
    return question_of(wanted, answer.disclosures)
