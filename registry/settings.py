"""Settings of an operator: one frozen value, read once from the environment.

Only the composition root, the commands and the crawler's entry point import it.
"""

import ipaddress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta

from registry.identity.requests.web_bot_auth import Draft
from registry.ranking.policy import POLICIES, Policy
from registry.tlog.note import format_vkey, parse_vkey
from registry.tlog.witness import Witness, parse_witness

PREFIX = "FAIR_REGISTRY_"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_CRAWLERS = 32
"""The limit of connections to one network: beyond it shares can not get smaller."""

Natural = Annotated[int, Meta(ge=0)]
LogLevel = Literal["info", "warning", "error"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


def setting(doc: str, default: Any) -> Any:
    return field(metadata={"doc": doc}, default=default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings; the variable of each is `FAIR_REGISTRY_` and its name."""

    data: Path = setting(
        "Folder of the embedded database, the signing keys and the index.",
        default=Path(".data"),
    )
    database_url: str = setting(
        "Any PostgreSQL of version 15 or later; empty: the embedded one.", default=""
    )
    host: str = setting("Address to listen on.", default="127.0.0.1")
    port: Annotated[int, Meta(ge=1, le=65535)] = setting(
        "Port to listen on.", default=8080
    )
    workers: Natural = setting("Web processes.", default=1)
    public_url: str = setting(
        "Origin under which outsiders reach the registry; it names the log and is the "
        "`aud` of registrations. Empty: http://HOST:PORT.",
        default="",
    )
    log_name: str = setting(
        "Name of the log, which it has for life: set it where the registry moves to "
        "another PUBLIC_URL. Empty: PUBLIC_URL without its scheme.",
        default="",
    )
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
    contact: str = setting(
        "mailto: or https: URL of the operator, shown at /bot and in security.txt. "
        "Empty: none is shown.",
        default="",
    )
    trusted_proxies: str = setting(
        "Addresses or networks of reverse proxies, between commas, whose "
        "X-Forwarded-For names the client; empty: none.",
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
    metrics: str = setting(
        "address:port at which `serve` serves the metrics of its processes, added up, and "
        "a web process or crawler that is started otherwise its own; the next free port "
        "where that is taken. Not for the public: they tell what is asked how often. "
        "`off`: not served.",
        default="127.0.0.1:9101",
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
    witnesses: str = setting(
        "Witnesses that cosign the log's checkpoints, between commas: the verifier key of "
        "each, a space and the https URL below which it takes them (C2SP tlog-witness). "
        "Empty: none.",
        default="",
    )
    witness_quorum: Natural = setting(
        "Number of WITNESSES that must have cosigned a checkpoint before it is served. 0: the "
        "newest is served at once, with the cosignatures that it has by then.",
        default=0,
    )
    limits: Annotated[float, Meta(gt=0, lt=1e9)] = setting(
        "Times all limits of docs/limits.md: bursts, and what comes back a second.",
        default=1.0,
    )
    run: Path | None = setting(
        "Folder in which the web processes of this host share what each client has left. "
        "Unset: `run` in the data folder.",
        default=None,
    )
    min_free_mb: Natural = setting(
        "Free megabytes at the data folder below which searches and selections of anonymous "
        "askers are turned away, so that a full disk does not end all others.",
        default=1_000,
    )
    max_pending: Annotated[int, Meta(ge=1)] = setting(
        "Records that may wait for their place in the log before anonymous askers are "
        "turned away.",
        default=100_000,
    )
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = setting(
        "Days after which the disclosures of rankings (query, location, scores) are "
        "erased automatically. 0: never.",
        default=30,
    )
    auditors: str = setting(
        "C2SP verifier keys of the auditors whose attestations and labels are put on "
        "record, between commas. Empty: none.",
        default="",
    )
    invariance_trials: Natural = setting(
        "Daily trials that inputs which must not matter move no ranking. 0: none.",
        default=10_000,
    )
    invariance_hour: Annotated[int, Meta(ge=0, le=23)] = setting(
        "Hour of the day, in UTC, from which on the trials run: 0 to 23.", default=3
    )
    encoder: Literal["static", "minilm"] = setting(
        "Encoder of the meaning of words: `static`, or `minilm`, whose weights `make "
        "encoder` installs. Another encoder is another ranking policy: the crawlers make "
        "all profiles anew when they start.",
        default="static",
    )
    log_format: Literal["text", "json"] = setting(
        "`text` for people, `json` for machines.", default="text"
    )
    log_level: LogLevel = setting(
        "Lowest level that is logged: `info`, `warning` or `error`. For `demo` it is "
        "`warning`.",
        default="info",
    )

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
    def crawler_shares(self) -> int:
        return max(self.crawlers, self.crawlers_in_all)

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
    def canary_urls(self) -> tuple[str, ...]:
        texts = (text.strip() for text in self.canaries.split(","))
        return tuple(text for text in texts if text)

    @property
    def witness_list(self) -> tuple[Witness, ...]:
        """The parsed witnesses. Raises: Refused."""
        texts = (text.strip() for text in self.witnesses.split(","))
        return tuple(parse_witness(text) for text in texts if text)

    @property
    def auditor_keys(self) -> frozenset[str]:
        """The auditors' verifier keys. Raises: Refused."""
        texts = (text.strip() for text in self.auditors.split(","))
        return frozenset(format_vkey(parse_vkey(text)) for text in texts if text)

    @property
    def bot_networks(self) -> tuple[Network, ...]:
        """The parsed networks. Raises: ValueError."""
        return _parse_networks(self.bot_addresses)

    @property
    def refused_networks(self) -> tuple[Network, ...]:
        """The parsed OWN_NETWORKS. Raises: ValueError."""
        return _parse_networks(self.own_networks)

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


def _parse_networks(text: str) -> tuple[Network, ...]:
    """text: networks between commas. Raises: ValueError."""
    parts = [part.strip() for part in text.split(",")]
    return tuple(ipaddress.ip_network(part) for part in parts if part)


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables from which `read_settings` gives the same settings again."""
    variables = {}
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if value is None or value is False:
            continue
        variables[PREFIX + item.name.upper()] = "1" if value is True else str(value)
    return variables
