"""Proof of control: reading the public keys where only a site's operator can write.

Three places (see `registry.identity.key_source`): the key set on the host, the WAB
record of its registrable domain, and the pin record of the host. That a place could not
be read and that it holds no key are two things: only the latter can cost a site a key.

robots.txt is not asked here: it speaks to crawlers, and a key is read at its owner's
request, once a registration is signed.
"""

import asyncio
from dataclasses import dataclass
from typing import Literal

from crawler import metrics
from crawler.fetch import Fetched, Fetcher
from crawler.guard import RedirectRule
from crawler.head import JSON_TYPES
from crawler.refusals import may_pass
from crawler.resolve import Resolver
from registry.errors import Problem, Refused
from registry.identity.dns_record import parse_pins, parse_wab_records
from registry.identity.jwk import parse_jwks
from registry.identity.key_source import (
    key_set_url,
    pin_record_name,
    txt_record_url,
    verify_key_set_origin,
    wab_record_name,
)
from registry.identity.keys import PublicKey
from registry.sites.host import Host

_SAME_HOST = RedirectRule(within="host")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """A place that was read; it may hold no key. source_url: an https or dns URL."""

    source_url: str
    keys: tuple[PublicKey, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedPins:
    """kids: the thumbprints that the host allows; none allows all."""

    source_url: str
    kids: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """A place that could not be read, or holds what is no key set or record.

    may_pass: it is worth another try. retry_after_s: but not before.
    """

    source_url: str
    problem: Problem
    may_pass: bool = False
    retry_after_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    key_set: PublishedKeys | Unread
    wab_record: PublishedKeys | Unread
    pins: PublishedPins | Unread

    @property
    def published(self) -> tuple[PublishedKeys, ...]:
        """The places with keys that were read."""
        places = (self.key_set, self.wab_record)
        return tuple(place for place in places if isinstance(place, PublishedKeys))

    @property
    def unread(self) -> tuple[Unread, ...]:
        places = (self.key_set, self.wab_record, self.pins)
        return tuple(place for place in places if isinstance(place, Unread))

    @property
    def outcome(self) -> Literal["keys", "none", "unread"]:
        if any(place.keys for place in self.published):
            return "keys"
        return "unread" if self.unread else "none"

    def find(self, kid: str) -> tuple[PublishedKeys, PublicKey] | None:
        """The key and where it stands; in the key set rather than in the DNS."""
        for place in self.published:
            for key in place.keys:
                if key.kid == kid:
                    return place, key
        return None


async def fetch_evidence(fetcher: Fetcher, host: Host) -> Evidence:
    """Never raises Refused: what went wrong stands at its place."""
    async with asyncio.TaskGroup() as tasks:
        key_set = tasks.create_task(fetch_key_set(fetcher, host))
        wab_record = tasks.create_task(fetch_wab_keys(fetcher.resolver, host))
        pins = tasks.create_task(fetch_pins(fetcher.resolver, host))
    found = Evidence(
        key_set=key_set.result(), wab_record=wab_record.result(), pins=pins.result()
    )
    metrics.PROOFS.labels(found.outcome).inc()
    return found


async def fetch_key_set(fetcher: Fetcher, host: Host) -> PublishedKeys | Unread:
    url = key_set_url(host)
    try:
        fetched = await fetcher.fetch(url, accept=JSON_TYPES, redirects=_SAME_HOST)
        verify_key_set_origin(host, fetched.url)
        body = fetched.body if isinstance(fetched, Fetched) else b""
        return PublishedKeys(source_url=url, keys=parse_jwks(body))
    except Refused as refused:
        return _unread(url, refused)


async def fetch_wab_keys(resolver: Resolver, host: Host) -> PublishedKeys | Unread:
    name = wab_record_name(host)
    try:
        records = parse_wab_records(await resolver.texts(name))
    except Refused as refused:
        return _unread(txt_record_url(name), refused)
    keys = tuple(record.key for record in records if record.key)
    return PublishedKeys(source_url=txt_record_url(name), keys=keys)


async def fetch_pins(resolver: Resolver, host: Host) -> PublishedPins | Unread:
    name = pin_record_name(host)
    try:
        kids = parse_pins(await resolver.texts(name))
    except Refused as refused:
        return _unread(txt_record_url(name), refused)
    return PublishedPins(source_url=txt_record_url(name), kids=kids)


def _unread(source_url: str, refused: Refused) -> Unread:
    return Unread(
        source_url=source_url,
        problem=refused.problem,
        may_pass=may_pass(refused),
        retry_after_s=refused.retry_after_s,
    )
