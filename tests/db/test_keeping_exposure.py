"""Daily exposure: made once from the rankings of a day, on record, and told to owners."""

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.engines import Engine, Role
from registry.db.log.rankings import RankingWriter, erase_openings
from registry.db.reports import exposure_days
from registry.db.reports.exposure_days import StoredDay
from registry.errors import Conflict, NotFound, Refused
from registry.identity.statements.jws import (
    OWN_EXPOSURE_TYP,
    REFRESH_TYP,
    sign_compact,
)
from registry.records.canonical import digest_of
from registry.records.packing import unpack
from registry.records.record import parse_record
from registry.reports import exposure_table
from registry.reports.exposure_table import (
    DayCounts,
    SiteCounts,
    add_noise,
    encode_table,
    make_table,
    parse_table,
)
from registry.usecases.reports.keep_exposure import ExposureKeeper
from registry.usecases.search.receipts import make_receipt
from registry.usecases.sites.owner_statement import verify_owner
from tests.db.filled_log import FilledLog, empty_log
from tests.db.rankings import MadeRanking, make_ranking
from tests.db.scene import AUDIENCE, PROMISE_KEY, Clock, Scene, SiteOwner
from tests.db.test_refreshing import statement
from tests.db.test_selecting import KEY, select

DAY = date(2026, 11, 20)
TABLES = ("exposure_day", "site_exposure", "selection")
SHOWN, SECOND, RARE = 9001, 9002, (9003, 9004, 9005)


@pytest.fixture(autouse=True)
async def filled(owner: Engine) -> FilledLog:
    """Its first entry is of 2026-11-20; nothing is kept."""
    log = await empty_log(owner)
    await log.grow(3)
    async with owner.begin() as connection:
        for table in TABLES:
            guard = f"ALTER TABLE audit.{table} {{}} TRIGGER append_only"
            await connection.execute(text(guard.format("DISABLE")))
            await connection.execute(text(f"TRUNCATE audit.{table}"))
            await connection.execute(text(guard.format("ENABLE ALWAYS")))
    return log


@pytest.fixture
def keeper(scene: Scene) -> ExposureKeeper:
    return ExposureKeeper(
        auditor=scene.engines[Role.AUDITOR],
        writer=scene.engines[Role.REPORTER],
        key=PROMISE_KEY,
        ids=scene.ids,
    )


async def play(scene: Scene) -> list[MadeRanking]:
    """Twelve rankings, of which eleven were answered with a choice, one of a rare site."""
    rankings = [
        make_ranking(scene.ids, [SHOWN, SECOND, *RARE[number % 3 : number % 3 + 1]])
        for number in range(12)
    ]
    async with scene.api.connect() as connection:
        writer = await RankingWriter.over(connection)
        await writer.write([ranking.row for ranking in rankings])
    for ranking in rankings[1:]:
        receipt = make_receipt(KEY, ranking.record.id)
        await select(scene, receipt, ranking.order[2 * (ranking is rankings[1])])
    return rankings


async def table_of(scene: Scene, day: date = DAY) -> StoredDay:
    async with scene.api.connect() as connection:
        result = await exposure_days.find_day(connection, day)
    assert result is not None
    return result[0]


async def exact_counts(scene: Scene) -> dict[int, SiteCounts]:
    rows = await scene.sql(
        "SELECT site_id, appearances, attention, selections FROM audit.site_exposure"
    )
    return {row.site_id: SiteCounts(*row) for row in rows}


async def test_a_day_is_reported_ten_minutes_after_its_end_and_once(
    scene: Scene, keeper: ExposureKeeper, clock: Clock
) -> None:
    await play(scene)
    clock.now = datetime(2026, 11, 21, 0, 9, 59, tzinfo=UTC)
    assert await keeper.keep_missing() == []
    clock.advance(seconds=1, days=2)
    assert await keeper.keep_missing() == [DAY + timedelta(days=n) for n in range(3)]
    assert await keeper.keep_missing() == []
    body = (await table_of(scene)).body
    assert not await keeper.keep(DAY)
    assert (await table_of(scene)).body == body
    rows = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'report'")
    assert len(rows) == 3


