"""The crawler's process: `python -m crawler`. Any number may run.

`fair-registry crawl` starts it too, with --progress or --once, which write JSON objects
to standard output, one a line.
"""

import argparse
import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial

from crawler import metrics, once, progress
from crawler.canaries import Canaries, canaries_at
from crawler.context import Context
from crawler.deliveries import Deliverer
from crawler.frontier.revisits import Revisits
from crawler.http.bot_auth import BotAuth
from crawler.http.fetch import Fetcher, FetcherConfig, Sign
from crawler.http.resolve import HostsFile, Resolver, ResolverConfig
from crawler.http.watched_fetcher import WatchedFetcher
from crawler.refusals import DNS_SERVER
from crawler.restraint.politeness import TOWARDS_OURSELVES, Politeness, PolitenessConfig
from crawler.robots.robots_cache import RobotsCache
from crawler.survey import PAUSE_S, survey
from crawler.worker import Worker
from registry import keyring
from registry.db.engine.engines import DatabaseError, Engine, Role, engine_at
from registry.db.registration import challenges
from registry.errors import Refused
from registry.garbage_collection import collect_less_often
from registry.observability import configure_logging, metrics_of_process, metrics_served
from registry.process import is_supervised, run_until_stopped
from registry.scheduled_jobs import scheduled_jobs
from registry.settings import Settings
from registry.settings_reader import exit_misconfigured, settings_of_process
from registry.sites.hosts_file import parse_endpoint
from registry.usecases.background import unfailing
from registry.usecases.ids import Clock, IdSource, utc_now
from registry.usecases.sites.list_site import make_lister

CHALLENGE_RETENTION = timedelta(days=1)


def make_resolver(settings: Settings) -> Resolver:
    hosts, server = settings.hosts_file, settings.dns
    return Resolver(
        ResolverConfig(
            allow_loopback=settings.allow_loopback,
            hosts=HostsFile(hosts) if hosts else {},
            dns_server=parse_endpoint(server, DNS_SERVER) if server else None,
            own_networks=settings.refused_networks,
        )
    )


def make_bot_auth(settings: Settings) -> BotAuth | None:
    if not settings.bot_auth:
        return None
    agent = keyring.load_signature_agent(
        settings.keys, settings.origin, settings.bot_auth_draft
    )
    return BotAuth(agent, IdSource())


def make_sign(settings: Settings) -> Sign | None:
    auth = make_bot_auth(settings)
    return auth.sign if auth else None


def make_fetcher_config(settings: Settings) -> FetcherConfig:
    share = PolitenessConfig().shared_by(max(1, settings.crawler_shares))
    return FetcherConfig(
        user_agent=settings.user_agent,
        resolver=make_resolver(settings),
        politeness=Politeness(share),
        ca_file=settings.ca_file,
        sign=make_sign(settings),
    )


def make_context(settings: Settings, engine: Engine) -> Context:
    config = make_fetcher_config(settings)
    fetcher = WatchedFetcher(config)
    own_line = Fetcher(replace(config, politeness=Politeness(TOWARDS_OURSELVES)))
    return Context(
        engine=engine,
        fetcher=fetcher,
        canaries=Canaries(canaries_at(own_line, settings.canary_urls)),
        robots=RobotsCache(fetcher),
        lister=make_lister(settings.policy),
        ids=IdSource(),
        draw=random.SystemRandom().random,
        test_hosts=settings.allow_loopback,
        revisits=Revisits(settings.crawl_visits_per_day),
        probe_interval=timedelta(seconds=settings.probe_interval_s),
    )


async def _forget_challenges(engine: Engine, clock: Clock) -> None:
    async with engine.begin() as connection:
        await challenges.forget_expired(connection, clock() - CHALLENGE_RETENTION)


