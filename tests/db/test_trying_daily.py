"""The trials of a day: made once, kept, told when they fail, and in the month's report."""

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from structlog.testing import capture_logs

from registry.db.engine.engines import Engine, Role
from registry.db.reports import invariance_runs
from registry.db.schema.tables import pending
from registry.open_services import note_figures
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY, STATIC_POLICY, Policy
from registry.records.canonical import digest_of
from registry.records.record import parse_record
from registry.records.seed import commit_secret
from registry.reports.invariance import PERTURBATIONS
from registry.reports.metrics.trials import INVARIANCE
from registry.reports.report_terms import Window
from registry.usecases.ids import IdSource
from registry.usecases.reports.make_report import make_report
from registry.usecases.reports.try_daily import DailyTrials
from registry.usecases.sites.list_site import Lister
from tests.db.scene import Clock, Scene
from tests.db.test_asking_counterfactually import Bribable
from tests.db.test_trying_invariance import MEMBERS, ask, join

TRIALS = 2 * len(PERTURBATIONS)


def secret_of(day: date) -> bytes:
    return sha256(day.isoformat().encode()).digest()


DAY = date(2026, 11, 20)


@pytest.fixture(scope="module")
def joined() -> list[int]:
    return []


@pytest.fixture(autouse=True)
async def town(scene: Scene, owner: Engine, clock: Clock, joined: list[int]) -> None:
    if not joined:
        joined += [await join(scene, member) for member in MEMBERS]
        await ask(scene, joined)
    async with owner.begin() as connection:
        guard = "ALTER TABLE audit.invariance_run {} TRIGGER append_only"
        await connection.execute(text(guard.format("DISABLE")))
        for table in ("invariance_run", "trial_material"):
            await connection.execute(text(f"TRUNCATE audit.{table}"))
        await connection.execute(text(guard.format("ENABLE ALWAYS")))


@pytest.fixture
def daily(scene: Scene, clock: Clock) -> DailyTrials:
    """Its seed is the same every time."""
    return DailyTrials(
        auditor=scene.engines[Role.AUDITOR],
        writer=scene.engines[Role.REPORTER],
        make_lister=lambda: scene.lister,
        ids=IdSource(clock=clock),
        trials=TRIALS,
        hour=3,
        secret_of=secret_of,
    )


@pytest.fixture
def bribed(scene: Scene, daily: DailyTrials) -> DailyTrials:
    lister = Bribable(
        gazetteer=scene.lister.gazetteer,
        encoder=scene.lister.encoder,
        policy=scene.lister.policy,
    )
    return replace(daily, make_lister=lambda: lister, trials=5 * TRIALS)


async def runs(scene: Scene) -> list[invariance_runs.InvarianceRun]:
    async with scene.api.connect() as connection:
        return await invariance_runs.list_runs(connection, limit=99)


async def test_a_day_is_tried_once_from_its_hour_on(
    scene: Scene, daily: DailyTrials, clock: Clock
) -> None:
    clock.now = datetime(2026, 11, 20, 2, 59, tzinfo=UTC)
    assert await daily.make_todays() is None
    clock.advance(minutes=1)
    todays = await daily.make_todays()
    assert todays is not None
    assert (todays.trials, todays.violations) == (TRIALS, 0)
    clock.advance(hours=20)
    assert await daily.make_todays() is None
    clock.advance(hours=4)
    assert await daily.make_todays() is not None
    assert [run.day for run in await runs(scene)] == [DAY + timedelta(1), DAY]


async def test_what_is_kept_is_what_was_found(
    scene: Scene, daily: DailyTrials, clock: Clock
) -> None:
    todays = await daily.make_todays()
    (run,) = await runs(scene)
    assert (run.day, run.finished_at, run.result) == (DAY, clock(), todays)
    assert run.code.startswith("sha256:")


async def test_the_commitment_has_the_time_at_which_it_is_put_on_record(
    scene: Scene, owner: Engine, daily: DailyTrials, clock: Clock
) -> None:
    began_at = clock()

    def make_lister() -> Lister:
        clock.advance(minutes=10)  # as long as the profiles of many sites may take
        return scene.lister

    await replace(daily, make_lister=make_lister).make_todays()
    query = select(pending.c.accepted_at).where(pending.c.kind == "trials")
    async with owner.connect() as connection:
        rows = await connection.execute(query.order_by(pending.c.position))
    assert set(rows.scalars().all()[-2:]) == {began_at + timedelta(minutes=10)}


