"""The town's rankings do not move; a ranker that knows more than it may is found out."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from itertools import permutations
from operator import sub
from random import Random

import pytest
from msgspec import structs

from registry.bench.invariance import NOW, town_shadow, with_leak
from registry.demo.town.member import CAST
from registry.index.building.builder import Builder
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.index.query.search import prepare_query, search
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.policy import DEFAULT_POLICY, FULL
from registry.ranking.profile import Profile
from registry.reports.invariance import PERTURBATION, PERTURBATIONS
from registry.sites.gazetteer import Gazetteer
from registry.sites.place import Point, cell_of, centroid_of
from registry.usecases.reports.perturb import (
    PERTURB,
    Draw,
    TrialListing,
    with_keys_shuffled,
)
from registry.usecases.reports.try_invariance import Shadow, try_invariance
from registry.usecases.sites.list_site import Lister
from tests.unit.usecases.served_town import with_profiles

TRIALS = 10 * len(PERTURBATIONS)


@pytest.fixture(scope="module")
def town(gazetteer: Gazetteer) -> Shadow:
    lister = Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)
    return with_profiles(town_shadow(lister, CAST[::2]))


def test_nothing_moves_the_rankings_of_the_town(town: Shadow) -> None:
    result = try_invariance(town, trials=TRIALS, seed=1)
    assert result.trials == TRIALS
    assert {tally.trials for tally in result.tallies} == {10}
    assert result.violations == 0, result.sentence


def test_pairs_of_all_eligible_sites_are_counted_without_each_factor(
    town: Shadow,
) -> None:
    """Counted here by searches for all, in which no site shares another's place."""
    asked_all = {"trials": 100, "perturbations": PERTURBATIONS[:1]}
    swaps = try_invariance(town, **asked_all, seed=1).swaps
    profiles = [
        replace(town.make(listing), publisher=number)
        for number, listing in enumerate(town.listings)
    ]
    policy = replace(DEFAULT_POLICY, duplicate_signature_bytes=SIGNATURE_BYTES + 1)
    index = Builder.build(profiles, policy).index
    pairs, swapped = 0, Counter[str]()
    for question in town.questions:
        assert question is not None
        query = prepare_query(
            question.text,
            town.encoder,
            policy,
            cell=question.cell,
            filters=question.filters,
        )
        ranked = search(index, query, now=NOW, seed=bytes(32), k=len(profiles)).sites
        for first, second in permutations(ranked, 2):
            pairs += first.score > second.score
            for name, weight in zip(FACTOR_NAMES, policy.weights, strict=True):
                values = (getattr(site.factors, name) for site in (first, second))
                without = first.score - second.score - weight * sub(*values)
                swapped[name] += first.score > second.score and without < 0
    assert len(town.questions) < 100 < pairs
    assert [(swap.perturbation, swap.trials, swap.violations) for swap in swaps] == [
        (f"without_{name}", pairs, swapped[name]) for name in FACTOR_NAMES
    ]


