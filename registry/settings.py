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
        "Origin at which others reach the registry. It names the log and is the `aud` "
        "of registrations. Empty: http://HOST:PORT.",
        default="",
    )
    log_name: str = setting(
        "Name of the log, which must never change: before PUBLIC_URL changes, set it "
        "to the name so far. Empty: PUBLIC_URL without its scheme.",
        default="",
    )
    contact: str = setting(
        "mailto: or https: URL of the operator, shown at /bot and in security.txt. "
        "Empty: none is shown.",
        default="",
    )
    trusted_proxies: str = setting(
        "Addresses or networks of reverse proxies whose X-Forwarded-For names the "
        "client, separated by commas. Empty: none.",
        default="",
    )
    metrics: str = setting(
        "address:port of the metrics, or the next free port. `serve` adds up those of "
        "all its processes; a web process or crawler that is started by itself serves "
        "its own. Keep it private: the metrics show what is requested, and how often. "
        "`off`: none.",
        default="127.0.0.1:9101",
    )
    witnesses: str = setting(
        "Witnesses that cosign the log's checkpoints, separated by commas: the "
        "verifier key of each, a space and its submission prefix, an https URL (C2SP "
        "tlog-witness). Empty: none.",
        default="",
    )
    witness_quorum: Natural = setting(
        "Number of WITNESSES that must cosign a checkpoint before it is served. 0: the "
        "newest is served at once, with the cosignatures that it has by then.",
        default=0,
    )
    limits: Annotated[float, Meta(gt=0, lt=1e9)] = setting(
        "Factor for all limits of docs/limits.md, for bursts and for refill rates.",
        default=1.0,
    )
    run: Path | None = setting(
        "Folder in which the web processes of this host share the remaining allowance "
        "of each client. Unset: `run` in the data folder.",
        default=None,
    )
    min_free_mb: Natural = setting(
        "Free megabytes on the data folder's disk below which searches and selections "
        "of anonymous callers are refused, so that operators' calls go on.",
        default=1_000,
    )
    max_pending: Annotated[int, Meta(ge=1)] = setting(
        "Records that may wait for their position in the log before anonymous callers "
        "are refused.",
        default=100_000,
    )
    retention_days: Annotated[int, Meta(ge=0, le=36_500)] = setting(
        "Days after which the contents of a search (query, location, order, scores, "
        "choice) are erased automatically. 32 cover a month and its report. 0: never.",
        default=32,
    )
    log_files: Path | None = setting(
        "Folder that `fair-registry publish --to` writes and every process of the "
        "registry can read. Tiles and entries are served from it, and `fair-registry "
        "trim` deletes from the database what the folder holds. Unset: the database "
        "serves all of the log.",
        default=None,
    )
    auditors: str = setting(
        "C2SP verifier keys of the auditors whose attestations and labels are "
        "recorded, separated by commas. Empty: none.",
        default="",
    )
    invariance_trials: Natural = setting(
        "Trials each day that test whether an input that must not matter changes a "
        "ranking. 0: none.",
        default=10_000,
    )
    invariance_hour: Annotated[int, Meta(ge=0, le=23)] = setting(
        "Hour (UTC, 0 to 23) from which the day's trials run.", default=3
    )
    encoder: Literal["multilingual", "static"] = setting(
        "Encoder of the meaning of texts: `multilingual`, or `static`, which knows "
        "little but English and reads a request in a tenth of the time. It belongs to "
        "the ranking policy: after a change the crawlers rebuild all profiles when "
        "they start.",
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
