"""Registries that lie over HTTP to `audit profile` and to the profiles of `reproduce`.

Each row is one lie of an otherwise honest town; none may end as "the same".
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from registry.auditor.profiles.answer_check import SURE
from registry.auditor.profiles.answer_check import _chance as chance
from registry.auditor.profiles.answer_check import _draw_chance as draw_chance
from registry.auditor.profiles.check_ranking import ProfileChecks
from registry.auditor.source import open_source
from registry.bench.invariance import NOW, town_shadow
from registry.demo.town.member import CAST
from registry.index.building.builder import Builder
from registry.index.columns.hashes import hash_word
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, Subject, make_profiles
from registry.ranking.quality import summarise_probes
from registry.ranking.relevance import idf_milli
from registry.records.recomputation import Recomputation
from registry.sites.gazetteer import Gazetteer
from registry.sites.identifier import format_site_id
from registry.usecases.reports.try_invariance import Shadow
from registry.usecases.sites import profile_material
from registry.usecases.sites.list_site import Lister
from tests.cli.audited import Served, run_json, serving
from tests.unit.usecases.served_town import ServedTown, probed, probes_of
from tests.unit.usecases.test_planted_leaks import RankingOnTrial, as_ranked, on_record

BERLIN = 2_950_159
Lie = Callable[[Any], None]


@pytest.fixture(scope="module")
def lister(gazetteer: Gazetteer) -> Lister:
    return Lister(gazetteer=gazetteer, encoder=load_encoder(), policy=DEFAULT_POLICY)


@pytest.fixture(scope="module")
def town(lister: Lister) -> Shadow:
    shadow = town_shadow(lister, CAST[::4])
    return replace(shadow, listings=list(map(probed, shadow.listings)))


@dataclass
class Lying:
    """A town behind an HTTP server. lie: what is done to an answer of a kind of path."""

    town: ServedTown
    served: Served
    kind: str = ""
    lie: Lie = dict

    def answer(self, path: str) -> tuple[int, bytes, dict[str, str]]:
        kind = path.split("/")[2]
        body: Any = {"id": format_site_id(self.site_id)}
        if kind != "sites":
            body = json.loads(json.dumps(self.town.answer(path)))
        if kind == self.kind:
            self.lie(body)
        return 200, json.dumps(body).encode(), {}

    @property
    def site_id(self) -> int:
        return min(self.town.materials)

    @property
    def host(self) -> str:
        return str(self.town.materials[self.site_id]["host"])


@pytest.fixture
def lying(town: Shadow, tmp_path: Path) -> Iterator[Lying]:
    profiles = [town.make(listing) for listing in town.listings]
    source = ServedTown(town.listings, Builder.build(profiles, town.policy))
    with serving(tmp_path) as served:
        registry = Lying(source, served)
        served.answer = registry.answer  # type: ignore[method-assign]
        yield registry


def members(**changes: Any) -> Lie:
    return lambda answer: answer.update(changes)


def worse_probe(answer: Any) -> None:
    answer["probes"][0][1] = "unreachable"


def other_words(answer: Any) -> None:
    document = answer["documents"][0]
    body = b64decode(document["body"])
    text = re.sub(rb'"description": *"', b'"description": "Weddings, ', body)
    assert text != body
    document["body"] = b64encode(text).decode()


def other_digest(answer: Any) -> None:
    for bucket in answer["siteBuckets"]:
        entries = bucket["entries"]
        letter = "B" if entries[20] == "A" else "A"
        bucket["entries"] = entries[:20] + letter + entries[21:]


def other_path(answer: Any) -> None:
    for bucket in answer["siteBuckets"]:
        bucket["path"][0] = bucket["path"][0].translate(str.maketrans("01", "10"))


def fewer_sites(answer: Any) -> None:
    root = bytearray.fromhex(answer["sites"])
    root[-1] ^= 1
    answer["sites"] = root.hex()


LIES = {
    "a probe that failed": ("profiles", worse_probe, 1),
    "fewer probes": ("profiles", members(probes=[]), 1),
    "a word more": ("profiles", other_words, 1),
    "no document": ("profiles", members(documents=[]), 1),
    "another day of change": ("profiles", members(changedAt=1), 1),
    "a place of its own": (
        "profiles",
        members(place={"geonamesId": BERLIN, "since": None}),
        1,
    ),
    "a move that nothing declares": (
        "profiles",
        members(placeMove={"geonamesId": BERLIN, "since": 1}),
        1,
    ),
    "a city beyond the table": (
        "profiles",
        members(place={"geonamesId": 2**40, "since": 2**60}),
        1,
    ),
    "another site": ("profiles", members(id=format_site_id(77)), 3),
    "no place": ("profiles", lambda answer: answer.pop("place"), 3),
    "a word for a number": ("profiles", members(changedAt="today"), 3),
    "another digest": ("generations", other_digest, 1),
    "another path": ("generations", other_path, 1),
    "no bucket": ("generations", members(siteBuckets=[]), 1),
    "another root": ("generations", fewer_sites, 1),
    "no root": ("generations", members(sites="zz"), 1),
}
LIES_OF_ANSWERS = {
    "no number of sites with a word": ("generations", members(wordBuckets=[]), 1),
}
"""Lies about what a profile has nothing to do with."""


def audit(lying: Lying) -> tuple[int, Any]:
    return run_json("profile", lying.host, "--registry", lying.served.url)


def test_an_honest_profile_is_the_same(lying: Lying) -> None:
    code, output = audit(lying)
    assert (code, output["same"]) == (0, True), output
    assert output["ids"] == [format_site_id(lying.site_id)]


@pytest.mark.parametrize("name", LIES)
def test_a_lie_is_never_the_same_profile(name: str, lying: Lying) -> None:
    lying.kind, lying.lie, expected = LIES[name]
    code, output = audit(lying)
    assert (code, output.get("same", False)) == (expected, False), output


def test_the_profile_of_another_host_is_not_the_one_asked_for(lying: Lying) -> None:
    """A site that is left out of the index, under the id of one that is in it."""
    *_, other = lying.town.materials
    lying.kind, lying.lie = "sites", members(id=format_site_id(other))
    code, output = audit(lying)
    assert (code, output["same"]) == (1, False)
    (difference,) = output["differences"]
    assert f"it is not {lying.host}'s, but " in difference


@pytest.mark.parametrize(("status", "expected"), [("active", 1), ("withdrawn", 3)])
def test_a_site_that_is_not_listed_has_no_profile_to_be_another(
    lying: Lying, status: str, expected: int
) -> None:
    lying.kind = "sites"
    lying.lie = members(id=format_site_id(77), status=status)
    code, output = audit(lying)
    assert (code, output["same"]) == (expected, False)
    assert bool(output["differences"]) is (expected == 1)


def test_another_generation_than_the_one_named_proves_nothing(lying: Lying) -> None:
    code, output = run_json(
        "profile",
        lying.host,
        "--registry",
        lying.served.url,
        "--generation",
        "sha256:0",
    )
    assert code == 1
    assert "was served for" in json.dumps(output)


async def reproduced(
    lying: Lying, lister: Lister, ranking: RankingOnTrial
) -> Recomputation:
    async with open_source(lying.served.url) as source:
        checks = ProfileChecks(source, lister.gazetteer, sample=1_000)
        checks.use(lister, pause_s=0)
        return await checks.check(ranking.members, ranking.values, ranking.seed)


def rank(town: Shadow, index: Any) -> RankingOnTrial:
    question = next(item for item in town.questions if "book" in item.text)
    return on_record(index, question, "n", as_ranked)


async def test_an_honest_answer_is_reproduced_over_http(
    lying: Lying, lister: Lister, town: Shadow
) -> None:
    result = await reproduced(lying, lister, rank(town, lying.town.builder.index))
    assert (result.differences, result.missing) == ((), ())


@pytest.fixture
def made_at_once(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of profiles that are made in one go."""
    numbers = []

    def counted(subjects: list[Subject], **known: Any) -> list[Profile]:
        numbers.append(len(subjects))
        return make_profiles(subjects, **known)

    monkeypatch.setattr(profile_material, "make_profiles", counted)
    return numbers


