"""Erasure: what a ranking disclosed is gone, what it proves is not."""

import asyncio
from base64 import urlsafe_b64decode
from collections.abc import AsyncIterator
from datetime import timedelta
from types import SimpleNamespace

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log
from registry.db.log import rankings
from registry.db.log.entries import LoggedRecord
from registry.db.log.rankings import RankingWriter
from registry.errors import Conflict, NotFound
from registry.identity import base64url
from registry.records.ranked_answer import DISCLOSED
from registry.records.ranking_columns import DERIVED
from registry.records.record import parse_record
from registry.tlog.proof import parse_log_proof, verify_log_proof
from registry.usecases.log.erase import Erased, Retention, erase_expired, erase_ranking
from registry.usecases.log.sequence import Sequencer, load_edge
from registry.usecases.log.served_log import ServedLog
from registry.usecases.search.receipts import make_receipt
from tests.db.asgi import open_client
from tests.db.filled_log import SIGNER, empty_log
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import Clock, Scene

KEY = b"w" * 32
RETENTION = timedelta(days=30)
QUERY = "a quiet table for two under the walnut trees"
BYTES = """
    SELECT table_schema, table_name, column_name FROM information_schema.columns
    WHERE table_schema IN ('registry', 'audit', 'disclosure')
        AND data_type IN ('text', 'bytea', 'jsonb', 'ARRAY')
"""


@pytest.fixture(autouse=True)
async def nothing_logged(owner: Engine) -> None:
    await empty_log(owner)
    async with owner.begin() as connection:
        await connection.execute(text("ALTER TABLE audit.erasure DISABLE TRIGGER USER"))
        await connection.execute(text("TRUNCATE audit.erasure"))
        await connection.execute(
            text("ALTER TABLE audit.erasure ENABLE ALWAYS TRIGGER append_only")
        )


@pytest.fixture
def eraser(engines: dict[Role, Engine]) -> Engine:
    return engines[Role.ERASER]


async def admit_all(*_: object) -> None:
    """Limit nothing."""


@pytest.fixture
async def client(
    scene: Scene, engines: dict[Role, Engine]
) -> AsyncIterator[httpx.AsyncClient]:
    async with open_client(
        api=scene.api,
        eraser=engines[Role.ERASER],
        served=ServedLog(scene.api),
        searcher=SimpleNamespace(promiser=scene.promiser),
        limits=SimpleNamespace(admit=admit_all),
        web_key=KEY,
        ids=scene.ids,
    ) as opened:
        yield opened


async def record(scene: Scene, count: int = 1) -> list[MadeRanking]:
    result = [
        make_ranking(
            scene.ids,
            [11, 12],
            disclosed={"query": QUERY, "location": "u33d", "request": {"id": "x"}},
        )
        for _ in range(count)
    ]
    async with scene.api.connect() as connection:
        await (await RankingWriter.over(connection)).write(
            [ranking.row for ranking in result]
        )
    return result


async def sequence(scene: Scene, engines: dict[Role, Engine]) -> None:
    async with engines[Role.PUBLISHER].connect() as connection:
        edge = await load_edge(connection)
        await connection.commit()
        await Sequencer(engines[Role.PUBLISHER], SIGNER, scene.clock).step(
            connection, edge
        )


async def erase(scene: Scene, eraser: Engine, record_id: str) -> Erased:
    async with eraser.begin() as connection:
        return await erase_ranking(
            connection, record_id, promiser=scene.promiser, ids=scene.ids
        )


async def openings(scene: Scene, record_id: str) -> dict[str, str]:
    async with scene.api.connect() as connection:
        return await rankings.openings_of(connection, record_id)


async def logged_record(scene: Scene, record_id: str) -> LoggedRecord:
    async with scene.api.connect() as connection:
        logged = await log.find_record(connection, record_id)
    assert logged is not None
    return logged


async def everything(scene: Scene) -> bytes:
    """Each text and each row of bytes that any table holds, one after the other."""
    stored_bytes = b""
    for schema, table, column in await scene.sql(BYTES):
        rows = await scene.sql(f'SELECT "{column}" FROM {schema}."{table}"')
        for (value,) in rows:
            stored_bytes += value if isinstance(value, bytes) else str(value).encode()
    return stored_bytes


