"""Trials of invariance over listed sites and recorded queries, read as the auditor."""

import asyncio
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from sqlalchemy.engine import URL

from registry.bench.invariance import with_leak
from registry.cli.reports.invariance import invariance
from registry.db.engine.engines import Role
from registry.db.log.rankings import RankingWriter
from registry.db.sites import profiles
from registry.demo.requests import OTHERS
from registry.demo.town.build_document import build_document
from registry.demo.town.member import CAST, Member
from registry.demo.town.member_declarations import declare
from registry.identity.statements.declarations import parse_declarations
from registry.index.columns.filters import Filters
from registry.ranking.profile import encode_profile
from registry.reports.invariance import PERTURBATIONS
from registry.sites.host import parse_host
from registry.usecases.reports import trial_materials
from registry.usecases.reports.trial_materials import cast_shadow, read_trial_material
from registry.usecases.reports.try_invariance import Shadow, try_invariance
from tests.db.rankings import make_ranking
from tests.db.scene import Scene, SiteOwner, body_of, understood

TRIALS = 10 * len(PERTURBATIONS)
MEMBERS = [item for item in CAST if build_document(item) is not None][::2]
WISHES = [other_item["q"] for other_item in OTHERS]


async def join(scene: Scene, member: Member) -> int:
    """The member registers, and its document is read."""
    owner = SiteOwner(host=parse_host(member.host, test_hosts=True))
    declared = declare(member)
    what = understood(
        owner.host,
        body_of(owner.host, build_document(member)),
        declarations=parse_declarations(declared),
    )
    decided = await scene.play(owner, what=what, **declared)
    assert decided.status == "active", decided.problems
    return (await scene.entry(owner)).site_id


async def ask(scene: Scene, site_ids: list[int]) -> None:
    """One of the rankings is erased; a query of it is tried no more."""
    questions = [
        {"query": text, "location": "u33d" if number % 2 else None, "filters": {}}
        for number, text in enumerate(WISHES)
    ]
    questions[0]["filters"] = {"category": "bakery"}
    rankings = [
        make_ranking(scene.ids, site_ids[:3], eligible=site_ids[:9], disclosed=item)
        for item in questions
    ]
    erased = make_ranking(scene.ids, site_ids[:3], disclosed={"location": "u33d"})
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write(
            [ranking.row for ranking in (*rankings, erased)]
        )


async def read(scene: Scene) -> Shadow:
    async with scene.engines[Role.AUDITOR].connect() as connection:
        material = await read_trial_material(connection, scene.lister, scene.clock(), 9)
        return await cast_shadow(connection, material, scene.lister)


@pytest.fixture(scope="module")
def joined() -> list[int]:
    return []


@pytest.fixture
async def town(scene: Scene, joined: list[int]) -> Shadow:
    """Made once for all tests here, which change nothing of it."""
    if not joined:
        joined += [await join(scene, member) for member in MEMBERS]
        await ask(scene, joined)
    return await read(scene)


async def test_queries_that_are_not_erased_are_tried_on_listed_sites(
    town: Shadow, joined: list[int]
) -> None:
    assert {listing.entry.site_id for listing in town.listings} == set(joined)
    questions = [question for question in town.questions if question]
    assert sorted(question.text for question in questions) == sorted(WISHES)
    by_text = {question.text: question for question in questions}
    assert by_text[WISHES[0]].filters == Filters(category="bakery")
    assert by_text[WISHES[0]].cell is None
    assert by_text[WISHES[1]].cell == "u33d"
    assert all(listing.documents for listing in town.listings)


async def test_profiles_are_made_as_they_are_in_earnest(
    scene: Scene, town: Shadow
) -> None:
    members = {listing.entry.site_id: town.make(listing) for listing in town.listings}
    async with scene.engines[Role.CRAWLER].connect() as connection:
        for site_id, profile in members.items():
            body = await profiles.profile_of(connection, site_id)
            assert body == encode_profile(profile)


async def test_nothing_moves_the_rankings_of_the_registry(town: Shadow) -> None:
    result = try_invariance(town, trials=TRIALS, seed=1)
    assert result.trials == TRIALS
    assert result.violations == 0, result.sentence


async def test_a_planted_leak_is_found_within_one_run(town: Shadow) -> None:
    planted = replace(town, make=with_leak(town.make))
    result = try_invariance(planted, trials=TRIALS, seed=1)
    failed = {tally.perturbation for tally in result.tallies if tally.violations}
    assert failed == {"tier"}


async def test_the_sites_of_a_material_tell_nothing_of_what_was_asked(
    scene: Scene, town: Shadow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither which they are nor their order; strangers may read it."""
    monkeypatch.setattr(trial_materials, "RANKINGS_MAX", 0)
    by_none = await read(scene)
    monkeypatch.setattr(trial_materials, "RANKINGS_MAX", 2)
    monkeypatch.setattr(trial_materials, "SITES_MAX", 9)
    by_two = await read(scene)
    by_none_ids, by_two_ids = (
        [item.entry.site_id for item in cast.listings] for cast in (by_none, by_two)
    )
    assert by_two_ids == by_none_ids[:9]
    assert (len(by_none.questions), len(by_two.questions)) == (0, 2)


async def test_the_command_tells_what_was_tried_and_no_query(
    town: Shadow, database: URL
) -> None:
    url = database.render_as_string(hide_password=False)
    arguments = ["--trials", str(len(PERTURBATIONS)), "--seed", "3", "--json"]
    done = await asyncio.to_thread(
        CliRunner().invoke,
        invariance,
        arguments,
        env={"FAIR_REGISTRY_DATABASE_URL": url},
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    questions = json.loads(done.stdout)
    assert (questions["trials"], questions["violations"]) == (len(PERTURBATIONS), 0)
    assert questions["seed"] == 3
    assert questions["sentence"].startswith(f"In {len(PERTURBATIONS)} trials with")
    assert not any(text in done.stdout for text in WISHES)
