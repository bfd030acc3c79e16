"""The composition root of the web processes: everything is made here, once."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import structlog
from granian.utils.proxies import wrap_asgi_with_proxy_headers
from litestar import Litestar, Router
from litestar.config.cors import CORSConfig
from litestar.di import Provide
from litestar.types import ASGIApp

from registry import keyring
from registry.db.engine import Role, open_engine
from registry.index.engine import is_compiled
from registry.interfaces.http.envelope import Envelope
from registry.interfaces.http.limits import BURST, LENIENCE, REFILL_PER_S, TokenBuckets
from registry.interfaces.http.problems import EXCEPTION_HANDLERS
from registry.interfaces.http.services import Bot, Services
from registry.interfaces.http.strict import (
    MAX_BODY_BYTES,
    StrictRequest,
    verify_query,
)
from registry.interfaces.log import tiles
from registry.interfaces.rest import (
    about,
    challenges,
    health,
    lint,
    notices,
    rankings,
    refresh,
    registrations,
    search,
    selections,
    sites,
)
from registry.interfaces.web import directory, files, openapi, pages
from registry.observability import BATCH_RECORDS, configure_logging
from registry.ranking.encoder import Encoder, load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.proximity import squared_chords
from registry.ranking.spelling import lexicon_of
from registry.settings import Settings, read_settings
from registry.sites.gazetteer import Gazetteer
from registry.usecases.chance import Chance
from registry.usecases.follow_index import IndexFollower
from registry.usecases.lint import Linter
from registry.usecases.listed_entries import ListedEntries
from registry.usecases.record_rankings import RankingRecorder
from registry.usecases.refresh import Allowance
from registry.usecases.search import Searcher
from registry.usecases.todays_seed import SeedReader

logger = structlog.get_logger()

API_POOL, AUDITOR_POOL, RECORDER_POOL = 8, 2, 1

V1 = Router(
    "/v1",
    route_handlers=[
        about.get_fairness_report,
        about.get_log,
        about.get_policy,
        challenges.create_challenge,
        lint.lint_document,
        notices.get_notices,
        rankings.get_ranking,
        refresh.refresh_site,
        registrations.get_registration,
        registrations.submit,
        registrations.watch_registration,
        search.search_by_body,
        search.search_by_query,
        selections.report_selection,
        sites.get_document,
        sites.get_history,
        sites.get_quality,
        sites.get_site,
        sites.list_sites,
    ],
)

AT_THEIR_PLACES = [
    directory.get_addresses,
    directory.get_directory,
    files.get_icon,
    files.get_robots,
    files.get_security,
    files.get_style,
    health.get_liveness,
    health.get_metrics,
    health.get_readiness,
    openapi.get_openapi,
    openapi.show_openapi,
    pages.show_bot,
    pages.show_policy,
    pages.show_problem,
    pages.show_search,
    tiles.get_checkpoint,
    tiles.get_tile,
]

EXPOSED_HEADERS = [
    *("ETag", "Location", "Retry-After"),
    *("RateLimit", "RateLimit-Policy", "X-Request-Id"),
]


def create_app_from_environment() -> ASGIApp:
    """What granian starts: the application behind the proxies that are trusted."""
    settings = read_settings(os.environ)
    app = create_app(settings)
    if not settings.trusted_proxies:
        return app
    behind: ASGIApp = wrap_asgi_with_proxy_headers(app, settings.trusted_proxies)
    return behind


def create_app(settings: Settings) -> Litestar:
    """The web application. The database must be migrated and the keyring made."""
    configure_logging(settings.log_format)

    @asynccontextmanager
    async def lifespan(app: Litestar) -> AsyncIterator[None]:
        async with open_services(settings) as services:
            app.state.services = services
            yield

    async def services() -> Services:
        found: Services = app.state.services
        return found

    app = Litestar(
        route_handlers=[V1, *AT_THEIR_PLACES],
        cors_config=CORSConfig(allow_origins=["*"], expose_headers=EXPOSED_HEADERS),
        dependencies={"services": Provide(services)},
        exception_handlers=EXCEPTION_HANDLERS,
        guards=[verify_query],
        lifespan=[lifespan],
        logging_config=None,
        openapi_config=openapi.OPENAPI,
        request_class=StrictRequest,
        request_max_body_size=MAX_BODY_BYTES,
    )
    app.asgi_handler = Envelope(app.asgi_handler)
    return app


@asynccontextmanager
async def open_services(settings: Settings) -> AsyncIterator[Services]:
    """The engines and the tasks that run beside the requests."""
    url, keys, chance = settings.database_url, settings.keys, Chance()
    api = open_engine(url, Role.API, pool=API_POOL)
    auditor = open_engine(url, Role.AUDITOR, pool=AUDITOR_POOL)
    writer = open_engine(url, Role.API, pool=RECORDER_POOL)
    encoder, gazetteer = _ready_ranking(), Gazetteer.load()
    follower = IndexFollower(settings.index, encoder, DEFAULT_POLICY)
    entries = ListedEntries(api)
    recorder = RankingRecorder(writer, BATCH_RECORDS.observe)
    searcher = Searcher(
        follower=follower,
        recorder=recorder,
        entries=entries,
        seeds=SeedReader(api, DEFAULT_POLICY.digest),
        promiser=keyring.load_signer(keys, keyring.PROMISE, settings.log_origin),
        chance=chance,
    )
    services = Services(
        api=api,
        auditor=auditor,
        searcher=searcher,
        gazetteer=gazetteer,
        linter=Linter(gazetteer=gazetteer, encoder=encoder, policy=DEFAULT_POLICY),
        origin=settings.origin,
        test_hosts=settings.allow_loopback,
        log_vkey=keyring.load_vkey(keys, keyring.LOG),
        promise_vkey=keyring.load_vkey(keys, keyring.PROMISE),
        web_key=keyring.load_web_key(keys),
        chance=chance,
        write_limits=_write_limits(settings),
        refreshes=Allowance(interval=timedelta(seconds=settings.refresh_interval_s)),
        contact=settings.contact,
        bot=_bot(settings),
    )
    tasks = [asyncio.create_task(one.run()) for one in (follower, entries, recorder)]
    try:
        yield services
    finally:
        await _cancel(tasks)
        for engine in (api, auditor, writer):
            await engine.dispose()


def _ready_ranking() -> Encoder:
    """Make now what the first search would wait for."""
    if not is_compiled():
        logger.warning("ranking_by_numpy", reason="the kernel is not compiled here")
    squared_chords()
    encoder = load_encoder()
    lexicon_of(encoder, DEFAULT_POLICY)
    return encoder


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _bot(settings: Settings) -> Bot:
    agent = None
    if settings.bot_auth:
        agent = keyring.load_signature_agent(
            settings.keys, settings.origin, settings.bot_auth_draft
        )
    return Bot(
        user_agent=settings.user_agent, networks=settings.bot_networks, agent=agent
    )


def _write_limits(settings: Settings) -> TokenBuckets:
    if settings.allow_loopback:
        return TokenBuckets(
            burst=BURST * LENIENCE, refill_per_s=REFILL_PER_S * LENIENCE
        )
    return TokenBuckets()
