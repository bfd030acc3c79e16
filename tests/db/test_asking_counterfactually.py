"""An auditor's question, through the engine that serves, and on no record."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from registry.db.engine.engines import Role
from registry.db.log.rankings import erase_openings
from registry.db.schema.column_types import ulid_of
from registry.errors import RateLimited, RegistryError
from registry.index.building.builder import Builder
from registry.index.columns.filters import Filters
from registry.ranking.policy import FULL
from registry.ranking.profile import Profile, parse_profile
from registry.ranking.quality import ProbeFigures
from registry.records.counterfactual import Inquiry
from registry.reports.invariance import PERTURBATION
from registry.sites.entry import SiteEntry
from registry.sites.identifier import format_site_id
from registry.usecases.reports.answer_counterfactual import (
    Counterfactual,
    Counterfactuals,
)
from registry.usecases.reports.shadow_index import JOINS
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.sites.list_site import Lister
from tests.db.scene import NOON, Scene
from tests.db.test_trying_invariance import MEMBERS, WISHES, ask, join

QUESTION = Inquiry(
    auditor="auditor.example+0badc0de+AQ",
    audience="registry.example",
    issued_at=int(NOON.timestamp()),
    perturbation="name",
    query=WISHES[0],
    cell="u33d",
)


@pytest.fixture(scope="module")
def joined() -> list[int]:
    return []


@pytest.fixture
async def town(scene: Scene, joined: list[int]) -> list[int]:
    """Made once for all tests here; what one erases it has asked itself."""
    if not joined:
        joined += [await join(scene, member) for member in MEMBERS]
        await ask(scene, joined)
    return joined


@pytest.fixture
async def follower(scene: Scene, town: list[int], tmp_path: Path) -> IndexFollower:
    stored = await scene.sql("SELECT profile FROM registry.site_profile WHERE listed")
    policy = scene.lister.policy
    index_follower = IndexFollower(tmp_path, scene.lister.encoder, policy)
    profiles = [parse_profile(row.profile) for row in stored]
    index_follower.index, index_follower.is_loaded = (
        Builder.build(profiles, policy).index,
        True,
    )
    return index_follower


@pytest.fixture
def desk(scene: Scene, follower: IndexFollower) -> Counterfactuals:
    auditor = scene.engines[Role.AUDITOR]
    return Counterfactuals(auditor, scene.lister, follower, scene.ids.clock)


def about(
    town: list[int], perturbation: str, count: int = 3, **changes: object
) -> Inquiry:
    sites = () if perturbation == JOINS else tuple(map(format_site_id, town[:count]))
    changed = structs.replace(QUESTION, perturbation=perturbation, sites=sites)
    return structs.replace(changed, **changes)


async def answered(desk: Counterfactuals, inquiry: Inquiry) -> Counterfactual:
    return await desk.answer(inquiry, Filters())


@pytest.mark.parametrize("name", PERTURBATION)
async def test_what_is_promised_of_each_perturbation_holds(
    desk: Counterfactuals, town: list[int], name: str
) -> None:
    result = await answered(desk, about(town, name))
    assert result.held
    assert result.before.slots
    assert len(result.changed) == (1 if name == JOINS else 3)
    assert result.shadow == result.listed == len(town)


@pytest.mark.parametrize("name", ["nearer", "farther", "older"])
async def test_what_may_move_a_site_does(
    desk: Counterfactuals, town: list[int], name: str
) -> None:
    result = await answered(desk, about(town, name, count=16))
    assert result.before.scores != result.after.scores


class Bribable(Lister):
    """Makes profiles that know what a site pays."""

    def profile_of(
        self, entry: SiteEntry, formats: frozenset[str], probes: ProbeFigures
    ) -> Profile:
        profile = super().profile_of(entry, formats, probes)
        paid = int(100 * (entry.site.commission_percent or 0))
        return replace(profile, quality=min(FULL, profile.quality // 2 + paid))


async def test_a_ranker_that_knows_who_pays_is_told(
    scene: Scene, follower: IndexFollower, town: list[int]
) -> None:
    bribable = Bribable(
        gazetteer=scene.lister.gazetteer,
        encoder=scene.lister.encoder,
        policy=scene.lister.policy,
    )
    auditor = scene.engines[Role.AUDITOR]
    desk = Counterfactuals(auditor, bribable, follower, scene.ids.clock)
    result = await answered(desk, about(town, "commission", count=16))
    assert not result.held


async def test_the_same_statement_gives_the_same_answer(
    desk: Counterfactuals, town: list[int]
) -> None:
    inquiry = about(town, "working")
    assert await answered(desk, inquiry) == await answered(desk, inquiry)


async def test_the_query_of_a_ranking_is_asked_again(
    scene: Scene, desk: Counterfactuals, town: list[int]
) -> None:
    (row,) = await scene.sql(
        "SELECT record_id FROM audit.ranking WHERE query IS NOT NULL"
        " AND location IS NOT NULL LIMIT 1"
    )
    ranking = ulid_of(row.record_id)
    query = about(town, "trust", ranking=ranking, query=None, cell=None)
    assert (await answered(desk, query)).held


async def test_of_an_erased_ranking_nothing_is_asked(
    scene: Scene, desk: Counterfactuals, town: list[int]
) -> None:
    (row,) = await scene.sql(
        "SELECT record_id FROM audit.ranking WHERE location IS NOT NULL"
        " ORDER BY record_id DESC LIMIT 1"
    )
    ranking = ulid_of(row.record_id)
    async with scene.engines[Role.ERASER].begin() as connection:
        await erase_openings(connection, [ranking])
    query = about(town, "trust", ranking=ranking, query=None, cell=None)
    with pytest.raises(RegistryError, match="ranking_erased"):
        await answered(desk, query)


@pytest.mark.parametrize(
    ("changes", "code", "pointer"),
    [
        pytest.param(
            {"perturbation": "weather"},
            "perturbation_unfit",
            "/perturbation",
            id="no such perturbation",
        ),
        pytest.param({"sites": ()}, "perturbation_unfit", "/sites", id="of nobody"),
        pytest.param(
            {"perturbation": JOINS}, "perturbation_unfit", "/sites", id="a joiner named"
        ),
        pytest.param(
            {"perturbation": "nearer", "cell": None},
            "perturbation_unfit",
            "/cell",
            id="nearer to nowhere",
        ),
        pytest.param(
            {"sites": ("0" * 13,)}, "site_unknown", "/sites/0", id="a site of nobody"
        ),
        pytest.param({"sites": ("Z" * 13,)}, "site_unknown", "/sites", id="no site id"),
        pytest.param(
            {"query": None, "cell": None, "ranking": "0" * 26},
            "ranking_unknown",
            "/ranking",
            id="no such ranking",
        ),
    ],
)
async def test_questions_that_can_not_be_asked_are_refused_and_leave_the_desk_free(
    desk: Counterfactuals,
    town: list[int],
    changes: dict[str, object],
    code: str,
    pointer: str,
) -> None:
    inquiry = structs.replace(about(town, "name"), **changes)
    with pytest.raises(RegistryError, match=code) as refused:
        await answered(desk, inquiry)
    assert refused.value.problem.pointer == pointer
    assert (await answered(desk, about(town, "name"))).held


async def test_one_question_is_answered_at_a_time(
    desk: Counterfactuals, town: list[int]
) -> None:
    inquiry = about(town, "name")
    first, second = await asyncio.gather(
        answered(desk, inquiry), answered(desk, inquiry), return_exceptions=True
    )
    assert isinstance(first, Counterfactual)
    assert isinstance(second, RateLimited)
    assert second.retry_after_s
    assert (await answered(desk, inquiry)).held


async def test_nothing_of_a_question_is_put_on_record(
    scene: Scene, desk: Counterfactuals, town: list[int]
) -> None:
    count = (
        "SELECT (SELECT count(*) FROM audit.pending) AS pending,"
        " (SELECT count(*) FROM audit.ranking) AS rankings"
    )
    before = await scene.sql(count)
    await answered(desk, about(town, "labels"))
    assert await scene.sql(count) == before
