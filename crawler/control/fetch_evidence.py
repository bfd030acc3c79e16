"""Proof of control: reading the public keys where only a site's operator can write.

Three sources (see `registry.identity.keys.key_source`): the key set on the host, the WAB
record of its registrable domain, and the pin record of the host.

robots.txt is not asked here: it speaks to crawlers, and a key is read at its owner's
request, once a registration is signed.
"""

import asyncio

from crawler import metrics
from crawler.control.control_evidence import (
    ControlEvidence,
    FetchedKeys,
    PublishedPins,
    UnreadSource,
)
from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher
from crawler.http.guard import RedirectRule
from crawler.http.head import JSON_TYPES
from crawler.http.resolve import Resolver
from crawler.refusals import DEADLINE, may_pass
from registry.errors import Refused
from registry.identity.keys.dns_record import parse_pins, parse_wab_records
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.key_source import (
    key_set_url,
    pin_record_name,
    txt_record_url,
    verify_key_set_origin,
    wab_record_name,
)
from registry.sites.host import Host

_KEY_SET = Wanted(accept=JSON_TYPES, redirects=RedirectRule(within="host"))


async def fetch_evidence(
    fetcher: Fetcher, host: Host, *, key_set_s: float | None = None
) -> ControlEvidence:
    """Fetch the keys of all three sources. Never raises Refused: failures are in the result.

    key_set_s: seconds that the key set may take, where the fetcher's own limit is too
    long.
    """
    async with asyncio.TaskGroup() as tasks:
        key_set = tasks.create_task(fetch_key_set(fetcher, host, key_set_s))
        wab_record = tasks.create_task(fetch_wab_keys(fetcher.resolver, host))
        pins = tasks.create_task(fetch_pins(fetcher.resolver, host))
    evidence = ControlEvidence(
        key_set=key_set.result(), wab_record=wab_record.result(), pins=pins.result()
    )
    metrics.PROOFS.labels(evidence.outcome).inc()
    return evidence


async def fetch_key_set(
    fetcher: Fetcher, host: Host, within_s: float | None = None
) -> FetchedKeys | UnreadSource:
    url = key_set_url(host)
    try:
        async with asyncio.timeout(within_s):
            fetched = await fetcher.fetch(url, _KEY_SET)
        verify_key_set_origin(host, fetched.url)
        body = fetched.body if isinstance(fetched, Fetched) else b""
        return FetchedKeys(source_url=url, keys=parse_jwks(body))
    except TimeoutError:
        detail = f"it took more than {within_s:g} seconds"
        return _unread(url, Refused(DEADLINE, detail))
    except Refused as refused:
        return _unread(url, refused)


async def fetch_wab_keys(resolver: Resolver, host: Host) -> FetchedKeys | UnreadSource:
    name = wab_record_name(host)
    try:
        records = parse_wab_records(await resolver.texts(name))
    except Refused as refused:
        return _unread(txt_record_url(name), refused)
    keys = tuple(record.key for record in records if record.key)
    return FetchedKeys(source_url=txt_record_url(name), keys=keys)


async def fetch_pins(resolver: Resolver, host: Host) -> PublishedPins | UnreadSource:
    name = pin_record_name(host)
    try:
        kids = parse_pins(await resolver.texts(name))
    except Refused as refused:
        return _unread(txt_record_url(name), refused)
    return PublishedPins(source_url=txt_record_url(name), kids=kids)


def _unread(source_url: str, refused: Refused) -> UnreadSource:
    return UnreadSource(
        source_url=source_url,
        problem=refused.problem,
        may_pass=may_pass(refused),
        retry_after_s=refused.retry_after_s,
    )
