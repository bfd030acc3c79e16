"""A report of a window that is over comes out again, whatever sites have become since."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from registry.db import labels
from registry.db.engine.engines import Role
from registry.db.log.rankings import RankingWriter
from registry.db.sites.former_categories import categories_then
from registry.identity.keys.private_keys import public_key_of
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive.reading import open_archive
from registry.reports.model import FairnessReport
from registry.usecases.reports.archived_report import report_of_archive
from registry.usecases.reports.make_report import make_report
from registry.usecases.reports.write_archive import window_of_minutes, write_archive
from tests.db.rankings import make_ranking
from tests.db.scene import NOON, Scene, SiteOwner, body_of, understood, wab
from tests.db.test_archiving import KEY, publish
from tests.db.test_reporting import scores_of

HOUR = timedelta(hours=1)
WINDOW = window_of_minutes(NOON - HOUR, NOON + HOUR, NOON + 9 * HOUR)


async def become(scene: Scene, site: SiteOwner, category: str) -> None:
    """By a new document, an hour later."""
    scene.clock.advance(hours=1)
    provider = {"name": "Alder", "category": category, "description": "Food."}
    content = body_of(site.host, wab(provider=provider), at=scene.clock())
    what = understood(site.host, content, at=scene.clock())
    await scene.play(site, what=what, act="update")
    assert (await scene.entry(site)).site.category == category


async def category_at(scene: Scene, site: SiteOwner, at: datetime) -> str:
    """As it is published."""
    site_id = (await scene.entry(site)).site_id
    async with scene.engines[Role.AUDITOR].connect() as connection:
        (result,) = await labels.labelled_sites(
            connection, at, after=site_id - 1, most=1
        )
    return result.category


async def test_category_of_a_past_instant_stays_what_it_was(scene: Scene) -> None:
    site = await scene.register()
    for category in ("hotel", "hotel", "bakery", "restaurant"):
        await become(scene, site, category)
    hours = [await category_at(scene, site, NOON + n * HOUR) for n in range(5)]
    assert hours == ["restaurant", "hotel", "hotel", "bakery", "restaurant"]
    just_before = NOON + HOUR - timedelta(microseconds=1)
    assert await category_at(scene, site, just_before) == "restaurant"


async def test_only_what_has_changed_since_is_noted(scene: Scene) -> None:
    site, other = await scene.register(), await scene.register()
    await become(scene, site, "hotel")
    site_id, other_id = [(await scene.entry(item)).site_id for item in (site, other)]
    async with scene.engines[Role.AUDITOR].connect() as connection:
        then = await categories_then(connection, NOON)
        after = await categories_then(connection, NOON + HOUR)
    assert then[site_id] == "restaurant"
    assert site_id not in after
    assert other_id not in then


async def test_what_was_noted_is_never_changed(scene: Scene) -> None:
    site = await scene.register()
    await become(scene, site, "hotel")
    for statement in (
        "UPDATE disclosure.former_category SET category = 'x'",
        "DELETE FROM disclosure.former_category",
    ):
        with pytest.raises(DBAPIError, match="append-only"):
            await scene.sql(statement)


async def report(scene: Scene, **query: Any) -> FairnessReport:
    async with scene.engines[Role.AUDITOR].connect() as connection:
        return await make_report(connection, WINDOW, DEFAULT_POLICY, **query)


@pytest.mark.parametrize("query", [{}, {"category": "restaurant"}], ids=str)
async def test_report_of_a_past_window_comes_out_again_and_from_a_later_archive(
    scene: Scene, tmp_path: Path, query: dict[str, str]
) -> None:
    sites = [await scene.register() for _ in range(2)]
    ids = [(await scene.entry(site)).site_id for site in sites]
    rankings = [
        make_ranking(
            scene.ids,
            ids,
            disclosed={
                "query": f"question {number}",
                "location": None,
                "filters": {},
                "scores": scores_of(ids),
            },
        )
        for number in range(36)
    ]
    async with scene.api.connect() as connection:
        writer = await RankingWriter.over(connection)
        await writer.write([ranking.row for ranking in rankings])
    scene.clock.advance(hours=1)
    await publish(scene)
    before = await report(scene, **query)
    await become(scene, sites[0], "hotel")
    await become(scene, sites[1], "bakery")
    assert await report(scene, **query) == before
    async with scene.engines[Role.AUDITOR].connect() as connection:
        await write_archive(connection, WINDOW, tmp_path / "archive", KEY)
    archive = open_archive(tmp_path / "archive", public_key_of(KEY))
    result = report_of_archive(archive, before.algorithm, before.terms, DEFAULT_POLICY)
    assert result == before
    assert before.counts.rankings >= len(rankings)