async def test_profiles_are_made_at_once(
    lying: Lying, lister: Lister, town: Shadow, made_at_once: list[int]
) -> None:
    result = await reproduced(lying, lister, rank(town, lying.town.builder.index))
    assert (result.differences, made_at_once) == ((), [len(lying.town.materials)])


async def test_a_material_that_makes_no_profile_keeps_no_other_from_its_own(
    lying: Lying, lister: Lister, town: Shadow, made_at_once: list[int]
) -> None:
    ranking = rank(town, lying.town.builder.index)
    lying.town.materials[lying.site_id]["documents"] = []
    result = await reproduced(lying, lister, ranking)
    name = format_site_id(lying.site_id)
    wrong = [line for line in result.differences if "its profile is not what" in line]
    assert [line.partition(":")[0] for line in wrong] == [name]
    assert made_at_once.count(1) >= len(lying.town.materials) - 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a probe that failed", "its profile is not"),
        ("another site", "another site was served"),
        ("another digest", "the generation:"),
        ("no bucket", "the generation:"),
        ("another root", "the generation:"),
        ("no number of sites with a word", "the generation:"),
    ],
)
async def test_a_lie_reproduces_no_answer(
    name: str, text: str, lying: Lying, lister: Lister, town: Shadow
) -> None:
    ranking = rank(town, lying.town.builder.index)
    lying.kind, lying.lie, _ = {**LIES, **LIES_OF_ANSWERS}[name]
    result = await reproduced(lying, lister, ranking)
    assert text in " ".join((*result.differences, *result.missing))


