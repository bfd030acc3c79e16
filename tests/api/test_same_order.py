"""Whichever face an agent asks, the order is the same, and each answer is on record once."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import text

from registry.db.engine.engines import Role, open_engine
from tests.api.running import RunningRegistry
from tests.api.test_mcp import answer as ask_mcp
from tests.api.websocket import connected

WORDS = "book a table for two"
PLACE = {"city": "Amman", "country": "JO", "nonce": "the same for all"}
Json = dict[str, Any]


def by_query(registry: RunningRegistry) -> Json:
    return registry.search(WORDS, **PLACE)


def by_body(registry: RunningRegistry) -> Json:
    answer: Json = registry.http.post("/v1/search", json={"q": WORDS, **PLACE}).json()
    return answer


def in_brief(registry: RunningRegistry) -> Json:
    return registry.search(WORDS, detail="brief", **PLACE)


def by_mcp(registry: RunningRegistry) -> Json:
    return ask_mcp(registry, "search_sites", q=WORDS, **PLACE)


def by_wab_http(registry: RunningRegistry) -> Json:
    body = {"name": "searchSites", "data": {"q": WORDS, **PLACE}}
    answer: Json = registry.http.post("/api/wab/execute", json=body).json()["result"]
    return answer


def by_wab_alias(registry: RunningRegistry) -> Json:
    query = {"q": WORDS, **PLACE}
    answer: Json = registry.http.get("/api/wab/search", params=query).json()["result"]
    return answer


def by_wab_socket(registry: RunningRegistry) -> Json:
    with connected(registry.origin) as connection:
        answer: Json = connection.execute("searchSites", q=WORDS, **PLACE)["result"]
        return answer


def by_ard(registry: RunningRegistry) -> Json:
    body = {"query": {"text": WORDS}, "order": "fair", **PLACE}
    answer: Json = registry.http.post("/ard/search", json=body).json()
    sites = [row["identifier"].split(":")[2] for row in answer["results"]]
    ranking = {"id": answer["ranking"]}
    return {"ranking": ranking, "results": [{"site": site} for site in sites]}


FACES: Mapping[str, Callable[[RunningRegistry], Json]] = {
    face.__name__: face
    for face in (
        *(by_query, by_body, in_brief, by_mcp),
        *(by_wab_http, by_wab_alias, by_wab_socket, by_ard),
    )
}


async def rankings_on_record(registry: RunningRegistry) -> int:
    """Return how many rankings stand in the log."""
    engine = open_engine(registry.settings.database_url, Role.AUDITOR, pool=1)
    async with engine.connect() as connection:
        query = text("SELECT count(*) FROM audit.entry WHERE kind = 'ranking'")
        count: int = (await connection.execute(query)).scalar_one()
    await engine.dispose()
    return count


@pytest.mark.parametrize("face", FACES)
def test_a_face_gives_the_order_of_the_search_and_makes_one_record(
    registry: RunningRegistry, face: str
) -> None:
    expected = by_query(registry)
    order = [row["site"]["host"] for row in expected["results"]]
    assert len(order) >= 3
    registry.published(expected["ranking"]["id"])
    before = registry.run(rankings_on_record(registry))
    answer = FACES[face](registry)
    sites = [row["site"] for row in answer["results"]]
    assert [row["host"] if isinstance(row, dict) else row for row in sites] == order
    registry.published(answer["ranking"]["id"])
    assert registry.run(rankings_on_record(registry)) == before + 1
    record = registry.http.get(f"/v1/rankings/{answer['ranking']['id']}").json()
    opened = {row["name"]: row["value"] for row in record["openings"]}
    assert opened["query"] == WORDS
    assert len(opened["answer"]["order"]) == len(order)
