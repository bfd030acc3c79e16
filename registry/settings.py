"""Settings of an operator: one frozen value, read once from the environment.

What each of them does stands in settings.toml, from which docs/settings.md is made. Only the composition root, the commands and the crawler's entry point import it.
"""

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta

from registry.identity.requests.web_bot_auth import Draft
from registry.ranking.policy import POLICIES, Policy
from registry.tlog.note import format_vkey, parse_vkey
from registry.tlog.witness import Witness, parse_witness

PREFIX = "FAIR_REGISTRY_"
MAX_CRAWLERS = 32
"""The limit of connections to one network: beyond it shares can not get smaller."""
Natural = Annotated[int, Meta(ge=0)]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
LogLevel = Literal["info", "warning", "error"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings; the variable of each is `FAIR_REGISTRY_` and its name."""

    data: Path = Path(".data")
    database_url: str = ""
    host: str = "127.0.0.1"
    port: Annotated[int, Meta(ge=1, le=65535)] = 8080
    workers: Natural = 1
    public_url: str = ""
    log_name: str = ""
    contact: str = ""
    trusted_proxies: str = ""
    metrics: str = "127.0.0.1:9101"
    witnesses: str = ""
    witness_quorum: Natural = 0
    limits: Annotated[float, Meta(gt=0, lt=1e9)] = 1.0
    run: Path | None = None
    min_free_mb: Natural = 1_000
    max_pending: Annotated[int, Meta(ge=1)] = 100_000
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = 32
    log_files: Path | None = None
    auditors: str = ""
    invariance_trials: Natural = 10_000
    invariance_hour: Annotated[int, Meta(ge=0, le=23)] = 3
    encoder: Literal["multilingual", "static"] = "multilingual"
    log_format: Literal["text", "json"] = "text"
    log_level: LogLevel = "info"
    # Those of the crawler.
    allow_loopback: bool = False
    hosts_file: Path | None = None
    ca_file: Path | None = None
    dns: str = ""
    crawlers: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = 1
    crawlers_in_all: Annotated[int, Meta(ge=0, le=MAX_CRAWLERS)] = 0
    crawl_at_once: Natural = 32
    crawl_lease_s: Natural = 120
    crawl_visits_per_day: Annotated[float, Meta(gt=0, lt=1e9)] = 1.0
    refresh_interval_s: Annotated[int, Meta(ge=1)] = 600
    probe_interval_s: Natural = 3600
    bot_auth: bool = False
    bot_auth_draft: Draft = Draft.IETF_00
    bot_addresses: str = ""
    own_networks: str = ""
    canaries: str = ""

    @property
    def policy(self) -> Policy:
        return POLICIES[self.encoder]

    @property
    def origin(self) -> str:
        return self.public_url or f"http://{self.host}:{self.port}"

    @property
    def log_origin(self) -> str:
        """The log's name: its URL prefix without the scheme (C2SP tlog-tiles)."""
        return self.log_name or self.origin.partition("://")[2]

    @property
    def user_agent(self) -> str:
        """The crawler's User-Agent; robots.txt uses the part before the slash."""
        return f"FairRegistryBot/1.0 (+{self.origin}/bot)"

    @property
    def metrics_at(self) -> tuple[str, int] | None:
        """Address and port. Raises: ValueError."""
        if self.metrics == "off":
            return None
        address, _, port = self.metrics.rpartition(":")
        address = address.removeprefix("[").removesuffix("]")
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise ValueError(f"{self.metrics!r} does not end in a port")
        return str(ipaddress.ip_address(address)), int(port)

    @property
    def witness_list(self) -> tuple[Witness, ...]:
        """The parsed witnesses. Raises: Refused."""
        return tuple(map(parse_witness, _items(self.witnesses)))

    @property
    def auditor_keys(self) -> frozenset[str]:
        """The auditors' verifier keys. Raises: Refused."""
        return frozenset(
            format_vkey(parse_vkey(text)) for text in _items(self.auditors)
        )

    @property
    def keys(self) -> Path:
        return self.data / "keys"

    @property
    def run_folder(self) -> Path:
        return self.run or self.data / "run"

    @property
    def index(self) -> Path:
        """Folder of the index, by this machine's builder for its web processes."""
        return self.data / "index"

    @property
    def crawler_shares(self) -> int:
        return max(self.crawlers, self.crawlers_in_all)

    @property
    def canary_urls(self) -> tuple[str, ...]:
        return tuple(_items(self.canaries))

    @property
    def bot_networks(self) -> tuple[Network, ...]:
        """The parsed networks. Raises: ValueError."""
        return tuple(map(ipaddress.ip_network, _items(self.bot_addresses)))

    @property
    def refused_networks(self) -> tuple[Network, ...]:
        """The parsed OWN_NETWORKS. Raises: ValueError."""
        return tuple(map(ipaddress.ip_network, _items(self.own_networks)))


def _items(text: str) -> Iterator[str]:
    """Yield what stands between the commas."""
    return filter(None, map(str.strip, text.split(",")))


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables from which `read_settings` gives the same settings again."""
    variables = {}
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if value is None or value is False:
            continue
        variables[PREFIX + item.name.upper()] = "1" if value is True else str(value)
    return variables
