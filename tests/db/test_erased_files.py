"""What was erased is in no file of the database, beside the WAL, once its pages are done."""

import random
import runpy
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command as alembic
from sqlalchemy import Connection as SyncConnection
from sqlalchemy import text

from registry.db.engine.engines import Engine, Role, reading
from registry.db.log.erased_pages import ERASED as ERASED_COLUMNS
from registry.db.log.rankings import RankingWriter
from registry.db.reports import made_archives
from registry.db.schema.column_types import uuid_of
from registry.db.schema.migrate import alembic_config, migrate
from registry.records.ranking_columns import EMPTIED
from registry.usecases.log import erase as erase_module
from registry.usecases.log.erase import clear_pages, erase_expired
from registry.usecases.search.receipts import make_receipt
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import Clock, Scene
from tests.db.test_erasing import (
    RETENTION,
    erase,
    nothing_logged,
    openings,
    salts_of,
    sequence,
)
from tests.db.test_selecting import KEY, select

__all__ = ["nothing_logged"]
COUNT, ERASED = 160, 16


@pytest.fixture(autouse=True)
async def no_pages(owner: Engine, nothing_logged: None) -> None:
    async with owner.begin() as connection:
        await connection.execute(text("TRUNCATE audit.erased_page"))


@pytest.fixture
def eraser(engines: dict[Role, Engine]) -> Engine:
    return engines[Role.ERASER]


async def record(scene: Scene, dice: random.Random, count: int) -> list[MadeRanking]:
    """Rankings of 300 to 1,600 bytes, committed a few at a time."""
    rankings = [
        make_ranking(
            scene.ids,
            [11, 12],
            disclosed={
                "query": f"{dice.getrandbits(96):x}",
                "request": {"id": dice.randbytes(dice.randint(20, 650)).hex()},
            },
        )
        for _ in range(count)
    ]
    async with scene.api.connect() as connection:
        writer = await RankingWriter.over(connection)
        for begin in range(0, count, 7):
            await writer.write([item.row for item in rankings[begin : begin + 7]])
    return rankings


async def files(owner: Engine, *, written_out: bool = True) -> bytes:
    """All files of the cluster after a checkpoint, but the WAL and other databases.

    written_out: False: without a checkpoint, as they are.
    """
    async with reading(owner).connect() as connection:
        if written_out:
            await connection.execute(text("CHECKPOINT"))
        oid = await connection.execute(
            text("SELECT oid FROM pg_database WHERE datname = current_database()")
        )
    return contents(await data_folder(owner), str(oid.scalar_one()))


async def data_folder(owner: Engine) -> Path:
    async with reading(owner).connect() as connection:
        shown = await connection.execute(text("SHOW data_directory"))
    return Path(shown.scalar_one())


def contents(folder: Path, database: str) -> bytes:
    others = {path.name for path in (folder / "base").iterdir()} - {database}
    return b"".join(
        path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {"pg_wal", *others} & {*path.parts}
    )


def left_below(rankings: list[MadeRanking], folder: Path) -> dict[str, int]:
    """Return how many rankings are left in each file below the folder."""
    return {
        str(path.relative_to(folder)): len(left(rankings, path.read_bytes()))
        for path in folder.rglob("*")
        if path.is_file()
    }


async def where_left(rankings: list[MadeRanking], owner: Engine) -> dict[str, int]:
    """Return how many rankings are left in each file, and after a checkpoint in all."""
    counts = left_below(rankings, await data_folder(owner))
    after = {"after a checkpoint": len(left(rankings, await files(owner)))}
    return {name: count for name, count in counts.items() if count} | after


def left(rankings: list[MadeRanking], stored: bytes) -> list[str]:
    """The rankings of which a salt or the query is in a file."""
    return [
        ranking.record.id
        for ranking in rankings
        if any(salt in stored for salt in salts_of(ranking))
        or any(
            str(opening.value).encode() in stored
            for opening in ranking.openings
            if opening.name == "query"
        )
    ]


