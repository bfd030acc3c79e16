"""What an operator can set: one frozen value, read once from the environment.

Only the composition root, the commands and the crawler's entry point import it.
"""

import ipaddress
import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from registry.errors import Refused
from registry.identity.web_bot_auth import Draft
from registry.ranking.policy import POLICIES, Policy
from registry.tlog.note import format_vkey, parse_vkey
from registry.tlog.witness import MAX_WITNESSES, Witness, parse_witness

PREFIX = "FAIR_REGISTRY_"
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_CRAWLERS = 32
"""As many as one network is asked at a time: beyond it shares can not get smaller."""

LOG_LEVELS = ("info", "warning", "error")

_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_AUTHORITY = re.compile(r"[a-z0-9.-]+(:[0-9]+)?")

# Texts of several parts, and the attributes that read them.
_READ_AS = {
    "AUDITORS": "auditor_keys",
    "BOT_ADDRESSES": "bot_networks",
    "CRAWLER_METRICS": "crawler_metrics_at",
    "WITNESSES": "witness_list",
}


class SettingsInvalid(ValueError):
    """A setting does not hold what it should; the message names it."""


def setting(
    doc: str, *, allowed: range | Collection[str] | None = None, **options: Any
) -> Any:
    return field(metadata={"doc": doc, "allowed": allowed}, **options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One attribute, one environment variable: `FAIR_REGISTRY_` and its name."""

    data: Path = setting(  # noqa: RUF009 — `field` by another name
        "Folder of the embedded database, the signing keys and the index.",
        default=Path(".data"),
    )
    database_url: str = setting(
        "Any PostgreSQL of version 15 or later; empty: the embedded one.", default=""
    )
    host: str = setting("Address to listen on.", default="127.0.0.1")
    port: int = setting("Port to listen on.", default=8080, allowed=range(1, 65536))
    workers: int = setting("Web processes.", default=1)
    public_url: str = setting(
        "Origin under which outsiders reach the registry; it names the log and is the "
        "`aud` of registrations. Empty: http://HOST:PORT.",
        default="",
    )
    allow_loopback: bool = setting(
        "Development only: permits `.test` hosts and loopback addresses. Refused "
        "together with a public address to listen on.",
        default=False,
    )
    hosts_file: Path | None = setting(  # noqa: RUF009 — as above
        "Lines of `host address:port`, where https://host/ then connects. Needs "
        "ALLOW_LOOPBACK.",
        default=None,
    )
    ca_file: Path | None = setting(  # noqa: RUF009 — as above
        "PEM file of one more certificate authority to trust when fetching.",
        default=None,
    )
    dns: str = setting(
        "address:port of the DNS server for TXT look-ups; empty: the system's.",
        default="",
    )
    contact: str = setting(
        "Where outsiders reach the operator, as a mailto: or https: URL; it is shown at "
        "/bot and in security.txt. Empty: nothing is said.",
        default="",
    )
    trusted_proxies: str = setting(
        "Addresses or networks of reverse proxies, between commas, whose "
        "X-Forwarded-For names the client; empty: none.",
        default="",
    )
    crawlers: int = setting(
        "Crawler processes that `serve` starts.",
        default=1,
        allowed=range(1, MAX_CRAWLERS + 1),
    )
    crawlers_in_all: int = setting(
        "Crawler processes of this registry in all, 1 to 32, wherever they run: each "
        "takes its share of what the registry allows itself towards a host, a domain "
        "and a network. 0: as many as CRAWLERS.",
        default=0,
        allowed=range(MAX_CRAWLERS + 1),
    )
    crawler_metrics: str = setting(
        "address:port at which a crawler serves its metrics, such as 127.0.0.1:9101; "
        "of several on one machine each takes the next free port. Empty: not served.",
        default="",
    )
    crawl_at_once: int = setting("Sites a crawler works on at a time.", default=32)
    crawl_lease_s: int = setting(
        "Seconds after which the work of a crawler that gave no sign is given to "
        "another; longer than any visit takes.",
        default=120,
    )
    crawl_visits_per_day: float = setting(
        "The crawl budget: visits of a site and day, in the mean of all sites. Shared so "
        "that the registry as a whole is freshest; no site gets fewer than one in seven "
        "days or more than four a day, whatever the budget. Refreshes come on top.",
        default=1.0,
    )
    refresh_interval_s: int = setting(
        "Seconds between two refreshes that a site's owner may ask for, in the long run; "
        "three may come at once.",
        default=600,
    )
    probe_interval_s: int = setting(
        "Seconds between two quality probes of one site.", default=3600
    )
    bot_auth: bool = setting(
        "Signs the crawler's requests (Web Bot Auth) and serves the directory of its "
        "key. Needs a PUBLIC_URL with https.",
        default=False,
    )
    bot_auth_draft: str = setting(
        "How Signature-Agent names the directory, by the draft that says so: `ietf-00` "
        "a dictionary with the origin, `ietf-01` one with the directory's URL, "
        "`meunier-03` the origin alone.",
        default=Draft.IETF_00.value,
        allowed=tuple(Draft),
    )
    bot_addresses: str = setting(
        "Networks that the crawler's requests come from, as 192.0.2.0/28, between "
        "commas; they are shown at /bot and listed in /bot.json. Empty: not published.",
        default="",
    )
    canaries: str = setting(
        "https URLs of the operator's own, between commas: while most of them can not "
        "be reached, no probe counts for any site. Empty: every probe counts.",
        default="",
    )
    witnesses: str = setting(
        "Who is asked to cosign the log's checkpoints, between commas: the verifier key of "
        "each, a space and the https URL below which it takes them (C2SP tlog-witness). "
        "Empty: nobody.",
        default="",
    )
    witness_quorum: int = setting(
        "How many of WITNESSES must have cosigned a checkpoint before it is served. 0: the "
        "newest is served at once, with the cosignatures that it has by then.",
        default=0,
    )
    retention_days: int = setting(
        "Days after which what rankings disclose (query, place, scores) is erased by "
        "itself. 0: never.",
        default=30,
        allowed=range(36_501),
    )
    auditors: str = setting(
        "C2SP verifier keys of the auditors whose attestations and labels are put on "
        "record, between commas. Empty: of nobody.",
        default="",
    )
    invariance_trials: int = setting(
        "Trials of a day that what must not matter moves no ranking. 0: none.",
        default=10_000,
    )
    invariance_hour: int = setting(
        "Hour of the day, in UTC, from which on they are made: 0 to 23.",
        default=3,
        allowed=range(24),
    )
    encoder: str = setting(
        "What tells the meaning of words: `static`, or `minilm`, whose weights `make "
        "encoder` installs. Another one is another ranking policy: the crawlers make what "
        "is ranked by it anew when they start.",
        default="static",
        allowed=POLICIES,
    )
    log_format: str = setting(
        "`text` for people, `json` for machines.",
        default="text",
        allowed=("text", "json"),
    )
    log_level: str = setting(
        "The least that is told: `info`, `warning` or `error`. Of `demo` it is `warning`.",
        default="info",
        allowed=LOG_LEVELS,
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
        return self.origin.partition("://")[2]

    @property
    def user_agent(self) -> str:
        """What the crawler calls itself; robots.txt knows the part before the slash."""
        return f"FairRegistryBot/1.0 (+{self.origin}/bot)"

    @property
    def crawler_shares(self) -> int:
        return max(self.crawlers, self.crawlers_in_all)

    @property
    def crawler_metrics_at(self) -> tuple[str, int] | None:
        """Raises: ValueError."""
        if not self.crawler_metrics:
            return None
        address, _, port = self.crawler_metrics.rpartition(":")
        address = address.removeprefix("[").removesuffix("]")
        if not (port.isascii() and port.isdigit() and int(port) < 65536):
            raise ValueError(f"{self.crawler_metrics!r} does not end in a port")
        return str(ipaddress.ip_address(address)), int(port)

    @property
    def canary_urls(self) -> tuple[str, ...]:
        texts = (text.strip() for text in self.canaries.split(","))
        return tuple(text for text in texts if text)

    @property
    def witness_list(self) -> tuple[Witness, ...]:
        """Raises: Refused."""
        texts = (text.strip() for text in self.witnesses.split(","))
        return tuple(parse_witness(text) for text in texts if text)

    @property
    def auditor_keys(self) -> frozenset[str]:
        """Raises: Refused on what is no verifier key."""
        texts = (text.strip() for text in self.auditors.split(","))
        return frozenset(format_vkey(parse_vkey(text)) for text in texts if text)

    @property
    def bot_networks(self) -> tuple[Network, ...]:
        """Raises: ValueError."""
        texts = [text.strip() for text in self.bot_addresses.split(",")]
        return tuple(ipaddress.ip_network(text) for text in texts if text)

    @property
    def keys(self) -> Path:
        return self.data / "keys"

    @property
    def index(self) -> Path:
        """Where this machine's index builder puts the index for its web processes."""
        return self.data / "index"


def read_settings(environment: Mapping[str, str], **given: Any) -> Settings:
    """Settings from the environment; what is given wins over it.

    Raises: SettingsInvalid naming the variable.
    """
    values: dict[str, Any] = {}
    for one in fields(Settings):
        text = environment.get(PREFIX + one.name.upper(), "")
        if text:
            values[one.name] = _convert(one.name, one.default, text)
    values.update({name: value for name, value in given.items() if value is not None})
    settings = Settings(**values)
    _verify(settings)
    return settings


def as_environment(settings: Settings) -> dict[str, str]:
    """The variables from which `read_settings` gives the same settings again."""
    variables = {}
    for one in fields(Settings):
        value = getattr(settings, one.name)
        if value is None or value is False:
            continue
        variables[PREFIX + one.name.upper()] = "1" if value is True else str(value)
    return variables


def _convert(name: str, default: object, text: str) -> object:
    if default is MISSING or default is None or isinstance(default, Path):
        return Path(text)
    if isinstance(default, bool):
        return _flag(name, text)
    if isinstance(default, int):
        if not text.isascii() or not text.isdigit():
            raise SettingsInvalid(f"{PREFIX}{name.upper()} must be a whole number")
        return int(text)
    if isinstance(default, float):
        return _number(name, text)
    return text


def _number(name: str, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise SettingsInvalid(f"{PREFIX}{name.upper()} must be a number, such as 0.5")
    return float(text)


def _flag(name: str, text: str) -> bool:
    if text.lower() in {"1", "true", "yes", "on"}:
        return True
    if text.lower() in {"0", "false", "no", "off"}:
        return False
    raise SettingsInvalid(f"{PREFIX}{name.upper()} must be 1 or 0")


def _verify_allowed(settings: Settings) -> None:
    for one in fields(settings):
        allowed = one.metadata["allowed"]
        if allowed is None or getattr(settings, one.name) in allowed:
            continue
        if isinstance(allowed, range):
            told = f"{allowed[0]}..{allowed[-1]}"
        else:
            told = f"one of {', '.join(allowed)}"
        raise SettingsInvalid(f"{PREFIX}{one.name.upper()} must be {told}")


def _verify(settings: Settings) -> None:
    _verify_allowed(settings)
    if settings.allow_loopback and not _is_loopback(settings.host):
        raise SettingsInvalid(
            f"{PREFIX}ALLOW_LOOPBACK lets sites point the crawler at this machine; "
            f"it is refused while listening on {settings.host}. Listen on 127.0.0.1."
        )
    if settings.hosts_file and not settings.allow_loopback:
        raise SettingsInvalid(f"{PREFIX}HOSTS_FILE needs {PREFIX}ALLOW_LOOPBACK=1")
    origin = settings.origin
    if "://" not in origin or origin.endswith("/") or set(origin) & set(" +\n"):
        raise SettingsInvalid(
            f"{PREFIX}PUBLIC_URL is an origin, such as https://registry.example"
        )
    if not all(url.startswith("https://") for url in settings.canary_urls):
        raise SettingsInvalid(f"{PREFIX}CANARIES holds https URLs, between commas")
    if not settings.crawl_visits_per_day > 0:
        raise SettingsInvalid(f"{PREFIX}CRAWL_VISITS_PER_DAY must be above 0")
    if not settings.refresh_interval_s > 0:
        raise SettingsInvalid(f"{PREFIX}REFRESH_INTERVAL_S must be above 0")
    if settings.bot_auth and not _is_https_origin(settings.origin):
        raise SettingsInvalid(
            f"{PREFIX}BOT_AUTH needs a {PREFIX}PUBLIC_URL such as "
            "https://registry.example: there others look for the key"
        )
    _verify_readable(settings)
    _verify_witnesses(settings)


def _verify_readable(settings: Settings) -> None:
    for name, read_as in _READ_AS.items():
        try:
            getattr(settings, read_as)
        except (Refused, ValueError) as error:
            why = error.problem.detail if isinstance(error, Refused) else error
            raise SettingsInvalid(f"{PREFIX}{name}: {why}") from error


def _verify_witnesses(settings: Settings) -> None:
    found = settings.witness_list
    if len(found) > MAX_WITNESSES or len({one.id for one in found}) < len(found):
        raise SettingsInvalid(
            f"{PREFIX}WITNESSES holds at most {MAX_WITNESSES}, each of them once"
        )
    if not 0 <= settings.witness_quorum <= len(found):
        raise SettingsInvalid(f"{PREFIX}WITNESS_QUORUM must be 0..{len(found)}")


def _is_https_origin(origin: str) -> bool:
    scheme, _, authority = origin.partition("://")
    return scheme == "https" and bool(_AUTHORITY.fullmatch(authority))


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
