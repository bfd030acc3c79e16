"""A registry beside the demo town, and what the owner of one of its sites does."""

import time
from dataclasses import replace
from typing import Any

from registry.client import RegistryClient
from registry.demo.town.server import Town, TownSite
from registry.identity.statements.jws import sign_compact
from registry.settings import Settings

LIFETIME_S = 600
PATIENCE_S = 180.0  # with a machine that is full: an end for what never comes


def beside_town(settings: Settings, town: Town) -> Settings:
    """The settings under which the registry finds an open town."""
    return replace(
        settings, hosts_file=town.hosts_file, ca_file=town.ca_file, dns=town.dns_address
    )


async def register_site(
    client: RegistryClient, town: Town, site: TownSite
) -> tuple[dict[str, Any], float]:
    """Register a site as its owner does.

    Returns: the decision, and the seconds from submission to it.
    """
    challenge = await client.challenge(site.host)
    town.publish_keys(site.host)
    now = int(time.time())
    payload = {
        **challenge["payload"],
        **site.declarations,
        "docs": [{"url": url} for url in site.document_urls],
        "iat": now,
        "exp": now + LIFETIME_S,
    }
    token = sign_compact(payload, site.private_key)
    started = time.monotonic()
    submitted = await client.submit(token)
    decided = await client.decided(submitted["id"], timeout_s=PATIENCE_S)
    return decided, time.monotonic() - started