def salts_of(ranking: MadeRanking) -> list[bytes]:
    """As they are spelled, and as bytes."""
    spelled = []
    for disclosure in (opening.disclosure for opening in ranking.openings):
        array = base64url.decode(disclosure).decode()
        spelled.append(array.split('"')[1])
    raw = [urlsafe_b64decode(text + "==") for text in spelled]
    return [*(text.encode() for text in spelled), *raw]


async def test_no_table_holds_the_salts_or_the_query_any_more(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine, other] = await record(scene, 2)
    await sequence(scene, engines)
    before = await everything(scene)
    assert any(salt in before for salt in salts_of(mine)), "the control"
    await erase(scene, eraser, mine.record.id)
    after = await everything(scene)
    assert not any(salt in after for salt in salts_of(mine))
    assert any(salt in after for salt in salts_of(other))
    assert await openings(scene, mine.record.id) == {}
    assert len(await openings(scene, other.record.id)) == 4
    await erase(scene, eraser, other.record.id)
    left = await everything(scene)
    assert not any(salt in left for salt in salts_of(other))
    assert QUERY.encode() not in left
    # What is kept may be kept deflated, so that nothing is left at all is looked at too.
    # Neither is what derives from it: a query's key can be guessed as the query can.
    erased = ", ".join((*DISCLOSED, *DERIVED))
    rows = await scene.sql(
        f"SELECT 1 FROM audit.ranking WHERE num_nonnulls({erased}) > 0"
    )
    assert rows == []
    rows = await scene.sql(
        "SELECT 1 FROM audit.ranking WHERE returned <> '' OR sampled <> '' "
        "OR eligible > 0"
    )
    assert rows == []


