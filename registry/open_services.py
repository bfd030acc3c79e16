"""The services behind the handlers: everything is made here, once for each process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from functools import partial

import structlog

from registry import keyring
from registry.compiled.library import explain_absence, how_to_compile
from registry.db.engine.engines import Engine, Role, open_engine
from registry.db.log.cosignatures import list_evidence
from registry.db.log.rankings import CountingWriter
from registry.db.reports import invariance_runs, kept_reports
from registry.index.query.index_searcher import is_compiled
from registry.index.sources import digest_of_code
from registry.interfaces.http.bucket_table import BucketTable
from registry.interfaces.http.limits import LENIENCE, Limits, operator_id_of
from registry.interfaces.http.services import Bot, Services
from registry.interfaces.http.spare_room import SpareRoom
from registry.interfaces.http.streams import SOCKETS, SOCKETS_OF_CLIENT, StreamSlots
from registry.observability import (
    BATCH_RECORDS,
    INVARIANCE_FINISHED,
    INVARIANCE_TRIALS,
    INVARIANCE_VIOLATIONS,
    LOG_STOPPED,
    REPORT_FINISHED,
)
from registry.ranking.encoders.encoder import Encoder, load_encoder
from registry.ranking.policy import Policy
from registry.ranking.proximity import squared_chords
from registry.ranking.words.lexicon import lexicon_of
from registry.ranking.words.slips import load_occurrences
from registry.settings import Settings
from registry.sites.city_mentions import CityMentions
from registry.usecases.background import follow, outlasting, unfailing
from registry.usecases.ids import Clock, IdSource
from registry.usecases.log.erase import Retention
from registry.usecases.log.filed_log import FiledLog
from registry.usecases.log.promiser import Promiser
from registry.usecases.log.served_log import ServedLog, WitnessPolicy
from registry.usecases.operators.operator_access import OperatorAccess
from registry.usecases.readiness import Readiness
from registry.usecases.refusals import LINTS_BUSY, REPORTS_BUSY
from registry.usecases.reports.answer_counterfactual import Counterfactuals
from registry.usecases.reports.trial_materials import TrialMaterials
from registry.usecases.search.answer_search import Searcher
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.search.record_rankings import RankingRecorder
from registry.usecases.search.todays_seed import SeedReader
from registry.usecases.sites.lint import Linter
from registry.usecases.sites.list_site import Lister
from registry.usecases.sites.listed_entries import ListedCount, ListedEntries
from registry.usecases.sites.refresh import RefreshAllowance
from registry.usecases.work_queue import WorkQueue

WATCH_PAUSE_S = 60.0


async def note_figures(engine: Engine) -> None:
    """Set this process's metrics of what others put into the database. engine: of the API."""
    async with engine.connect() as connection:
        runs = await invariance_runs.list_runs(connection, limit=1)
        reports = await kept_reports.list_reports(connection, limit=1)
        LOG_STOPPED.set(bool(await list_evidence(connection)))
    for run in runs:
        INVARIANCE_TRIALS.set(run.result.trials)
        INVARIANCE_VIOLATIONS.set(run.result.violations)
        INVARIANCE_FINISHED.set(run.finished_at.timestamp())
    for report in reports:
        REPORT_FINISHED.set(report.made_at.timestamp())


logger = structlog.get_logger()

POOLS = (
    (Role.API, 8),
    (Role.AUDITOR, 2),
    (Role.API, 2),  # of the recorders
    (Role.ERASER, 3),
    (Role.LABELLER, 1),
)
MEGABYTE = 1_000_000


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """Open the engines, and run the tasks beside the requests until the block ends."""
    ids = IdSource()
    engines = [
        open_engine(settings.database_url, role, pool=pool) for role, pool in POOLS
    ]
    api, _, writer, eraser, _ = engines
    encoder = _ready_ranking(settings.policy)
    follower = IndexFollower(settings.index, encoder, settings.policy)
    entries = ListedEntries(api)
    recorders = (
        RankingRecorder(writer, BATCH_RECORDS.observe),
        RankingRecorder(writer, BATCH_RECORDS.observe, CountingWriter),
    )
    searcher = _searcher(settings, api, follower, recorders, entries)
    retention = Retention(eraser, timedelta(days=settings.retention_days), ids)
    promiser = searcher.promiser
    with outlasting("log_not_watched"):
        await promiser.look()
    room = _room(settings, api)
    working = (follower, entries, promiser, *recorders, retention, room)
    figures = partial(note_figures, api)
    watch = partial(follow, figures, pause_s=WATCH_PAUSE_S, lost="figures_lost")
    tasks = [
        *(asyncio.create_task(unfailing(job.run)) for job in working),
        asyncio.create_task(unfailing(watch)),
    ]
    try:
        yield _services(settings, engines, searcher, encoder, ids, room=room)
    finally:
        await _stop(tasks, engines)


