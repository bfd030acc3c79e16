"""An answer explained from its record, for faces that have no page of their own for it."""

from collections.abc import Sequence
from typing import Any

from registry.db.sites import listed_sites as sites
from registry.interfaces.http.services import Services
from registry.interfaces.rest.search.rankings import find_ranking
from registry.ranking.explain import FACTOR_NAMES
from registry.ranking.rank_score import SHOWN
from registry.reports.row_types import camel
from registry.sites.identifier import parse_site_id

Json = dict[str, Any]

_FACTORS = tuple(map(camel, FACTOR_NAMES))
_POINT = 1_000_000
_PARTS = 10_000


async def explain_ranking(services: Services, ranking_id: str) -> Json:
    """Return scores and contributions in points of 100, weights, policy and proof.

    What was asked and answered is for the asker: with the whole id of the answer.
    Raises: NotFound.
    """
    view = await find_ranking(services, ranking_id)
    opened = {row.name: row.value for row in view.openings or ()}
    answer = opened.get("answer", view.record)  # in clear in records of version 1
    ids = [parse_site_id(text) for text in answer.get("order", ())]
    async with services.api.connect() as connection:
        entries = await sites.find_short(connection, ids)
    hosts = {entry.site_id: entry.host for entry in entries}
    scores = opened.get("scores") or [{}] * len(ids)
    policy = services.searcher.follower.policy
    weights = policy.weights if view.record["policy"] == policy.digest else ()
    members = {
        "ranking": view.id,
        "policy": view.record["policy"],
        "answeredAt": view.record["t"],
        "eligible": answer.get("eligible", answer.get("n")),
        "weights": {
            name: weight / _PARTS * 100
            for name, weight in zip(_FACTORS, weights, strict=False)
        },
        "query": opened.get("query"),
        "sites": [
            {"site": hosts.get(number, "no longer listed"), **_points(row, weights)}
            for number, row in zip(ids, scores, strict=False)
        ],
        "erased": list(view.erased),
        "record": f"{services.origin}/v1/rankings/{view.id}",
        "proof": f"{services.origin}/v1/rankings/{view.id}/proof",
    }
    return {name: value for name, value in members.items() if value is not None}


def _points(row: Json, weights: Sequence[int]) -> Json:
    """Return score and contributions in points of 100, as a brief answer has them."""
    if not row:
        return {}
    rows = zip(_FACTORS, row["factors"], weights, strict=False)
    return {
        "score": SHOWN.points(row["score"]),
        "contributions": {
            name: round(value * weight / _POINT, 1) for name, value, weight in rows
        },
    }