async def test_erasure_is_on_record_with_index_and_digests(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    await record(scene)
    [mine] = await record(scene)
    await sequence(scene, engines)
    erased = await erase(scene, eraser, mine.record.id)
    stored_bytes = parse_record(
        (await logged_record(scene, erased.record_id)).record.body
    )
    assert (stored_bytes["kind"], stored_bytes["index"], "last" in stored_bytes) == (
        "erase",
        1,
        False,
    )
    digests = {opening.digest for opening in mine.openings}
    assert {*erased.digests} == digests
    assert list(stored_bytes["fields"]) == sorted(digests)  # type: ignore[arg-type]
    ranking = parse_record(mine.record.body)
    assert digests <= set(ranking["_sd"])  # type: ignore[arg-type]


async def test_to_erase_again_changes_nothing(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine] = await record(scene)
    await sequence(scene, engines)
    first = await erase(scene, eraser, mine.record.id)
    before = await scene.rows()
    assert await erase(scene, eraser, mine.record.id) == first
    assert await scene.rows() == before
    await sequence(scene, engines)
    assert await erase(scene, eraser, mine.record.id) == first


async def test_of_many_at_once_one_erases(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine] = await record(scene)
    await sequence(scene, engines)
    erased = await asyncio.gather(
        *(erase(scene, eraser, mine.record.id) for _ in range(4))
    )
    assert len({ranking.record_id for ranking in erased}) == 1
    counted = await scene.sql("SELECT count(*) FROM audit.pending WHERE kind = 'erase'")
    assert counted[0][0] == 1


async def test_a_record_without_a_place_in_the_log_has_to_wait(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine] = await record(scene)
    with pytest.raises(Conflict, match="record_pending") as refused:
        await erase(scene, eraser, mine.record.id)
    assert refused.value.retry_after_s == 1
    assert len(await openings(scene, mine.record.id)) == 4
    with pytest.raises(NotFound, match="ranking_unknown"):
        await erase(scene, eraser, scene.ids.ulid())
    await sequence(scene, engines)
    erased = await erase(scene, eraser, mine.record.id)
    await sequence(scene, engines)
    with pytest.raises(NotFound, match="ranking_unknown"):
        await erase(scene, eraser, erased.record_id)


async def test_when_the_record_cannot_be_written_nothing_is_erased(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine] = await record(scene)
    await sequence(scene, engines)
    async with eraser.connect() as connection:
        await erase_ranking(
            connection,
            mine.record.id,
            promiser=scene.promiser,
            ids=scene.ids,
        )
        await connection.rollback()
    assert len(await openings(scene, mine.record.id)) == 4
    assert await scene.sql("SELECT * FROM audit.pending") == []


async def test_asker_erases_over_http_and_the_proof_holds(
    scene: Scene, engines: dict[Role, Engine], client: httpx.AsyncClient
) -> None:
    [mine] = await record(scene)
    receipt = make_receipt(KEY, mine.record.id)
    place = f"/v1/rankings/{receipt}"
    early = await client.post(f"{place}/erase")
    assert (early.status_code, early.json()["code"]) == (409, "record_pending")
    assert early.headers["Retry-After"] == "1"
    await sequence(scene, engines)
    assert len((await client.get(place)).json()["openings"]) == 4
    proof = parse_log_proof((await client.get(f"{place}/proof")).content)
    verify_log_proof(proof, mine.record.leaf_hash, SIGNER.verifier_key)

    answer = await client.post(f"{place}/erase")
    assert answer.status_code == 200
    assert (await client.post(f"{place}/erase")).json() == answer.json()
    body = (await client.get(place)).json()
    assert body["openings"] == []
    assert {"query", "location", "request"} <= set(body["erased"])
    assert (await client.get(f"{place}/proof")).content.startswith(b"c2sp.org/")
    proof = parse_log_proof((await client.get(f"{place}/proof")).content)
    verify_log_proof(proof, mine.record.leaf_hash, SIGNER.verifier_key)

    await sequence(scene, engines)
    erasure = answer.json()
    proven = await client.get(f"/v1/records/{erasure['id']}/proof")
    leaf = bytes.fromhex(erasure["leafHash"])
    verify_log_proof(parse_log_proof(proven.content), leaf, SIGNER.verifier_key)


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        (lambda id_: id_.partition(".")[0], 403, "ranking_not_yours"),
        (
            lambda id_: id_[:-1] + ("A" if id_[-1] != "A" else "B"),
            403,
            "ranking_not_yours",
        ),
        (lambda _: "x.y", 404, "ranking_unknown"),
    ],
    ids=["public half", "another secret", "no id"],
)
async def test_nobody_else_can_erase(  # noqa: PLR0917 — fixtures
    scene: Scene,
    engines: dict[Role, Engine],
    client: httpx.AsyncClient,
    change,
    status: int,
    code: str,
) -> None:
    [mine] = await record(scene)
    await sequence(scene, engines)
    place = change(make_receipt(KEY, mine.record.id))
    answer = await client.post(f"/v1/rankings/{place}/erase")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert len(await openings(scene, mine.record.id)) == 4


async def test_the_schedule_erases_what_is_older_and_nothing_else(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, clock: Clock
) -> None:
    old = await record(scene, 3)
    clock.advance(days=29)
    young = await record(scene, 2)
    await sequence(scene, engines)
    assert await erase_expired(eraser, RETENTION, scene.ids) == 0
    clock.advance(days=1, seconds=1)
    assert await erase_expired(eraser, RETENTION, scene.ids) == 3
    for item in old:
        assert await openings(scene, item.record.id) == {}
    for item in young:
        assert len(await openings(scene, item.record.id)) == 4
    assert len(await scene.sql("SELECT record_id FROM audit.pending")) == 1
    [erasure] = await scene.sql("SELECT * FROM audit.erasure")
    assert (erasure.first_index, erasure.last_index) == (0, 2)
    first = await erase(scene, eraser, old[0].record.id)
    stored_bytes = parse_record(first.body)
    assert (
        stored_bytes["index"],
        stored_bytes["last"],
        list(stored_bytes["fields"]),
    ) == (0, 2, [])  # type: ignore[arg-type]
    assert await erase_expired(eraser, RETENTION, scene.ids) == 0
    assert len(await scene.sql("SELECT * FROM audit.pending")) == 1


