"""Settings of an operator: one frozen value, read once from the environment.

Only the composition root, the commands and the crawler's entry point import it.
"""

import ipaddress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta

from registry.crawl_settings import CrawlSettings, Natural, setting
from registry.ranking.policy import POLICIES, Policy
from registry.tlog.note import format_vkey, parse_vkey
from registry.tlog.witness import Witness, parse_witness

PREFIX = "FAIR_REGISTRY_"
LogLevel = Literal["info", "warning", "error"]
LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(CrawlSettings):
    """Settings; the variable of each is `FAIR_REGISTRY_` and its name."""

    data: Path = setting(
        "Folder of the embedded database, the signing keys and the index.",
        default=Path(".data"),
    )
    database_url: str = setting(
        "Any PostgreSQL of version 15 or later, with ?sslmode= as psql takes it; empty: "
        "the embedded one.",
        default="",
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
    metrics: str = setting(
        "address:port at which `serve` serves the metrics of its processes, added up, and "
        "a web process or crawler that is started otherwise its own; the next free port "
        "where that is taken. Not for the public: they tell what is asked how often. "
        "`off`: not served.",
        default="127.0.0.1:9101",
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
        "Records that may wait for their position in the log before anonymous askers are "
        "turned away.",
        default=100_000,
    )
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = setting(
        "Days after which what was asked and answered (query, location, order, scores, "
        "choice) is erased automatically. 32 cover a month and its report. 0: never.",
        default=32,
    )
    log_files: Path | None = setting(
        "Folder that `fair-registry publish --to` writes, as every process of the "
        "registry sees it: tiles and entries are served from it, and `fair-registry trim` "
        "drops from the database what stands there. Unset: all of the log is served from "
        "the database.",
        default=None,
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
    encoder: Literal["multilingual", "static"] = setting(
        "Encoder of the meaning of texts: `multilingual`, or `static`, which knows "
        "little but English and reads a request in a tenth of the time. Another encoder "
        "is another ranking policy: the crawlers rebuild all profiles when they start.",
        default="multilingual",
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
        texts = (text.strip() for text in self.witnesses.split(","))
        return tuple(parse_witness(text) for text in texts if text)

    @property
    def auditor_keys(self) -> frozenset[str]:
        """The auditors' verifier keys. Raises: Refused."""
        texts = (text.strip() for text in self.auditors.split(","))
        return frozenset(format_vkey(parse_vkey(text)) for text in texts if text)

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


def as_environment(settings: Settings) -> dict[str, str]:
    """Return the variables from which `read_settings` gives the same settings again."""
    variables = {}
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if value is None or value is False:
            continue
        variables[PREFIX + item.name.upper()] = "1" if value is True else str(value)
    return variables