def test_the_same_seed_gives_the_same_trials(town: Shadow) -> None:
    leaky = replace(town, make=with_leak(town.make))
    first, again, other = (
        try_invariance(leaky, trials=TRIALS, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.examples != other.examples


def test_a_perturbation_alone_gives_the_trials_that_it_has_among_all(
    town: Shadow,
) -> None:
    leaky = replace(town, make=with_leak(town.make))
    among = try_invariance(leaky, trials=TRIALS, seed=1)
    tier = [PERTURBATION["tier"]]
    alone = try_invariance(leaky, trials=10, seed=1, perturbations=tier)
    assert [own for own in among.tallies if own.violations] == [*alone.tallies]
    assert among.examples == alone.examples


def favour(
    amount: Callable[[TrialListing], int],
) -> Callable[[TrialListing, Profile], Profile]:
    """More or less quality for what is none of its business."""

    def change(listing: TrialListing, profile: Profile) -> Profile:
        quality = min(FULL, max(0, profile.quality + amount(listing)))
        return replace(profile, quality=quality)

    return change


def mistrust_movers(_: TrialListing, profile: Profile) -> Profile:
    """Who stands in the middle of a cell is sent to the other side of the Earth.

    And believed nothing there: few of the others were near in the first place.
    """
    point = profile.point
    if point is None or centroid_of(cell_of(point)) != point:
        return profile
    longitude = (point.longitude + 360) % 360 - 180
    return replace(profile, point=Point(-point.latitude, longitude), quality=0)


def favour_the_far(profile: Profile) -> Profile:
    """Who stands opposite to the middle of a cell is believed everything."""
    point = profile.point
    if point is None:
        return profile
    longitude = point.longitude - 180 if point.longitude > 0 else point.longitude + 180
    opposite = Point(-point.latitude, longitude)
    if centroid_of(cell_of(opposite)) != opposite:
        return profile
    return replace(profile, point=opposite, quality=FULL)


LEAKS: dict[str, Callable[[TrialListing, Profile], Profile]] = {
    "name": favour(lambda listing: 300 * (" | " in listing.entry.site.name)),
    "trust": favour(lambda listing: 300 * (listing.entry.trust_level == "verified")),
    "tier": favour(lambda item: 300 * bool(item.tier)),
    "traffic": favour(lambda item: min(300, item.visits)),
    "labels": favour(lambda item: 300 * (item.size in {"large", "medium"})),
    "commission": favour(
        lambda listing: int(20 * (listing.entry.site.commission_percent or 0))
    ),
    "zero_commission": favour(
        lambda listing: 300 * (listing.entry.site.commission_percent == 0)
    ),
    "identity": favour(
        lambda listing: 300 * (sha256(listing.entry.host.encode()).digest()[0] % 2)
    ),
    "registration_order": favour(
        lambda listing: (NOW - listing.entry.registered_at).days
    ),
    "nearer": mistrust_movers,
    "fresher": favour(
        lambda listing: -40 * ((listing.entry.changed_at - NOW).days + 300)
    ),
    "working": favour(lambda item: -100 * item.probes.successes),
    "declared": favour(
        lambda listing: (
            -500 * any(act.sensitivity for act in listing.entry.site.actions)
        )
    ),
    "farther": lambda _, profile: favour_the_far(profile),
    "older": favour(lambda listing: 40 * ((NOW - listing.entry.changed_at).days - 300)),
    "failing": favour(lambda item: 100 * (item.probes.probes - item.probes.successes)),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_found_by_its_own_perturbation(town: Shadow, name: str) -> None:
    def leaking(listing: TrialListing) -> Profile:
        return LEAKS[name](listing, town.make(listing))

    result = try_invariance(
        replace(town, make=leaking),
        trials=20,
        seed=1,
        perturbations=[PERTURBATION[name]],
    )
    (tally,) = result.tallies
    assert tally.violations


def test_documents_are_read_again_with_their_members_in_another_order(
    town: Shadow,
) -> None:
    """The bytes are others, so the trial is one; the reading is the same."""
    compared = 0
    for listing in town.listings:
        draw = Draw(Random(1), NOW + timedelta(days=1), Point(0, 0))
        changed = with_keys_shuffled(listing, draw)
        assert changed.entry.changed_at == listing.entry.changed_at
        compared += changed.entry.site is not listing.entry.site
    assert compared == len(town.listings)


@pytest.mark.parametrize("name", [name for name in PERTURB if name != "key_order"])
def test_every_perturbation_changes_a_part_of_the_town(town: Shadow, name: str) -> None:
    draw = Draw(Random(1), NOW, Point(10, 10))
    changed = [PERTURB[name](listing, draw) != listing for listing in town.listings]
    assert sum(changed) > len(changed) / 3


def test_nothing_is_tried_where_nobody_asked(town: Shadow) -> None:
    result = try_invariance(replace(town, questions=[]), trials=TRIALS, seed=1)
    assert result.trials == 0
    assert "Nothing was tried" in result.sentence


@pytest.mark.parametrize("vowel", ["u", "\u00fc", "u\u0308"], ids=ascii)
def test_a_name_that_is_said_with_other_vowels_stays_beside_the_new_one(
    town: Shadow, vowel: str
) -> None:
    listing = town.listings[0]
    site = structs.replace(
        listing.entry.site, name="Gruenspan", description=f"Gr{vowel}nspan"
    )
    named = replace(listing, entry=replace(listing.entry, site=site))
    changed = PERTURB["name"](named, Draw(Random(1), NOW, Point(0, 0)))
    assert changed.entry.site.name.startswith("Gruenspan | ")
    before, after = town.make(named), town.make(changed)
    assert before == after