async def test_counts_are_reported_with_noise_and_the_log_has_the_digest(
    scene: Scene,
    keeper: ExposureKeeper,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exposure_table, "MINIMUM", -1000)  # else there is no row
    await play(scene)
    clock.advance(days=1)
    await keeper.keep(DAY)
    stored, counts = await table_of(scene), await exact_counts(scene)
    assert {site: tuple(row)[1::2] for site, row in counts.items()} == {
        SHOWN: (12, 10),
        SECOND: (12, 0),
        **dict(zip(RARE, [(4, 0), (4, 1), (4, 0)], strict=True)),
    }
    assert sum(row.attention for row in counts.values()) == pytest.approx(12_000, abs=5)
    assert stored.noise_key is not None
    table = make_table(DAY, DayCounts(12, 0, list(counts.values())), stored.noise_key)
    assert encode_table(table) == stored.body
    rows = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'report'")
    members = parse_record(unpack(rows[-1].body))
    assert members["forms"] == {"exposure": digest_of(stored.body)}
    assert (members["from"], members["to"]) == (
        "2026-11-20T00:00Z",
        "2026-11-21T00:00Z",
    )


async def test_what_was_erased_before_is_in_no_count(
    scene: Scene, keeper: ExposureKeeper, clock: Clock
) -> None:
    rankings = await play(scene)
    async with scene.engines[Role.ERASER].begin() as connection:
        await erase_openings(connection, [rankings[0].record.id])
    clock.advance(days=1)
    await keeper.keep(DAY)
    table, counts = parse_table((await table_of(scene)).body), await exact_counts(scene)
    assert (table.rankings, table.erased) == (12, 1)
    assert [counts[site].appearances for site in (SHOWN, SECOND)] == [11, 11]


async def test_a_site_is_told_of_days_with_noise_and_of_whole_months_exactly(
    scene: Scene, keeper: ExposureKeeper, clock: Clock
) -> None:
    await play(scene)
    clock.now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    await keeper.keep_missing()
    end, never = date(2026, 12, 31), 9999
    async with scene.api.connect() as connection:
        key = (await table_of(scene)).noise_key
        assert key is not None
        for site, counts in (*(await exact_counts(scene)).items(), (never, None)):
            days = await exposure_days.days_of_site(connection, site, DAY, end)
            assert len(days) == 10
            assert days[0] == (DAY, add_noise(counts or SiteCounts(site), key))
            assert not await exposure_days.months_of_site(connection, site, DAY, end)
    clock.advance(days=1)
    await keeper.keep_missing()
    async with scene.api.connect() as connection:
        for start in (date(2026, 11, 1), DAY, date(2026, 11, 30)):
            month, *amounts = (
                await exposure_days.months_of_site(connection, SHOWN, start, end)
            )[0]
            assert (month, *amounts[::2]) == (date(2026, 11, 1), 12, 10)
        inside = date(2026, 11, 25)
        assert not await exposure_days.months_of_site(connection, SHOWN, DAY, inside)


async def verified(scene: Scene, site: SiteOwner, token: str) -> int:
    async with scene.api.connect() as connection:
        entry, _ = await verify_owner(
            connection,
            token.encode(),
            site.host,
            typ=OWN_EXPOSURE_TYP,
            audience=AUDIENCE,
            test_hosts=True,
            now=scene.clock(),
        )
    return entry.site_id


async def test_only_the_owner_is_told(scene: Scene) -> None:
    site, other = await scene.register(), await scene.register()
    claims = statement(site, scene.clock())
    own = sign_compact(claims, site.key, typ=OWN_EXPOSURE_TYP)
    assert await verified(scene, site, own) == (await scene.entry(site)).site_id
    for token in (
        sign_compact(claims, other.key, typ=OWN_EXPOSURE_TYP),
        sign_compact(claims, site.key, typ=REFRESH_TYP),
        sign_compact(
            {**claims, "aud": "https://else.example"}, site.key, typ=OWN_EXPOSURE_TYP
        ),
        sign_compact(statement(other, scene.clock()), site.key, typ=OWN_EXPOSURE_TYP),
        own[:-4] + "AAAA",
    ):
        with pytest.raises((Refused, Conflict, NotFound)):
            await verified(scene, site, token)
    scene.clock.advance(hours=1)
    with pytest.raises(Refused, match="expired"):
        await verified(scene, site, own)


async def test_nobody_changes_what_was_told(
    scene: Scene, keeper: ExposureKeeper
) -> None:
    scene.clock.advance(days=1)
    await keeper.keep(DAY)
    for role in (Role.API, Role.REPORTER, Role.AUDITOR, Role.ERASER):
        async with scene.engines[role].connect() as connection:
            for change in (
                "UPDATE audit.exposure_day SET day = day",
                "DELETE FROM audit.exposure_day",
            ):
                with pytest.raises(DBAPIError):
                    await connection.execute(text(change))
                await connection.rollback()
    async with scene.engines[Role.AUDITOR].connect() as connection:
        for secret in ("site_exposure", "exposure_day"):
            with pytest.raises(DBAPIError):
                await connection.execute(text(f"SELECT * FROM audit.{secret}"))
            await connection.rollback()
