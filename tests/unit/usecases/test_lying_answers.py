"""Answers that their profiles do not give: each check of `audit reproduce` by itself.

All profiles are proven, and all else of the answer is as an honest registry has it.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from registry.auditor.profiles.answer_check import (
    AnswerCheck,
    DisclosedAnswer,
    ProvenProfiles,
)
from registry.auditor.profiles.check_ranking import ProfileChecks
from registry.bench.invariance import town_shadow
from registry.demo.town.member import CAST
from registry.index.building.builder import Builder
from registry.index.columns.hashes import hash_word
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.recomputation import Recomputation
from registry.sites.gazetteer import Gazetteer
from registry.sites.identifier import format_site_id
from registry.usecases.reports.perturb import TrialListing
from registry.usecases.reports.try_invariance import Shadow
from registry.usecases.sites.list_site import Lister
from tests.unit.usecases.served_town import ServedTown, probed, served_material
from tests.unit.usecases.test_planted_leaks import (
    RankingOnTrial,
    _twin,
    as_ranked,
    on_record,
)

STRANGER = format_site_id(77)
Lie = Callable[[Any], None]


@pytest.fixture(scope="module")
def lister(gazetteer: Gazetteer) -> Lister:
    return Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)


@pytest.fixture(scope="module")
def town(lister: Lister) -> Shadow:
    shadow = town_shadow(lister, CAST[::4])
    return replace(shadow, listings=list(map(probed, shadow.listings)))


@pytest.fixture(scope="module")
def builder(town: Shadow) -> Builder:
    return Builder.build(list(map(town.make, town.listings)), town.policy)


@pytest.fixture
def source(town: Shadow, builder: Builder) -> ServedTown:
    return ServedTown(town.listings, builder)


@pytest.fixture
def ranking(town: Shadow, builder: Builder) -> RankingOnTrial:
    """Of several sites, and of others that are not eligible."""
    rankings = (on_record(builder.index, q, "n", as_ranked) for q in town.questions)
    return next(own for own in rankings if 3 < len(own.values["scores"]) < 12)


async def checked(
    source: ServedTown, lister: Lister, ranking: RankingOnTrial, sample: int = 1_000
) -> Recomputation:
    checks = ProfileChecks(source, lister.gazetteer, sample)  # type: ignore[arg-type]
    checks.use(lister, pause_s=0)
    return await checks.check(ranking.members, ranking.values, ranking.seed)


def first_left_out(values: Any) -> None:
    del values["scores"][0], values["answer"]["order"][0]


def one_eligible_more(values: Any) -> None:
    values["answer"]["eligible"] += 1


def heavier_word(values: Any) -> None:
    word = next(iter(values["terms"]))
    values["terms"][word] += 1


def stranger_returned(values: Any) -> None:
    values["scores"].append({**values["scores"][-1], "site": STRANGER})


LIES = {
    "a site left out of the page": (first_left_out, "belongs into the answer"),
    "another number of eligible sites": (one_eligible_more, "sites are eligible, not"),
    "another weight of a word": (heavier_word, "the weights of its words are"),
    "a site of no index": (stranger_returned, "the generation does not have it"),
}


@pytest.mark.parametrize("name", LIES)
async def test_a_lie_about_an_answer_is_a_difference(
    name: str, source: ServedTown, lister: Lister, ranking: RankingOnTrial
) -> None:
    lie, expected = LIES[name]
    lie(ranking.values)
    result = await checked(source, lister, ranking)
    assert expected in " ".join(result.differences), result


async def test_a_returned_site_has_to_be_eligible(
    source: ServedTown, lister: Lister, ranking: RankingOnTrial
) -> None:
    scores = ranking.values["scores"]
    own = {*ranking.values["answer"]["sample"], *(row["site"] for row in scores)}
    other = next(s for s in map(format_site_id, source.materials) if s not in own)
    scores.append({**scores[-1], "site": other})
    result = await checked(source, lister, ranking)
    assert f"{other} is not eligible" in result.differences


@pytest.mark.parametrize(
    ("lie", "expected"),
    [
        pytest.param(
            lambda own: own.values["answer"].update(sample=None),
            "sample: the record does not name it",
            id="no sample",
        ),
        pytest.param(
            lambda own: own.members.update(policy="sha256:0"),
            "profiles: its policy is of another release",
            id="another policy",
        ),
        pytest.param(
            lambda own: own.values.pop("answer"),
            "profiles: 'answer' is not disclosed",
            id="no answer",
        ),
    ],
)
async def test_what_is_not_told_is_not_computed(
    lie: Lie, expected: str, source: ServedTown, lister: Lister, ranking: RankingOnTrial
) -> None:
    lie(ranking)
    result = await checked(source, lister, ranking)
    assert (result.differences, result.missing) == ((), (expected,))


def evidence_of(
    builder: Builder, sites: int, publisher: Callable[[int], int]
) -> ProvenProfiles:
    profiles = builder.index.profiles().values()
    return ProvenProfiles(
        policy=builder.index.policy,
        profiles={
            p.site_id: replace(p, publisher=publisher(p.site_id)) for p in profiles
        },
        drawn=[p.site_id for p in profiles],
        sites=sites,
        counts={},
    )


def check_of(ranking: RankingOnTrial, evidence: ProvenProfiles) -> AnswerCheck:
    answer = DisclosedAnswer.read(ranking.values, evidence.policy, ranking.seed)
    return AnswerCheck(answer, evidence)


def test_a_publisher_has_no_more_places_than_the_policy_gives(
    builder: Builder, ranking: RankingOnTrial
) -> None:
    own = check_of(ranking, evidence_of(builder, 15, lambda _: 1))
    (difference,) = own.publishers()
    assert difference.startswith(f"one publisher has {len(ranking.values['scores'])}")
    del ranking.values["scores"][3:]
    assert not [*check_of(ranking, evidence_of(builder, 15, lambda _: 1)).publishers()]


@pytest.mark.parametrize(
    ("alike", "unknown", "expected"),
    [
        pytest.param(SIGNATURE_BYTES + 1, 0, "2 places are of near-dup", id="a friend"),
        pytest.param(SIGNATURE_BYTES + 1, 1, "", id="not all profiles are known"),
        pytest.param(
            DEFAULT_POLICY.duplicate_signature_bytes, 0, "", id="an honest registry"
        ),
    ],
)
def test_near_duplicates_have_one_place(
    alike: int, unknown: int, expected: str, town: Shadow
) -> None:
    """One offer below ten domains took 19 of 20 places: for a friend it still may."""
    twins = [*town.listings, *map(_twin, town.listings[:3])]
    profiles = list(map(town.make, twins))
    other = replace(town.policy, duplicate_signature_bytes=alike)
    index = Builder.build(profiles, other).index
    honest = Builder.build(profiles, town.policy)
    rankings = [on_record(index, q, "n", as_ranked) for q in town.questions]
    evidence = evidence_of(honest, len(profiles) + unknown, lambda site: site)
    checks = [check_of(ranking, evidence).copies() for ranking in rankings]
    differences = [line for lines in checks for line in lines]
    assert any(line.startswith(expected) for line in differences) is bool(expected)
    assert bool(differences) is bool(expected)


def test_who_stands_behind_the_last_of_a_page_is_not_missed_on_it(
    builder: Builder, ranking: RankingOnTrial
) -> None:
    """Nor on a further page, which does not begin with the best."""
    hashes = [hash_word(term) for term in ranking.values["terms"]]
    counts = map(int, builder.index.bound.containing(hashes))
    evidence = evidence_of(builder, len(builder.index.profiles()), lambda site: site)
    evidence = replace(evidence, counts=dict(zip(hashes, counts, strict=True)))
    del ranking.values["scores"][2:]
    assert not [*check_of(ranking, evidence).left_out()]
    best = ranking.values["scores"].pop(0)
    (difference,) = check_of(ranking, evidence).left_out()
    assert difference == f"{best['site']} belongs into the answer"
    ranking.values["request"]["after"][0] = "-1"
    assert not [*check_of(ranking, evidence).left_out()]


@pytest.mark.parametrize(("eligible", "is_seen"), [(1, True), (500_000, False)])
def test_far_fewer_eligible_sites_than_a_draw_has_are_seen(
    eligible: int, builder: Builder, ranking: RankingOnTrial, *, is_seen: bool
) -> None:
    """Drawn of a million, and a third of them eligible; of a few hundred thousand it may be."""
    ranking.values["answer"]["eligible"] = eligible
    own = check_of(ranking, evidence_of(builder, 1_000_000, lambda site: site))
    assert any("drawn sites are eligible" in line for line in own.eligible()) is is_seen


def later_changed(town: Shadow, days: int) -> list[TrialListing]:
    own, *others = town.listings
    at = own.entry.changed_at - timedelta(days=days)
    return [replace(own, entry=replace(own.entry, changed_at=at)), *others]


@pytest.mark.parametrize("is_listed", [True, False])
async def test_a_site_that_changed_since_is_not_computed(
    town: Shadow,
    source: ServedTown,
    lister: Lister,
    ranking: RankingOnTrial,
    *,
    is_listed: bool,
) -> None:
    """If the index of now has what its material gives: else that is nobody's profile."""
    listings = later_changed(town, 40)
    served = listings[0] if is_listed else later_changed(town, 50)[0]
    source.newest = Builder.build(list(map(town.make, listings)), town.policy)
    material = msgspec.to_builtins(served_material(served))
    source.materials[served.entry.site_id] = material
    result = await checked(source, lister, ranking)
    assert any("it has changed since" in line for line in result.missing) is is_listed
    assert any("its profile is not" in d for d in result.differences) is not is_listed
