"""Reports of whole months: made once, in every form, on record, and never swapped."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from hashlib import sha256

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.db.engine.advisory_lock import REPORTS_TURN, take_turn
from registry.db.engine.engines import Engine, Role
from registry.db.log import entries as log
from registry.db.reports import kept_reports
from registry.errors import Conflict
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import REPORT_TYP, verify_detached
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.canonical import digest_of
from registry.records.packing import unpack
from registry.records.record import parse_record, selection_record
from registry.reporter import do_in_turn
from registry.reports.render.report_files import FORMAT
from registry.usecases.ids import IdSource
from registry.usecases.reports.keep_report import Keeper
from tests.db.filled_log import FilledLog, empty_log
from tests.db.scene import Clock, Scene

KEY = Ed25519PrivateKey.from_private_bytes(sha256(b"promises").digest())
NOVEMBER, DECEMBER = date(2026, 11, 1), date(2026, 12, 1)
TABLES = ("kept_form", "kept_report")


@pytest.fixture(autouse=True)
async def filled(owner: Engine) -> FilledLog:
    """Its first entry is of 2026-11-20; nothing is kept."""
    result = await empty_log(owner)
    await result.grow(3)
    async with owner.begin() as connection:
        for table in TABLES:
            await connection.execute(
                text(f"ALTER TABLE audit.{table} DISABLE TRIGGER append_only")
            )
        await connection.execute(text(f"TRUNCATE audit.{', audit.'.join(TABLES)}"))
        for table in TABLES:
            await connection.execute(
                text(f"ALTER TABLE audit.{table} ENABLE ALWAYS TRIGGER append_only")
            )
    return result


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 12, 1, 0, 10, tzinfo=UTC))


@pytest.fixture
def keeper(scene: Scene) -> Keeper:
    return Keeper(
        auditor=scene.engines[Role.AUDITOR],
        writer=scene.engines[Role.REPORTER],
        policy=DEFAULT_POLICY,
        key=KEY,
        ids=scene.ids,
    )


async def records(scene: Scene) -> list[bytes]:
    rows = await scene.sql("SELECT body FROM audit.pending WHERE kind = 'report'")
    return [unpack(row.body) for row in rows]


async def months(scene: Scene) -> list[date]:
    rows = await scene.sql("SELECT month FROM audit.kept_report ORDER BY month")
    return [row.month for row in rows]


async def test_a_month_is_kept_ten_minutes_after_its_end(
    scene: Scene, keeper: Keeper, clock: Clock
) -> None:
    clock.advance(seconds=-1)
    assert await keeper.keep_missing() == []
    clock.advance(seconds=1)
    assert await keeper.keep_missing() == [NOVEMBER]
    assert await keeper.keep_missing() == []
    assert len(await records(scene)) == 1


async def test_months_that_nobody_was_there_for_are_caught_up(
    scene: Scene, keeper: Keeper, clock: Clock
) -> None:
    clock.advance(days=62)
    caught_up = [NOVEMBER, DECEMBER, date(2027, 1, 1)]
    assert await keeper.keep_missing() == caught_up
    assert await months(scene) == caught_up


async def test_nothing_is_due_before_the_log_began(
    owner: Engine, keeper: Keeper
) -> None:
    await empty_log(owner)
    assert await keeper.keep_missing() == []


async def test_a_month_that_is_not_over_is_not_kept(keeper: Keeper) -> None:
    with pytest.raises(Conflict, match="month_not_over"):
        await keeper.keep(DECEMBER)


async def test_every_form_is_kept_with_its_signature_and_its_digest_in_the_log(
    scene: Scene, keeper: Keeper
) -> None:
    await keeper.keep(NOVEMBER)
    (body,) = await records(scene)
    members = parse_record(body)
    assert (members["from"], members["to"]) == (
        "2026-11-01T00:00Z",
        "2026-12-01T00:00Z",
    )
    public = PublicKey(alg="Ed25519", raw=KEY.public_key().public_bytes_raw())
    digests = {}
    async with scene.api.connect() as connection:
        for form in FORMAT:
            result = await kept_reports.find_form(connection, NOVEMBER, form)
            assert result is not None
            saved, leaf_index = result
            assert leaf_index is None
            verify_detached(
                saved.signature.encode(), saved.body, public, typ=REPORT_TYP
            )
            digests[form] = digest_of(saved.body)
        (listed,) = await kept_reports.list_reports(connection, limit=9)
    assert members["forms"] == digests
    assert {
        form: f"sha256:{digest.hex()}" for form, digest in listed.digests.items()
    } == (digests)


async def test_the_report_is_of_the_month_alone(scene: Scene, keeper: Keeper) -> None:
    await keeper.keep(NOVEMBER)
    async with scene.api.connect() as connection:
        form = await kept_reports.find_form(connection, NOVEMBER, "json")
    assert form is not None
    window = msgspec.json.decode(form[0].body)["terms"]["window"]
    assert window == {
        "startAt": "2026-11-01T00:00:00Z",
        "endAt": "2026-12-01T00:00:00Z",
    }


async def test_of_two_reporters_at_once_one_keeps_the_report(
    scene: Scene, keeper: Keeper
) -> None:
    outcomes = await asyncio.gather(keeper.keep(NOVEMBER), keeper.keep(NOVEMBER))
    assert sorted(outcomes) == [False, True]
    assert len(await records(scene)) == 1
    assert await months(scene) == [NOVEMBER]


async def test_who_has_not_the_turn_leaves_the_work_to_who_has(
    scene: Scene, keeper: Keeper
) -> None:
    async with take_turn(keeper.writer, REPORTS_TURN) as is_ours:
        assert is_ours
        await do_in_turn(keeper.writer, REPORTS_TURN, keeper.keep_missing)
        assert await months(scene) == []
    await do_in_turn(keeper.writer, REPORTS_TURN, keeper.keep_missing)
    assert await months(scene) == [NOVEMBER]


async def test_a_break_between_storing_and_logging_leaves_neither(
    scene: Scene, keeper: Keeper, clock: Clock
) -> None:
    """The log has a record of this id already, and takes no other."""
    ids = IdSource(clock=clock, random_bytes=bytes)
    async with scene.api.begin() as connection:
        other = selection_record(
            record_id=ids.ulid(),
            at=clock(),
            operator="anon",
            ranking_id=scene.ids.ulid(),
            sd_digest="A" * 43,
        )
        await log.accept(connection, other, clock())
    unlucky = replace(keeper, ids=ids)
    await do_in_turn(keeper.writer, REPORTS_TURN, unlucky.keep_missing)
    assert await months(scene) == []
    assert await records(scene) == []
    await do_in_turn(keeper.writer, REPORTS_TURN, keeper.keep_missing)
    assert await months(scene) == [NOVEMBER]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE audit.kept_form SET body = ''",
        "DELETE FROM audit.kept_form",
        "DELETE FROM audit.kept_report",
        "TRUNCATE audit.kept_report, audit.kept_form",
        "UPDATE audit.kept_report SET made_at = now()",
    ],
)
async def test_nobody_changes_what_is_kept(
    owner: Engine, keeper: Keeper, statement: str
) -> None:
    await keeper.keep(NOVEMBER)
    with pytest.raises(DBAPIError, match="append-only"):
        async with owner.begin() as connection:
            await connection.execute(text(statement))


async def test_reports_are_listed_by_months_the_newest_first(
    scene: Scene, keeper: Keeper, clock: Clock
) -> None:
    clock.advance(days=62)
    await keeper.keep_missing()
    async with scene.api.connect() as connection:
        newest = await kept_reports.list_reports(connection, limit=2)
        rest = await kept_reports.list_reports(
            connection, limit=2, before=newest[-1].month
        )
    listed = [report.month for report in (*newest, *rest)]
    assert listed == [date(2027, 1, 1), DECEMBER, NOVEMBER]
