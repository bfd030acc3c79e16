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
        "File with lines of `host address:port`: connections to https://host/ go to "
        "that address. Needs ALLOW_LOOPBACK.",
        default=None,
    )
    ca_file: Path | None = setting(
        "PEM file of an additional certificate authority to trust when fetching.",
        default=None,
    )
    dns: str = setting(
        "address:port of the DNS server for TXT look-ups; empty: the system's.",
        default="",
    )
    crawlers: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = setting(
        "Crawler processes that `serve` starts. If CRAWLERS_IN_ALL is 0 too, the "
        "registry has no crawler, and `/health/ready` expects none.",
        default=1,
    )
    crawlers_in_all: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = setting(
        "Crawler processes of this registry on all machines, 1 to 32: each takes its "
        "share of the limits for requests to a host, a domain and a network. 0: as "
        "many as CRAWLERS.",
        default=0,
    )
    crawl_at_once: Natural = setting(
        "Sites that a crawler visits at the same time.", default=32
    )
    crawl_lease_s: Natural = setting(
        "Seconds after which another crawler takes over the work of a silent one; must "
        "be longer than any visit.",
        default=120,
    )
    crawl_visits_per_day: Annotated[float, Meta(gt=0, lt=1e9)] = setting(
        "Crawl budget: the mean number of visits to a site each day. It is divided so "
        "that the registry as a whole is as fresh as possible, with one visit in seven "
        "days to four a day for each site. Refreshes are extra.",
        default=1.0,
    )
    refresh_interval_s: Annotated[int, Meta(ge=1)] = setting(
        "Mean seconds between the refreshes that a site's owner may request; up to "
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
        "Draft that the form of Signature-Agent follows: `ietf-00` a dictionary with "
        "the origin, `ietf-01` one with the directory's URL, `meunier-03` the origin "
        "alone.",
        default=Draft.IETF_00,
    )
    bot_addresses: str = setting(
        "Networks from which the crawler sends its requests, as 192.0.2.0/28, "
        "separated by commas; shown at /bot and in /bot.json. Empty: not published.",
        default="",
    )
    own_networks: str = setting(
        "The operator's own networks of public addresses, as 203.0.113.0/24, separated "
        "by commas: the crawler never connects to them. Private networks are always "
        "refused. Empty: none.",
        default="",
    )
    canaries: str = setting(
        "https URLs of the operator's own, separated by commas: while most of them are "
        "unreachable, no probe counts for any site. Empty: every probe counts.",
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
    """text: networks, separated by commas. Raises: ValueError."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(ipaddress.ip_network(part) for part in parts if part)
