"""A window as it is read from the tables is that of its rankings one by one."""

from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec
import numpy as np
import pytest

from registry.db.engine.engines import Role
from registry.db.log.erased_pages import ERASED
from registry.db.log.rankings import (
    RankingWriter,
    StoredSelection,
    save_selection,
)
from registry.db.reports.observations import observe
from registry.db.schema.column_types import uuid_of
from registry.records.canonical import JsonValue
from registry.sites.identifier import format_site_id
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import Scene
from tests.unit.reports.observed import ObservedRanking, ObservedSelection, gather

SITES = range(101, 131)
UNREPORTED = -1
FACTORS = (9000, 4000, 3000, 2000, 1000)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A ranking as it may stand in the tables. chosen: a site, None or UNREPORTED."""

    order: tuple[int, ...] = tuple(SITES[:20])
    sampled: tuple[int, ...] = tuple(SITES[5:15])
    operator: str = "anon"
    query: JsonValue = "bread"
    filters: JsonValue = None
    location: JsonValue = None
    chosen: int | None = UNREPORTED
    is_scored: bool = False
    is_erased: bool = False


ANSWERS = (
    Answer(),
    Answer(query="rolls", order=tuple(SITES[3:4])),
    Answer(query="bread", chosen=SITES[2]),
    Answer(query="", chosen=None),
    Answer(query=None),
    Answer(query="Brötchen \U0001f956 " * 20, sampled=()),
    Answer(order=(), sampled=()),
    Answer(is_erased=True, filters={"category": "bakery"}, is_scored=True),
    Answer(operator="agent.example", filters={"category": "bakery", "language": "de"}),
    Answer(operator="a" * 43, filters={"category": "Café"}, is_scored=True),
    Answer(operator="agent.example", order=(), sampled=()),
    Answer(is_scored=True, location="u33d", order=(7, *SITES[:2])),
    Answer(is_scored=True, order=(), sampled=()),
)
"""Site 7 is one that nobody has registered."""


def ranking_of(scene: Scene, answer: Answer) -> MadeRanking:
    disclosed: dict[str, JsonValue] = {
        "query": answer.query,
        "location": answer.location,
        "filters": answer.filters or {},
    }
    if answer.is_scored:
        disclosed["scores"] = [
            {
                "factors": list(FACTORS),
                "score": 1,
                "site": format_site_id(site),
                "tie": "0",
            }
            for site in answer.order
        ]
    scene.clock.advance(minutes=1)  # ids are in the order of minutes
    ranking = make_ranking(
        scene.ids, answer.order, eligible=answer.sampled, disclosed=disclosed
    )
    fields = msgspec.structs.replace(ranking.fields, operator=answer.operator)
    return replace(ranking, fields=fields, count=40)


def observed(answer: Answer, ranking: MadeRanking) -> ObservedRanking:
    filters = answer.filters if isinstance(answer.filters, dict) else {}
    is_open = not answer.is_erased
    site = format_site_id(answer.chosen) if (answer.chosen or -1) > 0 else None
    is_reported = answer.chosen != UNREPORTED
    return ObservedRanking(
        id=ranking.record.id,
        eligible=40,
        returned=tuple(map(format_site_id, answer.order)),
        eligible_sample=tuple(map(format_site_id, answer.sampled or answer.order)),
        selection=ObservedSelection(site_id=site) if is_reported else None,
        query=str(answer.query or "") if is_open else "",
        operator=answer.operator,
        category=str(filters.get("category", "")) if is_open else "",
        factors=(FACTORS,) * len(answer.order) if answer.is_scored and is_open else (),
        located=answer.location is not None,
    )


@pytest.fixture
async def rankings(scene: Scene) -> list[MadeRanking]:
    await scene.sql("TRUNCATE audit.pending, audit.ranking")
    rankings = [ranking_of(scene, answer) for answer in ANSWERS]
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write(
            [ranking.row for ranking in rankings]
        )
        for answer, ranking in zip(ANSWERS, rankings, strict=True):
            if answer.chosen != UNREPORTED:
                selection = StoredSelection(
                    ranking_id=ranking.record.id,
                    record_id=scene.ids.ulid(),
                    site_id=answer.chosen,
                    choice="",
                    accepted_at=scene.clock(),
                )
                await save_selection(connection, selection)
        await connection.commit()
    for answer, ranking in zip(ANSWERS, rankings, strict=True):
        if answer.is_erased:
            emptied = ", ".join(f"{name} = NULL" for name in ERASED)
            await scene.sql(
                f"UPDATE audit.ranking SET {emptied} WHERE record_id = :id",
                id=uuid_of(ranking.record.id),
            )
    return rankings


@pytest.mark.parametrize("operator", ["", "anon", "agent.example", "a" * 43, "nobody"])
async def test_columns_are_those_of_the_rankings_one_by_one(
    scene: Scene, rankings: list[MadeRanking], operator: str
) -> None:
    scene.clock.advance(minutes=1)  # ids are in the order of minutes
    async with scene.engines[Role.AUDITOR].connect() as connection:
        observation = await observe(
            connection, rankings[0].fields.at, scene.clock(), operator
        )
    answers = zip(ANSWERS, rankings, strict=True)
    expected = gather([observed(*answer) for answer in answers], [], operator)
    assert values(observation.scored) == values(expected.scored)
    assert repr(values(observation.sites)) == repr(
        values(expected.sites)
    )  # NaN equals NaN
    parts = expected.parts if operator != "nobody" else []
    assert list(map(values, observation.parts)) == list(map(values, parts))


def values(columns: Any) -> list[Any]:
    stored_columns = [getattr(columns, field.name) for field in fields(columns)]
    return [
        (array.dtype, array.tolist()) if isinstance(array, np.ndarray) else array
        for array in stored_columns
    ]