async def test_single_erasures_leave_nothing_in_any_file(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, owner: Engine
) -> None:
    dice = random.Random(3)
    rankings = await record(scene, dice, COUNT)
    await sequence(scene, engines)
    mine = dice.sample(rankings, ERASED)
    stored = await files(owner)
    assert len(left(mine, stored)) == ERASED, "the control"
    await erase_all(scene, eraser, mine)
    assert [await openings(scene, ranking.record.id) for ranking in mine] == [
        {}
    ] * ERASED
    assert await scene.sql("SELECT * FROM audit.erased_page") == []
    stored = await files(owner, written_out=False)
    assert left(mine, stored) == [], await where_left(mine, owner)
    others = [ranking for ranking in rankings if ranking not in mine]
    assert len(left(others[:9], stored)) == 9
    for ranking in others:
        assert await openings(scene, ranking.record.id)


async def erase_all(scene: Scene, eraser: Engine, rankings: list[MadeRanking]) -> None:
    for ranking in rankings:
        await erase(scene, eraser, ranking.record.id)
        await clear_pages(eraser)


def _downgrade(connection: SyncConnection) -> None:
    alembic.downgrade(alembic_config(connection), "0035")


async def analyze(owner: Engine) -> None:
    """Let the server take statistics of all rankings and choices, as it does now and then."""
    async with reading(owner).connect() as connection:
        await connection.execute(text("ANALYZE audit.ranking, audit.selection"))


async def test_statistics_leave_nothing(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, owner: Engine
) -> None:
    rankings = await record(scene, random.Random(9), 60)
    await sequence(scene, engines)
    await analyze(owner)
    erased = rankings[:ERASED]
    await erase_all(scene, eraser, erased)
    assert left(erased, await files(owner)) == [], await where_left(erased, owner)


async def test_no_part_has_statistics_of_what_is_emptied(scene: Scene) -> None:
    columns = await scene.sql("""
        SELECT c.relname AS part, a.attname AS name FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid
        WHERE c.oid IN (SELECT relid FROM pg_partition_tree('audit.ranking')
                UNION ALL SELECT relid FROM pg_partition_tree('audit.selection'))
            AND a.attnum > 0 AND a.attstattarget IS DISTINCT FROM 0
    """)
    emptied = {*ERASED_COLUMNS, *EMPTIED, "site_id", "choice"}
    assert len({column.part for column in columns}) > 8, "three months, others, wholes"
    assert [column for column in columns if column.name in emptied] == []


async def test_statistics_are_forgotten_by_servers_before_17(
    owner: Engine,
) -> None:
    """To them the target of a system column is 0 too, and none may set it."""
    versions = Path(__file__).parents[2] / "migrations" / "versions"
    migration = runpy.run_path(str(next(versions.glob("0036_*.py"))))
    async with owner.connect() as connection:
        await connection.execute(
            text("""
            UPDATE pg_attribute SET attstattarget = 0 WHERE attnum < 0 AND attrelid
                IN (CAST('audit.ranking' AS regclass), CAST('audit.selection' AS regclass))
        """)
        )
        await connection.execute(text("SET LOCAL ROLE registry_owner"))
        for table in ("ranking", "selection"):
            await connection.execute(text(migration["FORGET"].format(table=table)))
            part = f"SELECT audit.create_part('{table}', '{table}_of_15')"
            await connection.execute(text(part))
        await connection.rollback()


async def test_statistics_of_before_are_gone(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, owner: Engine
) -> None:
    rankings = await record(scene, random.Random(10), 60)
    await sequence(scene, engines)
    async with owner.connect() as connection:
        await connection.run_sync(_downgrade)
        await connection.commit()
    await analyze(owner)
    erased = rankings[:ERASED]
    await erase_all(scene, eraser, erased)
    assert left(erased, await files(owner)), "the control"
    await migrate(owner)
    assert left(erased, await files(owner)) == [], await where_left(erased, owner)


async def test_vacuum_alone_would_leave_some(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, owner: Engine
) -> None:
    """The reason for the rest."""
    dice = random.Random(2)
    rankings = await record(scene, dice, COUNT)
    await sequence(scene, engines)
    mine = dice.sample(rankings, ERASED)
    for ranking in mine:
        await erase(scene, eraser, ranking.record.id)
    async with reading(eraser).connect() as connection:
        await connection.execute(text("VACUUM audit.ranking"))
        await connection.invalidate()
    assert left(mine, await files(owner))


