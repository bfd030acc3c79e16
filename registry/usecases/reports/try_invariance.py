"""Trials of invariance: real queries, asked of an index before and after a change.

Listings are perturbed (`perturb`), their profiles computed by the code that makes them
in earnest, indexed and searched by the engine that serves, beside an index of the
listings as they are. Nothing of it is served or logged. One shadow index stands for many
trials, as many queries are asked of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from random import Random
from typing import cast

from registry.index.building.builder import Builder
from registry.index.columns.filters import Filters
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import prepare_query
from registry.ranking.encoders.encoder import Encoder
from registry.ranking.policy import Policy
from registry.reports.invariance import (
    PERTURBATIONS,
    InvarianceResult,
    Page,
    Perturbation,
    TrialCount,
    Violation,
    is_violated,
    slack_of,
)
from registry.sites.place import Point, cell_of, centroid_of
from registry.usecases.reports.eligible_weights import count_swaps
from registry.usecases.reports.perturb import Draw, MakeProfile, TrialListing
from registry.usecases.reports.shadow_index import (
    JOINS,
    MOVES,
    Perturbed,
    first_page,
    perturb,
)

CHANGED_MAX = 64  # sites that one shadow index changes
BATCH = 100  # queries that are asked of one
EXAMPLES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Question that somebody asked. ranking: id of the record of the answer."""

    ranking: str
    text: str
    cell: str | None = None
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """Material of trials: listings, the maker of their profiles, and questions to them.

    questions: None for one that is not known, which is drawn as it would be and not asked.
    """

    listings: Sequence[TrialListing]
    questions: Sequence[Question | None]
    make: MakeProfile
    encoder: Encoder
    policy: Policy
    now: datetime


def try_invariance(
    shadow: Shadow,
    *,
    trials: int,
    seed: int,
    perturbations: Sequence[Perturbation] = PERTURBATIONS,
    on_progress: Callable[[int], None] = lambda _: None,
) -> InvarianceResult:
    """Run equally many trials of each perturbation; none without a question.

    on_progress: is called with the number of trials done since it was called last.
    """
    run = _Run(shadow, seed)
    if not shadow.listings or not shadow.questions:
        trials = 0
    for number, perturbation in enumerate(perturbations):
        share, rest = divmod(trials, len(perturbations))
        for done in run.trials_of(perturbation, share + (number < rest)):
            on_progress(done)
    return run.result()


class _Run:
    """The trials of one seed, in the making."""

    def __init__(self, shadow: Shadow, seed: int) -> None:
        self._shadow = shadow
        self._seed = seed
        self._profiles = [shadow.make(listing) for listing in shadow.listings]
        self._index = Builder.build(self._profiles, shadow.policy).index
        self._queries: dict[int, Query] = {}
        self._before: dict[tuple[int, str | None], Page] = {}
        self._tallies: list[TrialCount] = []
        self._violations: list[Violation] = []
        self._tried: set[int] = set()

    def result(self) -> InvarianceResult:
        texts = {self._question(number).text for number in self._tried}
        return InvarianceResult(
            tallies=tuple(self._tallies),
            examples=tuple(self._violations[:EXAMPLES]),
            queries=len(texts),
            sites=len(self._shadow.listings),
            seed=self._seed,
            policy_digest=self._shadow.policy.digest,
            generation=self._index.generation,
            swaps=count_swaps(
                self._index,
                [
                    replace(self._query(number), cell=self._question(number).cell)
                    for number in sorted(self._tried)
                ],
                self._shadow.now,
            ),
        )

    def trials_of(self, perturbation: Perturbation, trials: int) -> Iterator[int]:
        """Yields how many were done, batch by batch."""
        done, tried, batch, before = 0, 0, 0, len(self._violations)
        while done < trials:
            rng = Random(f"{self._seed}/{perturbation.name}/{batch}")  # noqa: S311
            most = min(BATCH, trials - done, len(self._shadow.questions))
            numbers = rng.sample(range(len(self._shadow.questions)), most)
            known = [number for number in numbers if self._shadow.questions[number]]
            self._try(perturbation, known, rng)
            done, tried, batch = done + most, tried + len(known), batch + 1
            yield most
        self._tallies.append(
            TrialCount(
                perturbation=perturbation.name,
                trials=tried,
                violations=len(self._violations) - before,
            )
        )

    def _try(
        self, perturbation: Perturbation, numbers: Sequence[int], rng: Random
    ) -> None:
        """Make a shadow index, and ask it the questions of these numbers."""
        cell = self._a_cell(rng)
        draw = Draw(rng, self._shadow.now, centroid_of(cell))
        perturbed = self._perturbed(perturbation.name, draw)
        for number in numbers:
            question = self._question(number)
            at = cell if perturbation.name in MOVES else question.cell
            after = self._first_page(perturbed.index, number, at).renamed(
                perturbed.former
            )
            before = self._answer(number, at)
            if is_violated(
                perturbation.holds,
                before,
                after,
                perturbed.changed,
                slack=slack_of(len(self._profiles)),
            ):
                self._violations.append(
                    Violation(perturbation=perturbation.name, ranking=question.ranking)
                )
        self._tried.update(numbers)

    def _perturbed(self, name: str, draw: Draw) -> Perturbed:
        listings = self._shadow.listings
        few = 1 if name == JOINS else min(CHANGED_MAX, (len(listings) + 1) // 2)
        chosen = draw.rng.sample(range(len(listings)), few)
        profiles = {profile.site_id: profile for profile in self._profiles}
        return perturb(
            name,
            [listings[position] for position in chosen],
            profiles,
            make=self._shadow.make,
            policy=self._shadow.policy,
            draw=draw,
        )

    def _answer(self, number: int, cell: str | None) -> Page:
        """Return answers of the index as it is."""
        if (number, cell) not in self._before:
            self._before[number, cell] = self._first_page(self._index, number, cell)
        return self._before[number, cell]

    def _first_page(self, index: Index, number: int, cell: str | None) -> Page:
        """The same seed for a question every time, so that ties fall the same way."""
        return first_page(
            index,
            replace(self._query(number), cell=cell),
            now=self._shadow.now,
            seed=sha256(f"{self._seed}/{number}".encode()).digest(),
        )

    def _query(self, number: int) -> Query:
        if number not in self._queries:
            question = self._question(number)
            self._queries[number] = prepare_query(
                question.text,
                self._shadow.encoder,
                self._shadow.policy,
                filters=question.filters,
            )
        return self._queries[number]

    def _question(self, number: int) -> Question:
        """Return a question that is known."""
        return cast("Question", self._shadow.questions[number])

    def _a_cell(self, rng: Random) -> str:
        """Draw where some site is, which does not depend on who asked."""
        places = [
            cell_of(listing.entry.place.point)
            for listing in self._shadow.listings
            if listing.entry.place is not None
        ]
        return rng.choice(places or [cell_of(Point(0, 0))])
