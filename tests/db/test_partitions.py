"""Months and entries in partitions: taken up, added, and dropped without a loss of proof."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from alembic import command as alembic
from click.testing import CliRunner
from sqlalchemy import Connection as SyncConnection
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.cli.service.trimming import trim_database
from registry.db.engine.engines import Engine, Role, reading
from registry.db.log import partitions
from registry.db.reports import made_archives
from registry.db.schema.column_types import uuid_of
from registry.db.schema.migrate import alembic_config, migrate
from registry.errors import Refused
from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.report_terms import Window
from registry.tlog.proof import verify_entry_proof
from registry.tlog.refusals import LogInvalid
from registry.usecases.log.erase import clear_pages, erase_expired
from registry.usecases.log.filed_log import FiledLog
from registry.usecases.log.publish_files import publish_files
from registry.usecases.log.served_log import ServedLog
from registry.usecases.log.trim import Trimmed, trim
from registry.usecases.reports.make_report import make_report
from registry.usecases.search.receipts import make_receipt
from tests.db.asgi import open_client
from tests.db.filled_log import SIGNER
from tests.db.rankings import MadeRanking
from tests.db.scene import Clock, Scene
from tests.db.test_erasing import (
    KEY,
    RETENTION,
    admit_all,
    erase,
    nothing_logged,
    openings,
    record,
    sequence,
)
from tests.db.test_selecting import select
from tests.unit.tlog.driven import follow_log

__all__ = ["nothing_logged"]
BEFORE = "0026"
JANUARY = datetime(2025, 1, 20, 12, tzinfo=UTC)
PART = 512
STORED = """
    SELECT record_id, accepted_at, eligible, returned, query, answer FROM audit.ranking
    ORDER BY record_id
"""
PART_OF = """
    SELECT CAST(CAST(tableoid AS regclass) AS text) AS part FROM audit.{} WHERE {} = :id