async def test_what_the_schedule_erases_leaves_nothing(
    scene: Scene,
    engines: dict[Role, Engine],
    eraser: Engine,
    owner: Engine,
    clock: Clock,
) -> None:
    dice = random.Random(4)
    old = await record(scene, dice, 60)
    clock.advance(days=20)
    young = await record(scene, dice, 20)
    await sequence(scene, engines)
    clock.advance(days=11)
    assert await erase_expired(eraser, RETENTION, scene.ids) == len(old)
    await clear_pages(eraser)
    stored = await files(owner)
    assert left(old, stored) == []
    assert len(left(young[:9], stored)) == 9


async def test_a_choice_leaves_nothing(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine, owner: Engine
) -> None:
    rankings = await record(scene, random.Random(5), 9)
    await sequence(scene, engines)
    for ranking in rankings:
        receipt = make_receipt(KEY, ranking.record.id)
        await select(scene, receipt, ranking.order[0], "booked")
    await sequence(scene, engines)
    rows = await scene.sql("SELECT ranking_id, choice FROM audit.selection")
    by_ranking = {row.ranking_id: row.choice for row in rows}
    ids = [uuid_of(ranking.record.id) for ranking in rankings]
    salts = [by_ranking[ranking_id][1:17] for ranking_id in ids]
    erased = (8, 0, 4)
    for number in erased:
        await erase(scene, eraser, rankings[number].record.id)
        await clear_pages(eraser)
    stored = await files(owner)
    assert [n for n in erased if salts[n] in stored] == []
    assert salts[7] in stored


@pytest.mark.parametrize("count", [20, 4], ids=["full page", "page with room"])
async def test_what_a_report_still_sees_waits_for_its_end(
    scene: Scene,
    engines: dict[Role, Engine],
    eraser: Engine,
    owner: Engine,
    count: int,
) -> None:
    rankings = await record(scene, random.Random(6), count)
    await sequence(scene, engines)
    async with engines[Role.AUDITOR].connect() as reader:
        await reader.execute(
            text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        )
        await reader.execute(text("SELECT count(*) FROM audit.ranking"))
        await erase(scene, eraser, rankings[3].record.id)
        assert await clear_pages(eraser) == 0
        await reader.rollback()
    assert await clear_pages(eraser) == 1
    assert left(rankings[3:4], await files(owner)) == []


async def test_archives_that_open_what_is_erased_since_are_listed(
    scene: Scene, engines: dict[Role, Engine], eraser: Engine
) -> None:
    [mine] = await record(scene, random.Random(7), 1)
    await sequence(scene, engines)
    now, hour = scene.clock(), timedelta(hours=1)
    auditor = engines[Role.AUDITOR]
    windows = {
        "before": (now - 2 * hour, now - hour),
        "of it": (now - hour, now + hour),
    }
    async with auditor.begin() as connection:
        for folder, window in windows.items():
            await made_archives.save_archive(connection, now, window, folder)

    async def outdated() -> list[str]:
        async with auditor.connect() as connection:
            rows = await made_archives.outdated_archives(connection)
        return [row.folder for row in rows]

    assert await outdated() == []
    scene.clock.advance(hours=2)
    await erase(scene, eraser, mine.record.id)
    assert await outdated() == ["of it"]
    async with auditor.begin() as connection:
        later = scene.clock() + timedelta(minutes=2)
        await made_archives.save_archive(connection, later, windows["of it"], "anew")
    assert await outdated() == ["of it"]


async def test_pages_that_wait_do_not_hold_back_others(
    scene: Scene,
    engines: dict[Role, Engine],
    eraser: Engine,
    owner: Engine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As many as are taken at once are of a page that has no row to be written there."""
    monkeypatch.setattr(erase_module, "BATCH", 3)
    rankings = await record(scene, random.Random(8), 30)
    await sequence(scene, engines)
    first = "ctid < CAST('(1,0)' AS tid)"
    part = "SELECT DISTINCT CAST(CAST(tableoid AS regclass) AS text) FROM audit.ranking"
    note = "INSERT INTO audit.erased_page (relation, page)"
    for _ in range(3):
        await scene.sql(f"{note} {part.replace(' FROM', ', 0 FROM')}")
    await scene.sql(f"DELETE FROM audit.ranking WHERE {first}")
    await erase(scene, eraser, rankings[-1].record.id)
    assert await clear_pages(eraser) == 0
    assert await clear_pages(eraser) == 1
    assert left(rankings[-1:], await files(owner)) == []
    assert len(await scene.sql("SELECT * FROM audit.erased_page")) == 3
