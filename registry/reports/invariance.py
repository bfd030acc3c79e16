"""Perturbations: what must not move a ranking and what may only raise it, counted.

Each perturbation changes one thing of some sites and says what has to hold of the same
query before and after. A trial is one query under one perturbation. The bound on the
rate of violations is exact (Clopper & Pearson 1934); where none was seen it is about 3
over the number of trials (Hanley & Lippman-Hand 1983).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from itertools import zip_longest
from typing import Literal

import msgspec

from registry.records.canonical import JsonValue, canonical_json, digest_of
from registry.reports.inference.rates import check_count
from registry.toml_table import read_table

ERROR_RATE = 0.05
MAX_SCORE = 10**8
SEED_BYTES = 6  # JSON carries it exactly
Holds = Literal[
    "identical",
    "scores_identical",
    "shown_identical",
    "order_of_others",
    "not_lower",
    "not_higher",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perturbation:
    """A row of the table of perturbations. changes: in words."""

    name: str
    changes: str
    holds: Holds = "identical"


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    """The table of perturbations. expected: what has to hold, in words."""

    expected: dict[Holds, str]
    perturbations: tuple[Perturbation, ...]


_TABLE = read_table(__package__, "perturbations.toml", _Table)
HOLDS: Mapping[Holds, str] = _TABLE.expected
PERTURBATIONS = _TABLE.perturbations
LEFT_OUT = "without_"
"""Begins the name of a count of pairs of eligible sites that change places without a factor."""

PERTURBATION: Mapping[str, Perturbation] = {row.name: row for row in PERTURBATIONS}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultSlot:
    """A rank of an answer.

    shown: score, relevance and quality in the steps of `RankScale`. behind: the sites
    that share the rank, in their order.
    """

    site_id: int
    score: int
    shown: tuple[int, ...]
    behind: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The first slots of an answer. is_whole: there are no more."""

    slots: tuple[ResultSlot, ...]
    is_whole: bool

    def renamed(self, ids: Mapping[int, int]) -> "Page":
        """Return the page with other ids of sites; those that are not named stay."""
        slots = tuple(
            replace(
                slot,
                site_id=ids.get(slot.site_id, slot.site_id),
                behind=tuple(ids.get(site_id, site_id) for site_id in slot.behind),
            )
            for slot in self.slots
        )
        return Page(slots=slots, is_whole=self.is_whole)

    @property
    def order(self) -> list[int]:
        return [slot.site_id for slot in self.slots]

    @property
    def scores(self) -> dict[int, int]:
        """The scores of those that lead a slot."""
        return {slot.site_id: slot.score for slot in self.slots}

    def slot_by_site(self) -> dict[int, ResultSlot]:
        return {
            site_id: slot
            for slot in self.slots
            for site_id in (slot.site_id, *slot.behind)
        }

    @property
    def edge(self) -> ResultSlot | None:
        """The slot that a site which has none here stands behind; None: it stands nowhere."""
        return None if self.is_whole or not self.slots else self.slots[-1]


def slack_of(sites: int) -> int:
    """Return how far a site that joins may move a score by right.

    It makes every word a little rarer. The weight of a word is a logarithm of the number
    of sites over those that say it, so it moves by about one part in that number.
    """
    return MAX_SCORE // max(1, sites)


def is_violated(
    holds: Holds,
    before: Page,
    after: Page,
    changed: AbstractSet[int],
    *,
    slack: int = 0,
) -> bool:
    """Return whether a trial failed. changed: ids of sites that were changed or added.

    slack: others may change places whose scores moved no farther, see `slack_of`.
    """
    match holds:
        case "identical":
            return before != after
        case "scores_identical":
            return not _has_same(lambda slot: (slot.score,), before, after)
        case "shown_identical":
            return not _has_same(lambda slot: slot.shown, before, after) or (
                _has_moved(before, after, frozenset(), 0)
            )
        case "order_of_others":
            return not _has_same_order(before, after, changed) and (
                slack == 0 or _has_moved(before, after, changed, slack)
            )
        case "not_lower":
            return any(_fallen(before, after, changed))
        case "not_higher":
            return any(_fallen(after, before, changed))


def _has_same(
    part: Callable[[ResultSlot], tuple[int, ...]], before: Page, after: Page
) -> bool:
    """Compare a part of the slots, rank by rank and site by site."""
    ours, theirs = before.slot_by_site(), after.slot_by_site()
    pairs = [*zip_longest(before.slots, after.slots)] + [
        (ours.get(site_id, before.edge), theirs.get(site_id, after.edge))
        for site_id in ours.keys() | theirs
    ]
    return before.is_whole == after.is_whole and all(
        first and second and part(first) == part(second) for first, second in pairs
    )


def _has_same_order(before: Page, after: Page, changed: AbstractSet[int]) -> bool:
    """Compare the sites that lead a slot of both pages.

    Others crossed the threshold of eligibility or the end of the page, as they may where
    every word becomes a little rarer.
    """
    common = set(before.order) & set(after.order) - changed
    ours, theirs = (
        [site_id for site_id in page.order if site_id in common]
        for page in (before, after)
    )
    return ours == theirs


