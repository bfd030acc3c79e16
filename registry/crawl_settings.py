"""Settings of the crawler: what it may reach, how often, and how it shows who it is."""

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from registry.identity.requests.web_bot_auth import Draft

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_CRAWLERS = 32
"""The limit of connections to one network: beyond it shares can not get smaller."""

Natural = Annotated[int, Meta(ge=0)]


def setting(doc: str, default: Any) -> Any:
    return field(metadata={"doc": doc}, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlSettings:
    """Settings of the crawler; `registry.settings` adds those of all other parts."""

    allow_loopback: bool = setting(
        "Development only: permits `.test` hosts and loopback addresses. Refused "
        "together with a public address to listen on.",
        default=False,
    )
    hosts_file: Path | None = setting(
        "Lines of `host address:port`, where https://host/ then connects. Needs "
        "ALLOW_LOOPBACK.",
        default=None,
    )
    ca_file: Path | None = setting(
        "PEM file of one more certificate authority to trust when fetching.",
        default=None,
    )
    dns: str = setting(
        "address:port of the DNS server for TXT look-ups; empty: the system's.",
        default="",
    )
    crawlers: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = setting(
        "Crawler processes that `serve` starts. 0, and CRAWLERS_IN_ALL too: there is to "
        "be none, and `/health/ready` asks for none.",
        default=1,
    )
    crawlers_in_all: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = setting(
        "Crawler processes of this registry in all, 1 to 32, wherever they run: each "
        "takes its share of what the registry allows itself towards a host, a domain "
        "and a network. 0: as many as CRAWLERS.",
        default=0,
    )
    crawl_at_once: Natural = setting("Sites a crawler works on at a time.", default=32)
    crawl_lease_s: Natural = setting(
        "Seconds after which the work of a silent crawler is given to another; longer "
        "than any visit takes.",
        default=120,
    )
    crawl_visits_per_day: Annotated[float, Meta(gt=0, lt=1e9)] = setting(
        "The crawl budget: visits of a site and day, in the mean of all sites. Shared so "
        "that the registry as a whole is freshest; no site gets fewer than one in seven "
        "days or more than four a day, whatever the budget. Refreshes come on top.",
        default=1.0,
    )
    refresh_interval_s: Annotated[int, Meta(ge=1)] = setting(
        "Seconds between two refreshes that a site's owner may ask for, in the long run; "
        "three may come at once.",
        default=600,
    )
    probe_interval_s: Natural = setting(
        "Seconds between two quality probes of one site.", default=3600
    )
    bot_auth: bool = setting(
        "Signs the crawler's requests (Web Bot Auth) and serves the directory of its "
        "key. Needs a PUBLIC_URL with https.",
        default=False,
    )
    bot_auth_draft: Draft = setting(
        "Form of Signature-Agent, by draft: `ietf-00` a dictionary with the "
        "origin, `ietf-01` one with the directory's URL, "
        "`meunier-03` the origin alone.",
        default=Draft.IETF_00,
    )
    bot_addresses: str = setting(
        "Networks that the crawler's requests come from, as 192.0.2.0/28, between "
        "commas; they are shown at /bot and listed in /bot.json. Empty: not published.",
        default="",
    )
    own_networks: str = setting(
        "Networks of the operator's own with public addresses, as 203.0.113.0/24, between "
        "commas, which the crawler never connects to; private ones it refuses anyway. "
        "Empty: none.",
        default="",
    )
    canaries: str = setting(
        "https URLs of the operator's own, between commas: while most of them can not "
        "be reached, no probe counts for any site. Empty: every probe counts.",
        default="",
    )

    @property
    def crawler_shares(self) -> int:
        return max(self.crawlers, self.crawlers_in_all)

    @property
    def canary_urls(self) -> tuple[str, ...]:
        texts = (text.strip() for text in self.canaries.split(","))
        return tuple(text for text in texts if text)

    @property
    def bot_networks(self) -> tuple[Network, ...]:
        """The parsed networks. Raises: ValueError."""
        return _parse_networks(self.bot_addresses)

    @property
    def refused_networks(self) -> tuple[Network, ...]:
        """The parsed OWN_NETWORKS. Raises: ValueError."""
        return _parse_networks(self.own_networks)


def _parse_networks(text: str) -> tuple[Network, ...]:
    """text: networks between commas. Raises: ValueError."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(ipaddress.ip_network(part) for part in parts if part)