def _services(
    settings: Settings,
    engines: Sequence[Engine],
    searcher: Searcher,
    encoder: Encoder,
    ids: IdSource,
    *,
    room: SpareRoom,
) -> Services:
    """Return what requests are answered with. engines: in the order of POOLS."""
    api, auditor, _, eraser, labeller = engines
    keys, gazetteer = settings.keys, searcher.mentions.gazetteer
    interval = timedelta(seconds=settings.refresh_interval_s)
    return Services(
        api=api,
        auditor=auditor,
        eraser=eraser,
        labeller=labeller,
        served=_served(settings, api),
        reports=WorkQueue(REPORTS_BUSY, waiting_max=4, retry_after_s=20),
        lints=WorkQueue(LINTS_BUSY, waiting_max=8, retry_after_s=5),
        searcher=searcher,
        readiness=Readiness(api, searcher, crawls=settings.crawler_shares > 0),
        listed_count=ListedCount(api),
        operators=OperatorAccess(api, ids.clock),
        gazetteer=gazetteer,
        linter=Linter(gazetteer, encoder, settings.policy, settings.allow_loopback),
        origin=settings.origin,
        test_hosts=settings.allow_loopback,
        log_vkey=keyring.load_vkey(keys, keyring.LOG),
        former_vkeys=keyring.load_former_vkeys(keys),
        auditors=settings.auditor_keys,
        counterfactuals=_counterfactuals(settings, auditor, searcher, ids.clock),
        trial_materials=TrialMaterials(api),
        promise_vkey=keyring.load_vkey(keys, keyring.PROMISE),
        web_key=keyring.load_web_key(keys),
        ids=ids,
        limits=_limits(settings, room),
        room=room,
        streams=StreamSlots(),
        sockets=StreamSlots(SOCKETS, round(SOCKETS_OF_CLIENT * _factor(settings))),
        refreshes=RefreshAllowance(interval=interval),
        contact=settings.contact,
        bot=_bot(settings),
    )


def _counterfactuals(
    settings: Settings, auditor: Engine, searcher: Searcher, clock: Clock
) -> Counterfactuals:
    gazetteer, follower = searcher.mentions.gazetteer, searcher.follower
    lister = Lister(
        gazetteer, follower.encoder, follower.policy, settings.allow_loopback
    )
    return Counterfactuals(auditor, lister, follower, clock)


def _ready_ranking(policy: Policy) -> Encoder:
    """Make now what the first search would wait for."""
    if not is_compiled():
        logger.warning(
            "ranking_by_numpy", reason=explain_absence(), fix=how_to_compile()
        )
    squared_chords()
    encoder = load_encoder(policy)
    lexicon_of(encoder, policy)
    load_occurrences(policy.dictionary_digest)
    return encoder


def _searcher(
    settings: Settings,
    api: Engine,
    follower: IndexFollower,
    recorders: tuple[RankingRecorder, RankingRecorder],
    entries: ListedEntries,
) -> Searcher:
    """recorders: of anonymous rankings, and of those of operators."""
    (recorder, counting), ids = recorders, IdSource()
    signer = keyring.load_signer(settings.keys, keyring.PROMISE, settings.log_origin)
    return Searcher(
        follower=follower,
        recorder=recorder,
        counting=counting,
        entries=entries,
        mentions=CityMentions.load(),
        seeds=SeedReader(api, settings.policy.digest, digest_of_code()),
        promiser=Promiser(api, signer.private, ids.clock),
        ids=ids,
    )


def _served(settings: Settings, api: Engine) -> ServedLog:
    policy = WitnessPolicy(settings.witness_list, settings.witness_quorum)
    filed = FiledLog(settings.log_files) if settings.log_files else None
    return ServedLog(api, policy, filed)


async def _stop(tasks: list[asyncio.Task[None]], engines: list[Engine]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    for engine in engines:
        await engine.dispose()


def _bot(settings: Settings) -> Bot:
    agent = None
    if settings.bot_auth:
        agent = keyring.load_signature_agent(
            settings.keys, settings.origin, settings.bot_auth_draft
        )
    return Bot(
        user_agent=settings.user_agent, networks=settings.bot_networks, agent=agent
    )


def _room(settings: Settings, api: Engine) -> SpareRoom:
    return SpareRoom(
        api,
        settings.data,
        min_free_bytes=settings.min_free_mb * MEGABYTE,
        max_pending=settings.max_pending,
    )


def _factor(settings: Settings) -> float:
    return settings.limits * (LENIENCE if settings.allow_loopback else 1)


def _limits(settings: Settings, room: SpareRoom) -> Limits:
    return Limits(
        BucketTable(settings.run_folder, keyring.load_web_key(settings.keys)),
        factor=_factor(settings),
        auditors=frozenset(map(operator_id_of, settings.auditor_keys)),
        room=room,
    )