async def test_the_schedule_goes_on_behind_what_askers_erased_and_other_records(
    scene: Scene,
    engines: dict[Role, Engine],
    eraser: Engine,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.usecases.log.erase.BATCH", 2)
    result = await record(scene, 5)
    await sequence(scene, engines)
    for index in (0, 1, 3):
        await erase(scene, eraser, result[index].record.id)
    await sequence(scene, engines)
    result += await record(scene, 1)
    await sequence(scene, engines)
    clock.advance(days=31)
    assert await erase_expired(eraser, RETENTION, scene.ids) == 4
    for ranking in result:
        assert await openings(scene, ranking.record.id) == {}
    erasures = await scene.sql(
        "SELECT first_index, last_index FROM audit.erasure WHERE is_scheduled "
        "ORDER BY first_index"
    )
    assert [tuple(erasure) for erasure in erasures] == [(2, 3), (4, 4), (8, 8)]
    await sequence(scene, engines)
    clock.advance(days=31)
    assert await erase_expired(eraser, RETENTION, scene.ids) == 0


async def test_retention_of_zero_days_is_for_ever(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, clock: Clock
) -> None:
    [mine] = await record(scene)
    await sequence(scene, engines)
    clock.advance(days=9999)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await Retention(eraser, timedelta(0), scene.ids).run()
    assert await openings(scene, mine.record.id)


async def test_two_schedules_at_once_erase_once(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, clock: Clock
) -> None:
    await record(scene, 4)
    await sequence(scene, engines)
    clock.advance(days=31)
    erased = await asyncio.gather(
        *(erase_expired(eraser, RETENTION, scene.ids) for _ in range(3))
    )
    assert sum(erased) == 4
    assert len(await scene.sql("SELECT * FROM audit.pending")) == 1


@pytest.mark.parametrize("role", [item for item in Role if item is not Role.ERASER])
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit.ranking SET query = NULL",
        "DELETE FROM audit.ranking",
        "INSERT INTO audit.erasure DEFAULT VALUES",
    ],
)
async def test_no_other_role_may_erase(
    engines: dict[Role, Engine], role: Role, statement: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with engines[role].begin() as connection:
            await connection.execute(text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM audit.ranking",
        "UPDATE audit.selection SET record_id = NULL",
        "UPDATE audit.selection SET accepted_at = now()",
        "DELETE FROM audit.selection",
        "UPDATE audit.ranking SET operator = ''",
        "UPDATE audit.ranking SET accepted_at = now()",
        "UPDATE audit.ranking SET record_id = NULL",
        "DELETE FROM audit.entry",
        "UPDATE audit.entry SET body = ''",
        "DELETE FROM audit.pending",
        "DELETE FROM audit.erasure",
        "UPDATE audit.erasure SET last_index = 0",
        "SELECT secret FROM audit.day_seed",
        "SELECT * FROM registry.site",
        "INSERT INTO audit.entry DEFAULT VALUES",
    ],
)
async def test_the_eraser_may_do_nothing_else(eraser: Engine, statement: str) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with eraser.begin() as connection:
            await connection.execute(text(statement))


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT body FROM audit.entry",
        "SELECT record_id FROM audit.entry",
        "SELECT * FROM audit.pending",
        "SELECT * FROM audit.ranking",
        "DELETE FROM audit.cosignature",
        "INSERT INTO audit.checkpoint DEFAULT VALUES",
        "SELECT * FROM registry.site",
    ],
)
async def test_who_speaks_with_witnesses_sees_hashes_only(
    engines: dict[Role, Engine], statement: str
) -> None:
    with pytest.raises(DBAPIError, match="permission denied"):
        async with engines[Role.COSIGNER].begin() as connection:
            await connection.execute(text(statement))


@pytest.mark.parametrize(
    "change",
    [
        "TRUNCATE audit.cosignature",
        "TRUNCATE audit.erasure",
        "DELETE FROM audit.erasure",
    ],
)
async def test_what_was_cosigned_and_erased_stays_told(
    owner: Engine, change: str
) -> None:
    with pytest.raises(DBAPIError, match="append-only"):
        async with owner.begin() as connection:
            await connection.execute(text(change))