async def test_trials_are_committed_to_before_they_run_and_told_after(
    scene: Scene, owner: Engine, daily: DailyTrials
) -> None:
    todays = await daily.make_todays()
    assert todays is not None
    assert todays.seed == int.from_bytes(secret_of(DAY)[:6])
    kind = select(pending.c.body).where(pending.c.kind == "trials")
    async with owner.connect() as connection:
        rows = await connection.execute(kind.order_by(pending.c.position))
    commitment, result = map(parse_record, rows.scalars().all()[-2:])
    assert commitment["commitment"] == commit_secret(secret_of(DAY))
    async with scene.api.connect() as connection:
        material = await invariance_runs.find_material(connection, DAY)
    assert commitment["material"] == digest_of(material)
    assert (result["n"], result["violations"]) == (TRIALS, 0)
    assert (result["secret"], result["snap"]) == (
        secret_of(DAY).hex(),
        todays.generation,
    )


@pytest.mark.parametrize(
    ("policy", "trials"),
    [
        pytest.param(STATIC_POLICY, TRIALS, id="known"),
        pytest.param(replace(STATIC_POLICY, name="former"), 0, id="of another release"),
    ],
)
async def test_trials_are_of_the_policy_that_was_committed_to(
    scene: Scene, daily: DailyTrials, policy: Policy, trials: int
) -> None:
    """The process ended after its commitment, and began again under another policy."""
    encoder = load_encoder(STATIC_POLICY)
    former = replace(scene.lister, policy=policy, encoder=encoder)
    await daily._commit(daily.ids.clock(), secret_of(DAY), former)
    todays = await daily.make_todays()
    assert todays is not None
    expected = policy if trials else scene.lister.policy
    assert (todays.trials, todays.policy_digest) == (trials, expected.digest)
    assert [run.result for run in await runs(scene)] == [todays]
    assert await daily.make_todays() is None


@pytest.mark.parametrize(
    "changes", [{"trials": 0}, {"hour": 13}], ids=["turned off", "later in the day"]
)
async def test_nothing_is_tried_that_is_not_wanted(
    scene: Scene, daily: DailyTrials, changes: dict[str, int]
) -> None:
    assert await replace(daily, **changes).make_todays() is None
    assert await runs(scene) == []


async def test_of_two_at_once_one_run_is_kept(scene: Scene, daily: DailyTrials) -> None:
    await asyncio.gather(daily.make_todays(), daily.make_todays())
    assert len(await runs(scene)) == 1


async def test_a_violation_is_an_error_in_the_log_and_a_figure(
    scene: Scene, bribed: DailyTrials
) -> None:
    with capture_logs() as logged:
        todays = await bribed.make_todays()
    assert todays is not None
    assert todays.violations
    (record,) = (event for event in logged if event["event"] == "invariance_violated")
    assert record["log_level"] == "error"
    assert {"commission", "zero_commission"} & set(record["perturbations"])
    assert set(record["rankings"]) == {example.ranking for example in todays.examples}
    await note_figures(scene.api)
    figure = REGISTRY.get_sample_value("fair_registry_invariance_violations")
    assert figure == todays.violations


async def test_runs_of_the_window_stand_in_its_report(
    scene: Scene, bribed: DailyTrials, daily: DailyTrials, clock: Clock
) -> None:
    failed = await bribed.make_todays()
    clock.advance(days=1)
    held = await daily.make_todays()
    assert failed is not None
    assert held is not None
    both = Window(start_at=clock() - timedelta(days=2), end_at=clock() + timedelta(1))
    last = replace(both, start_at=clock())
    async with scene.engines[Role.AUDITOR].connect() as connection:
        of_both = await make_report(connection, both, DEFAULT_POLICY)
        of_last = await make_report(connection, last, DEFAULT_POLICY)
    assert of_both[INVARIANCE].trials == failed.trials + held.trials
    assert of_both[INVARIANCE].violations == failed.violations
    assert (of_last[INVARIANCE].days, of_last[INVARIANCE].violations) == (1, 0)
    assert of_both[INVARIANCE].sentence in of_both.sentences


async def test_nobody_changes_a_run(owner: Engine, daily: DailyTrials) -> None:
    await daily.make_todays()
    with pytest.raises(DBAPIError, match="append-only"):
        async with owner.begin() as connection:
            await connection.execute(
                text("UPDATE audit.invariance_run SET violations = 0")
            )
