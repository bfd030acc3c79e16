"""The crawler's process: `python -m crawler`. Any number may run."""

import os
import random
from dataclasses import replace
from datetime import timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from crawler.bot_auth import BotAuth
from crawler.canaries import Canaries, canaries_at
from crawler.context import Context
from crawler.fetch import Fetcher, FetcherConfig, Sign
from crawler.politeness import TOWARDS_OURSELVES, Politeness
from crawler.resolve import (
    HostsFile,
    Resolver,
    ResolverConfig,
    parse_endpoint,
)
from crawler.robots_cache import RobotsCache
from crawler.worker import Worker
from registry import keyring
from registry.db import challenges
from registry.db.engine import Engine, Role, open_engine
from registry.observability import configure_logging
from registry.process import run_until_stopped
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.settings import Settings, read_settings
from registry.sites.gazetteer import Gazetteer
from registry.usecases.chance import Chance
from registry.usecases.list_site import Lister

CHALLENGES_KEPT = timedelta(days=1)


def make_resolver(settings: Settings) -> Resolver:
    hosts = settings.hosts_file
    return Resolver(
        ResolverConfig(
            allow_loopback=settings.allow_loopback,
            hosts=HostsFile(hosts) if hosts else {},
            dns_server=parse_endpoint(settings.dns) if settings.dns else None,
        )
    )


def make_sign(settings: Settings) -> Sign | None:
    if not settings.bot_auth:
        return None
    agent = keyring.load_signature_agent(
        settings.keys, settings.origin, settings.bot_auth_draft
    )
    return BotAuth(agent, Chance()).sign


def make_context(settings: Settings, engine: Engine) -> Context:
    config = FetcherConfig(
        user_agent=settings.user_agent,
        resolver=make_resolver(settings),
        ca_file=settings.ca_file,
        sign=make_sign(settings),
    )
    fetcher = Fetcher(config)
    own_line = Fetcher(replace(config, politeness=Politeness(TOWARDS_OURSELVES)))
    return Context(
        engine=engine,
        fetcher=fetcher,
        canaries=Canaries(canaries_at(own_line, settings.canary_urls)),
        robots=RobotsCache(fetcher),
        lister=Lister(
            gazetteer=Gazetteer.load(),
            encoder=load_encoder(),
            policy=DEFAULT_POLICY,
        ),
        chance=Chance(),
        draw=random.SystemRandom().random,
        test_hosts=settings.allow_loopback,
        probe_interval=timedelta(seconds=settings.probe_interval_s),
    )


async def _forget_challenges(engine: Engine, chance: Chance) -> None:
    async with engine.begin() as connection:
        await challenges.forget_expired(connection, chance.now() - CHALLENGES_KEPT)


async def crawl(settings: Settings) -> None:
    """Until cancelled."""
    engine = open_engine(settings.database_url, Role.CRAWLER, pool=8)
    context = make_context(settings, engine)
    scheduler = AsyncIOScheduler(timezone="UTC")
    scheduler.add_job(
        _forget_challenges, "interval", hours=1, args=(engine, context.chance)
    )
    scheduler.add_job(
        context.lister.renew_profiles,
        "interval",
        hours=1,
        next_run_time=context.chance.now(),
        misfire_grace_time=None,
        args=(engine, context.chance.now),
    )
    scheduler.add_job(
        context.revisits.renew,
        "interval",
        hours=1,
        next_run_time=context.chance.now(),
        misfire_grace_time=None,
        args=(engine,),
    )
    scheduler.start()
    try:
        await Worker(
            context,
            at_once=settings.crawl_at_once,
            lease=timedelta(seconds=settings.crawl_lease_s),
        ).run()
    finally:
        scheduler.shutdown(wait=False)
        await engine.dispose()


def main() -> None:
    settings = read_settings(os.environ)
    configure_logging(settings.log_format)
    run_until_stopped(crawl(settings))


if __name__ == "__main__":
    main()