@asynccontextmanager
async def hourly_work(context: Context) -> AsyncIterator[None]:
    """Run what each crawler does now and then, the last two at once too."""
    engine, now = context.engine, context.clock
    async with scheduled_jobs() as scheduler:
        scheduler.add_job(
            _forget_challenges, "interval", hours=1, args=(engine, context.clock)
        )
        for job, given in (
            (context.lister.renew_profiles, (engine, now)),
            (context.revisits.renew, (engine,)),
        ):
            scheduler.add_job(
                job,
                "interval",
                hours=1,
                next_run_time=now(),
                misfire_grace_time=None,
                args=given,
            )
        scheduler.start()
        yield


@asynccontextmanager
async def watched(
    settings: Settings, context: Context, *, shows_progress: bool
) -> AsyncIterator[None]:
    """Figures are kept, and served and written where somebody wants them."""
    async with AsyncExitStack() as stack:
        if not is_supervised():
            collected = metrics_of_process(metrics.REGISTRY)
            stack.enter_context(metrics_served(settings.metrics_at, collected))
        pause_s = progress.SURVEY_S if shows_progress else PAUSE_S
        measure = partial(survey, context, pause_s=pause_s)
        tasks = [asyncio.create_task(unfailing(measure))]
        if shows_progress:
            tasks.append(asyncio.create_task(progress.write(sys.stdout)))
        for task in tasks:
            stack.callback(task.cancel)
        yield


@asynccontextmanager
async def delivering(settings: Settings, context: Context) -> AsyncIterator[None]:
    """Deliver webhooks meanwhile, if requests are signed: only then can receivers trust them."""
    auth = make_bot_auth(settings)
    if auth is None:
        yield
        return
    task = asyncio.create_task(unfailing(Deliverer(context, auth).run))
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def crawl(settings: Settings, *, shows_progress: bool = False) -> None:
    """Run until cancelled."""
    async with engine_at(settings.database_url, Role.CRAWLER, pool=8) as engine:
        context = make_context(settings, engine)
        collect_less_often()
        async with (
            hourly_work(context),
            watched(settings, context, shows_progress=shows_progress),
            delivering(settings, context),
        ):
            await Worker(
                context,
                at_once=settings.crawl_at_once,
                lease=timedelta(seconds=settings.crawl_lease_s),
            ).run()


async def visit_once(settings: Settings, arguments: argparse.Namespace) -> bool:
    """Return whether there were documents."""
    if not arguments.store:
        return await once.look(
            Fetcher(make_fetcher_config(settings)),
            arguments.once,
            declared=arguments.declared,
            clock=utc_now,
            test_hosts=settings.allow_loopback,
            write=sys.stdout,
        )
    async with engine_at(settings.database_url, Role.CRAWLER) as engine:
        return await once.carry_out(
            make_context(settings, engine),
            arguments.once,
            lease=timedelta(seconds=settings.crawl_lease_s),
            write=sys.stdout,
        )


def run_once(settings: Settings, arguments: argparse.Namespace) -> bool:
    """Return whether there were documents; not if it was stopped before."""
    outcomes = []

    async def visit() -> None:
        outcomes.append(await visit_once(settings, arguments))

    try:
        run_until_stopped(visit())
    except (DatabaseError, OSError) as error:
        sys.exit(f"the database can't be reached: {error}")
    return any(outcomes)


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m crawler", description=__doc__)
    parser.add_argument("--progress", action="store_true", help="write figures")
    parser.add_argument("--once", metavar="HOST", help="one visit, and its trace")
    parser.add_argument(
        "--store", action="store_true", help="with --once: carry out the task"
    )
    parser.add_argument(
        "--declared", metavar="URL", action="append", default=[], help="with --once"
    )
    return parser.parse_args()


def main() -> None:
    arguments = read_arguments()
    settings = settings_of_process()
    configure_logging(settings.log_format, settings.log_level)
    try:
        Fetcher(make_fetcher_config(settings))  # reads the files that settings name
    except (OSError, Refused) as error:
        exit_misconfigured(error)
    if arguments.once is not None:
        sys.exit(0 if run_once(settings, arguments) else 1)
    run_until_stopped(crawl(settings, shows_progress=arguments.progress))


if __name__ == "__main__":
    main()