"""


def _downgrade(connection: SyncConnection) -> None:
    alembic.downgrade(alembic_config(connection), BEFORE)


async def part_of(scene: Scene, record_id: str, table: str = "ranking") -> str:
    key = "ranking_id" if table == "selection" else "record_id"
    [row] = await scene.sql(PART_OF.format(table, key), id=uuid_of(record_id))
    return str(row.part)


@pytest.fixture
async def whole(scene: Scene) -> AsyncIterator[None]:
    """The migrations, run again, make the guard of times again, which clocks here break."""
    await scene.sql("TRUNCATE audit.erased_page")
    yield
    await scene.sql("ALTER TABLE audit.pending DISABLE TRIGGER of_its_time")
    await _make_anew(scene, partitions.ENTRIES)


async def test_what_is_there_is_taken_up(
    scene: Scene, engines: dict[Role, Engine], owner: Engine, whole: None
) -> None:
    eraser = engines[Role.ERASER]
    mine, other = await record(scene, 2)
    await sequence(scene, engines)
    receipt = make_receipt(KEY, mine.record.id)
    await select(scene, receipt, mine.order[0], "booked")
    await sequence(scene, engines)
    stored = await scene.sql(STORED)
    entries = await scene.sql("SELECT * FROM audit.entry ORDER BY leaf_index")
    await erase(scene, eraser, other.record.id)
    async with owner.connect() as connection:
        await connection.run_sync(_downgrade)
        await connection.commit()
    await migrate(owner)
    assert len(set(stored) & set(await scene.sql(STORED))) == 1, "the other is erased"
    left = await scene.sql("SELECT * FROM audit.entry ORDER BY leaf_index")
    assert left == entries
    assert await part_of(scene, mine.record.id) == await part_of(scene, other.record.id)
    assert await clear_pages(eraser) == 1, "its page was noted before"
    [new] = await record(scene)
    await sequence(scene, engines)
    await erase(scene, eraser, new.record.id)
    await erase(scene, eraser, mine.record.id)
    assert await openings(scene, mine.record.id) == {}
    assert await clear_pages(eraser) > 1
    for role in (Role.API, Role.AUDITOR, Role.ERASER, Role.PUBLISHER):
        part = await part_of(scene, mine.record.id)
        with pytest.raises(DBAPIError, match="permission denied"):
            async with engines[role].connect() as connection:
                await connection.execute(text(f"SELECT * FROM {part}"))


async def test_what_came_before_its_month_moves_there(
    scene: Scene, engines: dict[Role, Engine], clock: Clock
) -> None:
    clock.now = datetime(2033, 5, 2, tzinfo=UTC)
    [early] = await record(scene)
    clock.now = datetime(2033, 6, 2, tzinfo=UTC)
    [later] = await record(scene)
    assert await part_of(scene, early.record.id) == "audit.ranking_other"
    clock.now = datetime(2033, 3, 31, tzinfo=UTC)
    for _ in range(2):
        async with engines[Role.PUBLISHER].begin() as connection:
            await partitions.add_partitions(connection, clock())
    assert await part_of(scene, early.record.id) == "audit.ranking_2033_05"
    assert await part_of(scene, later.record.id) == "audit.ranking_other"
    assert len(await openings(scene, early.record.id)) == 4


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT audit.drop_month('2026-11-01')",
        "SELECT audit.thin_entries(0)",
        "SELECT audit.add_month('2026-11-01')",
        "SELECT audit.add_entries(1)",
        "SELECT audit.create_part('ranking', 'mine')",
        "INSERT INTO audit.dropped_month VALUES ('2026-11-01', now())",
    ],
)
async def test_parts_are_the_publishers_business(
    engines: dict[Role, Engine], statement: str
) -> None:
    for role in (Role.API, Role.CRAWLER, Role.ERASER, Role.AUDITOR, Role.REPORTER):
        with pytest.raises(DBAPIError, match="permission denied"):
            async with engines[role].begin() as connection:
                await connection.execute(text(statement))


class Month:
    """January of 2025 in a log of small parts, whose files are below a folder."""

    def __init__(self, scene: Scene, engines: dict[Role, Engine], folder: Path) -> None:
        self.scene = scene
        self.engines = engines
        self.folder = folder
        self.rankings: list[MadeRanking] = []

    async def fill(self) -> None:
        self.rankings = await record(self.scene, PART + 20)
        receipt = make_receipt(KEY, self.rankings[0].record.id)
        await sequence(self.scene, self.engines)
        await select(self.scene, receipt, self.rankings[0].order[0], "booked")
        await sequence(self.scene, self.engines)

    async def publish(self) -> None:
        async with self.client(ServedLog(self.scene.api)) as client:

            async def fetch(path: str) -> bytes | None:
                answer = await client.get(f"/{path}")
                return answer.content if answer.status_code == 200 else None

            await publish_files(self.folder, fetch, SIGNER.verifier_key)

    def client(self, served: ServedLog) -> httpx.AsyncClient:
        return open_client(
            api=self.scene.api,
            eraser=self.engines[Role.ERASER],
            served=served,
            searcher=SimpleNamespace(promiser=self.scene.promiser),
            limits=SimpleNamespace(admit=admit_all),
            web_key=KEY,
            ids=self.scene.ids,
        )

    async def erase(self) -> None:
        self.scene.clock.advance(days=80)
        await erase_expired(self.engines[Role.ERASER], RETENTION, self.scene.ids)
        await sequence(self.scene, self.engines)

    async def report(self) -> None:
        await self.scene.sql(
            "INSERT INTO audit.kept_report VALUES ('2025-01-01', gen_random_uuid(), now())"
        )

    async def archive(self, start: datetime) -> None:
        async with self.engines[Role.AUDITOR].begin() as connection:
            now, end = self.scene.clock(), datetime(2025, 2, 1, tzinfo=UTC)
            number = await made_archives.save_archive(
                connection, now, (start, end), "a"
            )
            await made_archives.finish_archive(connection, number, now)

    async def trim(self, filed: FiledLog | None = None) -> Trimmed:
        publisher = reading(self.engines[Role.PUBLISHER])
        async with publisher.connect() as connection:
            trimmed = await trim(connection, 2, self.scene.clock(), filed)
            await connection.invalidate()
        return trimmed


@pytest.fixture
async def month(
    scene: Scene, engines: dict[Role, Engine], tmp_path: Path
) -> AsyncIterator[Month]:
    """A filled one; afterwards the parts are as they were."""
    await _make_anew(scene, PART)
    scene.clock.now = JANUARY
    async with engines[Role.PUBLISHER].begin() as connection:
        await partitions.add_partitions(connection, JANUARY)
    month = Month(scene, engines, tmp_path)
    await month.fill()
    yield month
    await _make_anew(scene, partitions.ENTRIES)
    stored_tables = (
        "kept_report",
        "kept_form",
        "erasure",
        "made_archive",
        "dropped_month",
    )
    for table in stored_tables:
        await scene.sql(f"ALTER TABLE audit.{table} DISABLE TRIGGER USER")
    await scene.sql(f"TRUNCATE audit.{', audit.'.join(stored_tables)}")
    for table in stored_tables:
        await scene.sql(f"ALTER TABLE audit.{table} ENABLE TRIGGER USER")
    for table in ("kept_report", "kept_form", "erasure"):
        always = "ENABLE ALWAYS TRIGGER append_only"
        await scene.sql(f"ALTER TABLE audit.{table} {always}")


async def _make_anew(scene: Scene, first: int) -> None:
    """Make all parts anew: of entries one of `first` leaves, then as usual."""
    await scene.sql(f"""
        DO $$ DECLARE part regclass; parent text; BEGIN
            SET LOCAL ROLE registry_owner;
            FOR part IN SELECT i.inhrelid FROM pg_inherits AS i JOIN pg_class AS c
                ON c.oid = i.inhparent WHERE c.relname IN
                ('ranking', 'selection', 'entry') AND c.relkind = 'p'
            LOOP EXECUTE format('DROP TABLE %s', part); END LOOP;
            FOREACH parent IN ARRAY ARRAY['ranking', 'selection'] LOOP
                PERFORM audit.create_part(parent, parent || '_other');
                EXECUTE format('ALTER TABLE audit.%I ATTACH PARTITION audit.%I DEFAULT',
                    parent, parent || '_other');
            END LOOP;
            PERFORM audit.add_month(CURRENT_DATE);
            PERFORM audit.add_entries({first});
            PERFORM audit.add_entries({2 * partitions.ENTRIES});
        END $$
    """)


async def test_month_stays_until_it_is_reported_archived_and_erased(
    month: Month, engines: dict[Role, Engine]
) -> None:
    scene = month.scene
    january = date(2025, 1, 1)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    scene.clock.advance(days=80)
    steps = (
        month.report(),
        month.archive(start + timedelta(hours=1)),
        month.archive(start),
        month.erase(),
    )
    for step in steps:
        assert (await month.trim()).waiting == [january]
        await step
    assert (await month.trim()).months == [january]
    assert await scene.sql("SELECT * FROM audit.ranking") == []
    assert await scene.sql("SELECT * FROM audit.selection") == []
    assert len(await scene.sql("SELECT * FROM audit.entry")) > PART, (
        "no files are named"
    )
    window = Window(start_at=JANUARY, end_at=JANUARY + timedelta(days=20))
    async with engines[Role.AUDITOR].connect() as connection:
        with pytest.raises(Refused, match="window_dropped"):
            await make_report(connection, window, DEFAULT_POLICY)


async def _close(month: Month) -> FiledLog:
    await month.erase()
    await month.report()
    await month.archive(datetime(2025, 1, 1, tzinfo=UTC))
    await month.publish()
    return FiledLog(month.folder)


async def test_what_stands_in_the_files_is_served_and_proven_from_there(
    month: Month,
) -> None:
    filed = await _close(month)
    scene, record_id = month.scene, month.rankings[7].record.id
    async with month.client(ServedLog(scene.api)) as client:
        before = (await client.get(f"/v1/rankings/{record_id}")).json()
    trimmed = await month.trim(filed)
    assert [(part.first, part.after) for part in trimmed.parts] == [(0, PART)]
    kinds = "SELECT kind FROM audit.entry WHERE leaf_index < :part"
    assert await scene.sql(kinds, part=PART) == []
    assert (await month.trim(filed)).parts == []
    async with month.client(ServedLog(scene.api, filed=filed)) as client:
        await _verify_whole(client)
        proof = await client.get(f"/v1/rankings/{record_id}/proof")
        entry = month.rankings[7].record.body
        index, _ = verify_entry_proof(proof.content, entry, SIGNER.verifier_key)
        assert index == 7
        assert (await client.get(f"/v1/rankings/{record_id}")).json() == before
        inclusion = await client.get("/v1/log/inclusion?leaf=300")
        assert inclusion.status_code == 200
        leaf = month.rankings[7].record.leaf_hash.hex()
        by_hash = await client.get(f"/v1/log/inclusion?hash={leaf}")
        assert (by_hash.status_code, "by their index" in by_hash.text) == (404, True)
        partial = await client.get("/tile/entries/000.p/5")
        assert partial.status_code == 200
        growth = await client.get(f"/v1/log/consistency?from=3&to={PART + 9}")
        assert growth.status_code == 200
        receipt = make_receipt(KEY, record_id)
        erased = await client.post(f"/v1/rankings/{receipt}/erase")
        assert erased.status_code == 200, "it tells when it was erased"
        for unknown in (scene.ids.ulid(), "7" + "Z" * 25, "0" * 26):
            answer = await client.get(f"/v1/records/{unknown}")
            assert answer.status_code == 404


async def test_the_command_tells_what_it_dropped(
    month: Month, owner: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real clock, for which January of 2025 is long ago."""
    url = owner.url.set(drivername="postgresql").render_as_string(hide_password=False)
    monkeypatch.setenv("FAIR_REGISTRY_DATABASE_URL", url)
    monkeypatch.setenv("FAIR_REGISTRY_LOG_FILES", str(month.folder))
    command = [trim_database, ["--months", "12", "--json"]]
    result = await asyncio.to_thread(CliRunner().invoke, *command)
    waiting = ["2025-01", "2025-02", "2025-03"]
    expected = {"months": [], "waiting": waiting, "entries": []}
    assert json.loads(result.stdout) == expected
    await _close(month)
    (month.folder / "tile/0/001").rename(month.folder / "tile/0/away")
    result = await asyncio.to_thread(CliRunner().invoke, *command)
    assert (result.exit_code, "tile/0/001" in result.output) == (1, True)
    (month.folder / "tile/0/away").rename(month.folder / "tile/0/001")
    result = await asyncio.to_thread(CliRunner().invoke, *command)
    assert json.loads(result.stdout)["entries"] == [[0, PART]]


async def _verify_whole(client: httpx.AsyncClient) -> None:
    """Read the log as `audit verify` does."""
    entries: list[bytes] = []
    reading_log = follow_log(
        SIGNER.verifier_key, visit=lambda _, entry: entries.append(entry)
    )
    answer: bytes | None = None
    wanted = next(reading_log)
    while True:
        got = await client.get(f"/{wanted}")
        answer = got.content if got.status_code == 200 else None
        try:
            wanted = reading_log.send(answer)
        except StopIteration:
            break
    assert len(entries) > PART


@pytest.mark.parametrize("path", ["tile/entries/001", "tile/0/001"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "gone"])
async def test_nothing_goes_that_the_files_do_not_hold(
    month: Month, path: str, damage: str
) -> None:
    filed = await _close(month)
    file = month.folder / path
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        spoilt = bytes([content[-1] ^ 1])
        file.write_bytes(content[:-1] + (spoilt if damage == "flipped" else b""))
    entries = await month.scene.sql("SELECT * FROM audit.entry")
    with pytest.raises(LogInvalid):
        await month.trim(filed)
    assert await month.scene.sql("SELECT * FROM audit.entry") == entries
