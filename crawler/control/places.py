"""Proof of control: reading the public keys where only a site's operator can write.

Three places (see `registry.identity.key_source`): the key set on the host, the WAB
record of its registrable domain, and the pin record of the host.

robots.txt is not asked here: it speaks to crawlers, and a key is read at its owner's
request, once a registration is signed.
"""

import asyncio

from crawler import metrics
from crawler.control.evidence import Evidence, PublishedKeys, PublishedPins, Unread
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.guard import RedirectRule
from crawler.http.head import JSON_TYPES
from crawler.http.resolve import Resolver
from crawler.refusals import may_pass
from registry.errors import Refused
from registry.identity.dns_record import parse_pins, parse_wab_records
from registry.identity.jwk import parse_jwks
from registry.identity.key_source import (
    key_set_url,
    pin_record_name,
    txt_record_url,
    verify_key_set_origin,
    wab_record_name,
)
from registry.sites.host import Host

_KEY_SET = Wanted(accept=JSON_TYPES, redirects=RedirectRule(within="host"))


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
        fetched = await fetcher.fetch(url, _KEY_SET)
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