@pytest.mark.parametrize(
    "change", [lambda n: n + 2, lambda n: max(1, n - 1), lambda _: 9_999]
)
async def test_a_false_table_of_words_is_seen(
    change: Callable[[int], int], lying: Lying, lister: Lister, town: Shadow
) -> None:
    """The registry ranks by it, commits to it and proves it: all agrees but the sites."""
    builder = lying.town.builder
    ranking = rank(town, builder.index)
    terms = list(ranking.values["terms"])
    hashes = [hash_word(term) for term in terms]
    counts = builder.index.bound.containing(hashes)
    false = np.array([change(count) for count in counts], ">u4")
    generation = replace(
        builder.generation,
        words=builder.generation.words.updated(
            np.array(hashes, np.uint64), false.view(np.uint8).reshape(-1, 4)
        ),
    )
    lying.town.builder = SimpleNamespace(generation=generation)  # type: ignore[assignment]
    ranking.members["snap"] = generation.roots.name
    sites = len(builder.generation.sites)
    ranking.values["terms"] = {
        term: idf_milli(sites, int(count))
        for term, count in zip(terms, false, strict=True)
    }
    result = await reproduced(lying, lister, ranking)
    text = " ".join(result.differences)
    assert "profiles have the word" in text
    assert "the weights of its words" not in text


@pytest.mark.parametrize(
    ("uncounted", "text"),
    [
        pytest.param(1, "", id="one of this minute"),
        pytest.param(2, "", id="one of an hour ago"),
        pytest.param(3, "T10:00Z does not count in it", id="one of two hours ago"),
    ],
)
async def test_an_index_that_leaves_out_the_last_probes_is_seen(
    uncounted: int, text: str, lying: Lying, lister: Lister, town: Shadow
) -> None:
    """All of it is proven: the registry only ranks by an index of the time it likes."""
    older = [
        replace(own, probes=summarise_probes(probes_of(own)[uncounted:]))
        for own in town.listings
    ]
    builder = Builder.build(list(map(town.make, older)), town.policy)
    lying.town.builder = builder
    result = await reproduced(lying, lister, rank(town, builder.index))
    assert bool(result.differences) is bool(text), result.differences
    assert text in " ".join(result.differences)
    assert result.missing == ()


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        pytest.param(2, 3, id="a moment ago"),
        pytest.param(59, 3, id="within the hour"),
        pytest.param(61, 1, id="more than an hour ago"),
        pytest.param(-90, 1, id="dated ahead"),
    ],
)
def test_an_index_that_lags_behind_a_visit_is_no_lie(
    minutes: int, expected: int, lying: Lying
) -> None:
    """A visit found other words, and the indexer has not come to it yet."""
    visited_at = datetime.now(UTC) - timedelta(minutes=minutes)

    def visit(answer: Any) -> None:
        other_words(answer)
        answer["documents"][0]["fetchedAt"] = int(visited_at.timestamp())

    lying.kind, lying.lie = "profiles", visit
    code, output = audit(lying)
    assert (code, output["same"]) == (expected, False), output
    name, when = format_site_id(lying.site_id), f"{visited_at:%Y-%m-%dT%H:%MZ}"
    text = f"{name}: the index has not followed its visit of {when} yet"
    assert output["notChecked"] == ([text] if expected == 3 else [])


@pytest.mark.parametrize(("hours", "is_seen"), [(1, False), (2, True)])
async def test_a_change_of_the_future_is_seen(
    hours: int, is_seen: bool, lying: Lying, lister: Lister, town: Shadow
) -> None:
    """It would be fresh until then, and material and profile agree."""
    own, *others = town.listings
    later = NOW + timedelta(hours=hours)
    changed = replace(own, entry=replace(own.entry, changed_at=later))
    profiles = list(map(town.make, [changed, *others]))
    lying.town.builder = Builder.build(profiles, town.policy)
    lying.town.materials[own.entry.site_id]["changedAt"] = int(later.timestamp())
    result = await reproduced(lying, lister, rank(town, lying.town.builder.index))
    assert ("it holds what was seen at" in " ".join(result.differences)) is is_seen


async def test_an_index_without_a_listed_site_is_no_success(
    lying: Lying, lister: Lister, town: Shadow
) -> None:
    """Nobody draws it from the index of the ranking; that of now has it."""
    own, *others = town.listings
    lying.town.builder = Builder.build(list(map(town.make, others)), town.policy)
    result = await reproduced(lying, lister, rank(town, lying.town.builder.index))
    name = format_site_id(own.entry.site_id)
    assert result.missing == (f"{name}: in the index of now, and not in that one",)


def test_the_chance_of_a_draw_is_that_of_counting() -> None:
    """Three of five sites drawn, two of which have a word; and thousands of many."""
    chances = [draw_chance(own, 3, 2, 5) for own in range(4)]
    assert chances == pytest.approx([0.1, 0.7, 0.3, 0])
    assert draw_chance(3, 5, 3, 5) == pytest.approx(1)
    assert draw_chance(2, 5, 3, 5) == 0
    assert draw_chance(0, 3_000, 500_000, 1_000_000) < SURE
    assert chance(0, 3_000, 0.5) < SURE < chance(1_500, 3_000, 0.5)
    assert (chance(0, 9, 0), chance(9, 9, 1), chance(1, 9, 0)) == (1, 1, 0)