def _has_moved(
    before: Page, after: Page, changed: AbstractSet[int], slack: int
) -> bool:
    """Return whether a score moved farther, of a site that leads a slot of both pages."""
    ours, theirs = before.scores, after.scores
    return any(
        abs(ours[site_id] - theirs[site_id]) > slack
        for site_id in (ours.keys() & theirs) - changed
    )


def _fallen(before: Page, after: Page, changed: AbstractSet[int]) -> Iterator[bool]:
    """Compare scores of those that led a slot before.

    Of one that leads none, no more is known than that its slot, or the last of the page,
    does not show a lower score than it would.
    """
    theirs = after.slot_by_site()
    for slot in before.slots:
        if slot.site_id in changed:
            now = theirs.get(slot.site_id, after.edge)
            if now and now.site_id == slot.site_id:
                yield now.score < slot.score
            else:
                yield now is None or now.shown[0] < slot.shown[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A trial that failed. ranking: id of the record whose query it was."""

    perturbation: str
    ranking: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialCount:
    """Counts of one perturbation, or of all."""

    perturbation: str
    trials: int
    violations: int

    @property
    def is_swap(self) -> bool:
        """Return whether it measures a factor, so that nothing has to hold."""
        return self.perturbation.startswith(LEFT_OUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvarianceResult:
    """Result of a run of trials, by perturbation and as a whole.

    queries, sites: distinct ones that were tried. examples: some of the violations.
    swaps: of each factor that is left out (LEFT_OUT), pairs and those that are swapped;
    for auditors, as the numbers of a quiet day would show what was asked.
    seed: gives the same trials again over the same queries and sites, those of the
    generation, which is that of an index of the sites as they are.
    """

    tallies: tuple[TrialCount, ...]
    examples: tuple[Violation, ...]
    queries: int
    sites: int
    seed: int
    policy_digest: str
    generation: str = ""
    swaps: tuple[TrialCount, ...] = ()

    @property
    def trials(self) -> int:
        return sum(tally.trials for tally in self.tallies)

    @property
    def violations(self) -> int:
        return sum(tally.violations for tally in self.tallies)

    @property
    def rate_at_most(self) -> float:
        """Return the bound with 95% confidence; without a trial there is none but 1."""
        return rate_at_most(self.violations, self.trials) if self.trials else 1.0

    @property
    def sentence(self) -> str:
        return describe(self)


def digest_swaps(swaps: Sequence[TrialCount], salt: str) -> str:
    """Return `sha256:…` by which the log commits to counts that it does not show.

    salt: random, so that nobody can try counts until they fit.
    """
    counts = [asdict(count) for count in swaps]
    return digest_of(canonical_json({"salt": salt, "swaps": counts}))


def result_members(result: InvarianceResult) -> dict[str, JsonValue]:
    """Return the results as the log has them."""
    tallies = canonical_json(msgspec.to_builtins(result.tallies))
    return {
        "snap": result.generation,
        "n": result.trials,
        "violations": result.violations,
        "tallies": digest_of(tallies),
    }


def seed_of(secret: bytes) -> int:
    """Return the seed of a day's trials."""
    return int.from_bytes(secret[:SEED_BYTES])


def rate_at_most(cases: int, trials: int) -> float:
    """Return the upper end of the one-sided exact 95% interval of a rate.

    The rate at which as few cases as these would be seen in one run of twenty. Source:
    Clopper & Pearson, 1934.
    """
    check_count(cases, trials)
    if cases == trials:
        return 1.0
    if cases == 0:
        return -math.expm1(math.log(ERROR_RATE) / trials)
    low, high = cases / trials, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _at_most(cases, trials, middle) > ERROR_RATE:
            low = middle
        else:
            high = middle
    return high


def _at_most(cases: int, trials: int, rate: float) -> float:
    """Return the binomial probability of that many cases or fewer; 0 < rate <= 1."""
    if rate >= 1:
        return 0.0
    hit, miss = math.log(rate), math.log1p(-rate)
    whole = math.lgamma(trials + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(case + 1)
            - math.lgamma(trials - case + 1)
            + case * hit
            + (trials - case) * miss
        )
        for case in range(cases + 1)
    )


def describe(result: InvarianceResult) -> str:
    if not result.trials:
        why = "no recent query, no listed site, or another release's policy"
        return f"Nothing was tried: there is {why}."
    bound = f"{100 * result.rate_at_most:.2g}%"
    basis = (
        f"{result.trials} trials with {result.queries} recent queries over "
        f"{result.sites} sites"
    )
    if not result.violations:
        return (
            f"In {basis}, nothing that must not matter moved a score or an order, and "
            "what is better or worse for a user moved none the wrong way. With 95% "
            "confidence fewer than "
            f"{bound} of such trials would fail; the trials share queries and sites, "
            "so the bound is somewhat too narrow."
        )
    return (
        f"In {basis}, {result.violations} failed: {_by_name(result.tallies)}. With 95% "
        f"confidence at most {bound} of such trials fail."
    )


def _by_name(tallies: Sequence[TrialCount]) -> str:
    return ", ".join(
        f"{tally.perturbation} ({tally.violations} of {tally.trials})"
        for tally in tallies
        if tally.violations
    )
