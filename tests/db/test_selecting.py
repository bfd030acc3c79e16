"""Selections: by the asker of the ranking, once, and of a site that was returned."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from registry.db.log.rankings import RankingWriter
from registry.db.schema.column_types import uuid_of
from registry.errors import Conflict, Forbidden, NotFound, Refused, RegistryError
from registry.identity.keys.private_keys import public_key_of
from registry.records.disclosure import parse_disclosure, verify_disclosure
from registry.records.packing import unpack, unpack_disclosure
from registry.records.promise import verify_promise
from registry.records.record import parse_record
from registry.sites.identifier import format_site_id
from registry.usecases.log.promiser import Promised, Promiser
from registry.usecases.search.receipts import holds_receipt, make_receipt, record_id_of
from registry.usecases.search.select import SelectionRequest, select_site
from tests.db.rankings import make_ranking
from tests.db.scene import PROMISE_KEY, Scene

KEY = b"w" * 32
FIRST, SECOND, ELSEWHERE = (format_site_id(number) for number in (11, 12, 13))


async def ask(scene: Scene) -> str:
    """The id that the asker of a ranking of FIRST and SECOND was given."""
    ranking = make_ranking(scene.ids, [11, 12], eligible=[11, 12, 13])
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write([ranking.row])
    return make_receipt(KEY, ranking.record.id)


async def select(
    scene: Scene,
    ranking_id: str,
    site_id: str | None,
    outcome: str | None = None,
    *,
    promiser: Promiser | None = None,
) -> Promised:
    async with scene.api.begin() as connection:
        return await select_site(
            connection,
            SelectionRequest(ranking_id=ranking_id, site_id=site_id, outcome=outcome),
            web_key=KEY,
            promiser=promiser or scene.promiser,
            ids=scene.ids,
        )


async def selections_of(scene: Scene, ranking_id: str) -> list[Any]:
    """site_id and body of each."""
    rows = await scene.sql(
        "SELECT s.site_id, s.choice, p.body FROM audit.selection AS s "
        "JOIN audit.pending AS p USING (record_id) WHERE ranking_id = :id",
        id=uuid_of(record_id_of(ranking_id)),
    )
    return [
        SimpleNamespace(site_id=row.site_id, choice=row.choice, body=unpack(row.body))
        for row in rows
    ]


async def test_asker_reports_a_choice_and_it_is_on_record(scene: Scene) -> None:
    ranking_id = await ask(scene)
    selected = await select(scene, ranking_id, SECOND, "booked")
    (row,) = await selections_of(scene, ranking_id)
    assert (row.site_id, row.body) == (12, selected.record.body)
    record = parse_record(row.body)
    assert record["ranking"] == record_id_of(ranking_id)
    assert not {"site", "outcome"} & record.keys()
    disclosure = unpack_disclosure("choice", row.choice)
    opening = verify_disclosure(disclosure, list(record["_sd"]))
    assert opening.value == {"site": SECOND, "outcome": "booked"}
    public = public_key_of(PROMISE_KEY).raw
    verify_promise(selected.promise, selected.record.leaf_hash, public)


async def test_nothing_is_chosen_from_what_is_erased(scene: Scene) -> None:
    ranking_id = await ask(scene)
    await scene.sql(
        "UPDATE audit.ranking SET query = NULL, returned = '' WHERE record_id = :id",
        id=uuid_of(record_id_of(ranking_id)),
    )
    for site_id in (FIRST, None):
        with pytest.raises(Conflict, match="ranking_erased"):
            await select(scene, ranking_id, site_id)


async def test_a_choice_is_reported_within_a_week(scene: Scene) -> None:
    in_time, late = await ask(scene), await ask(scene)
    scene.clock.advance(days=7)
    await select(scene, in_time, FIRST)
    scene.clock.advance(seconds=1)
    with pytest.raises(Conflict, match="selection_late"):
        await select(scene, late, FIRST)


async def test_none_chosen_is_a_report_too(scene: Scene) -> None:
    ranking_id = await ask(scene)
    await select(scene, ranking_id, None)
    (row,) = await selections_of(scene, ranking_id)
    assert row.site_id is None
    disclosure = unpack_disclosure("choice", row.choice)
    assert parse_disclosure(disclosure).value == {"site": None}
    with pytest.raises(Conflict, match="ranking_has_selection"):
        await select(scene, ranking_id, FIRST)


@pytest.mark.parametrize("number", [11, 12])
async def test_second_report_is_refused_whatever_it_says(
    scene: Scene, number: int
) -> None:
    ranking_id = await ask(scene)
    await select(scene, ranking_id, FIRST)
    with pytest.raises(Conflict, match="ranking_has_selection"):
        await select(scene, ranking_id, format_site_id(number))
    assert [row.site_id for row in await selections_of(scene, ranking_id)] == [11]


async def test_of_many_reports_at_once_exactly_one_is_taken(scene: Scene) -> None:
    ranking_id = await ask(scene)
    answers = await asyncio.gather(
        *(select(scene, ranking_id, site) for site in (FIRST, SECOND) * 4),
        return_exceptions=True,
    )
    taken = [answer for answer in answers if isinstance(answer, Promised)]
    refused = [answer for answer in answers if isinstance(answer, Conflict)]
    assert (len(taken), len(refused)) == (1, 7)
    (row,) = await selections_of(scene, ranking_id)
    assert row.body == taken[0].record.body
    logged = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'selection'")
    ranking = record_id_of(ranking_id).encode()
    assert sum(ranking in unpack(row.body) for row in logged) == 1


def with_other_end(ranking_id: str) -> str:
    return ranking_id[:-1] + ("_" if ranking_id[-1] != "_" else "-")


@pytest.mark.parametrize(
    ("change", "kind", "code"),
    [
        (lambda id_: id_.partition(".")[0], Forbidden, "ranking_not_yours"),
        (lambda id_: id_.partition(".")[0] + ".", Forbidden, "ranking_not_yours"),
        (with_other_end, Forbidden, "ranking_not_yours"),
        (lambda id_: id_ + "A", Forbidden, "ranking_not_yours"),
        (lambda id_: id_.replace(".", ".é"), Forbidden, "ranking_not_yours"),
        (lambda _: "no-ulid.secret", NotFound, "ranking_unknown"),
        (lambda _: "", NotFound, "ranking_unknown"),
    ],
    ids=[
        "public half",
        "empty secret",
        "other end",
        "longer",
        "accent",
        "form",
        "none",
    ],
)
async def test_only_the_asker_can_report(
    scene: Scene, change: Any, kind: type[RegistryError], code: str
) -> None:
    ranking_id = await ask(scene)
    before = await scene.rows()
    with pytest.raises(kind, match=code):
        await select(scene, change(ranking_id), FIRST)
    assert await scene.rows() == before


async def test_secret_of_one_ranking_does_not_fit_another(scene: Scene) -> None:
    mine, other = await ask(scene), await ask(scene)
    mixed = f"{record_id_of(other)}.{mine.partition('.')[2]}"
    assert not holds_receipt(KEY, mixed)
    with pytest.raises(Forbidden):
        await select(scene, mixed, FIRST)


async def test_ranking_that_was_never_given_is_unknown(scene: Scene) -> None:
    """Signed with our key, yet on no record: as after a lost answer."""
    receipt = make_receipt(KEY, scene.ids.ulid())
    with pytest.raises(NotFound, match="ranking_unknown"):
        await select(scene, receipt, FIRST)


async def test_record_of_another_kind_is_no_ranking(scene: Scene) -> None:
    selected = await select(scene, await ask(scene), FIRST)
    receipt = make_receipt(KEY, selected.record.id)
    with pytest.raises(NotFound, match="ranking_unknown"):
        await select(scene, receipt, FIRST)


@pytest.mark.parametrize("site_id", [ELSEWHERE, "", "x", "0" * 13, FIRST.lower()])
async def test_site_that_was_not_returned_cannot_be_chosen(
    scene: Scene, site_id: str
) -> None:
    """Eligible is not enough: the asker was not shown it."""
    ranking_id = await ask(scene)
    with pytest.raises(Refused, match="site_not_in_ranking"):
        await select(scene, ranking_id, site_id)
    assert await selections_of(scene, ranking_id) == []
    await select(scene, ranking_id, FIRST)
