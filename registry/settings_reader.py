"""Settings read from the environment, and refused where they can't work."""

import ipaddress
import os
import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, NoReturn, get_type_hints
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import inspect

from registry.errors import Refused
from registry.settings import PREFIX, Settings
from registry.tlog.witness import MAX_WITNESSES

EXIT_MISCONFIGURED = 78  # EX_CONFIG of sysexits.h: to start it again helps nothing

_OF_COMMANDS = ("API_KEY", "OPERATOR_KEY", "URL")  # read by the commands themselves
_FLAGS = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_AUTHORITY = re.compile(r"[a-z0-9.-]+(:[0-9]+)?")
# What the driver takes as text, `sslmode` for its `ssl`, and `logins` of our own.
_DATABASE_PARAMETERS = frozenset(
    (
        *("host", "port", "user", "password", "passfile", "database", "logins"),
        *("ssl", "sslmode", "krbsrvname", "gsslib", "service", "servicefile"),
        *("target_session_attrs", "prepared_statement_cache_size"),
    )
)
_DATABASE_URL = re.compile(
    r"postgres(ql)?(\+\w+)?://([^@]*@)?(\[[^\]@]*\]|[^/:?@]*)(:[0-9]*)?([/?].*)?"
)

# Texts of several parts, and the attributes that parse them.
_PARSED_BY = {
    "AUDITORS": "auditor_keys",
    "BOT_ADDRESSES": "bot_networks",
    "METRICS": "metrics_at",
    "OWN_NETWORKS": "refused_networks",
    "WITNESSES": "witness_list",
}


class SettingsInvalid(ValueError):
    """A wrong setting; the message names its variable."""


def read_settings(environment: Mapping[str, str], **given: Any) -> Settings:
    """Read the settings from the environment; what is given wins over it.

    Raises: SettingsInvalid naming the variable.
    """
    _refuse_unknown(environment)
    values: dict[str, Any] = {
        name: environment[PREFIX + name.upper()]
        for name in _TYPES
        if environment.get(PREFIX + name.upper())
    }
    values |= {name: value for name, value in given.items() if value is not None}
    settings = Settings(
        **{name: _convert(name, value) for name, value in values.items()}
    )
    _verify(settings)
    return settings


def settings_of_process() -> Settings:
    """Read the settings of a part; a wrong one ends it with one sentence."""
    try:
        return read_settings(os.environ)
    except SettingsInvalid as error:
        exit_misconfigured(error)


def exit_misconfigured(error: Exception) -> NoReturn:
    """End a part that its settings keep from working; `serve` ends with it."""
    sys.stderr.write(f"Error: {error}\n")
    sys.exit(EXIT_MISCONFIGURED)


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    """Refuse a misspelt variable, which would silently set nothing."""
    known = {PREFIX + name.upper() for name in (*_TYPES, *_OF_COMMANDS)}
    for variable in environment:
        if not variable.startswith(PREFIX) or variable in known:
            continue
        near = get_close_matches(variable.upper(), known, n=1)
        advice = f"did you mean {near[0]}?" if near else "docs/settings.md lists them"
        raise SettingsInvalid(f"{variable} is not a setting; {advice}")


_TYPES: Mapping[str, Any] = get_type_hints(Settings, include_extras=True)


def _convert(name: str, value: object) -> Any:
    kind = inspect.type_info(_TYPES[name])
    if isinstance(kind, inspect.BoolType) and isinstance(value, str):
        value = _FLAGS.get(value.lower(), value)
    try:
        return msgspec.convert(
            value, _TYPES[name], strict=False, dec_hook=lambda to, text: to(text)
        )
    except ValueError as error:
        expected = _expected(kind)
        raise SettingsInvalid(f"{PREFIX}{name.upper()} must be {expected}") from error


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.BoolType():
            return "1 or 0"
        case inspect.IntType(ge=low, le=None):
            return f"a whole number from {low}"
        case inspect.IntType(ge=low, le=high):
            return f"a whole number, {low}..{high}"
        case inspect.FloatType():
            return "a number above 0, such as 0.5"
        case inspect.LiteralType(values=values):
            return f"one of {', '.join(map(str, values))}"
        case inspect.EnumType(cls=cls):
            return f"one of {', '.join(member.value for member in cls)}"
        case _:
            return "text"


def _verify(settings: Settings) -> None:
    if settings.allow_loopback and not is_loopback(settings.host):
        raise SettingsInvalid(
            f"{PREFIX}ALLOW_LOOPBACK lets sites point the crawler at this machine; "
            f"it is refused while listening on {settings.host}. Listen on 127.0.0.1."
        )
    _verify_database_url(settings.database_url)
    if settings.hosts_file and not settings.allow_loopback:
        raise SettingsInvalid(f"{PREFIX}HOSTS_FILE needs {PREFIX}ALLOW_LOOPBACK=1")
    origin = settings.origin
    if "://" not in origin or origin.endswith("/") or set(origin) & set(" +\n"):
        raise SettingsInvalid(
            f"{PREFIX}PUBLIC_URL is an origin, such as https://registry.example"
        )
    if set(settings.log_name) & set(" +\n"):
        raise SettingsInvalid(
            f"{PREFIX}LOG_NAME is a name such as registry.example, without space and +"
        )
    if not all(url.startswith("https://") for url in settings.canary_urls):
        raise SettingsInvalid(f"{PREFIX}CANARIES holds https URLs, separated by commas")
    if settings.bot_auth and not _is_https_origin(settings.origin):
        raise SettingsInvalid(
            f"{PREFIX}BOT_AUTH needs a {PREFIX}PUBLIC_URL such as "
            "https://registry.example: others fetch the key from it"
        )
    _verify_files(settings)
    _verify_readable(settings)
    _verify_witnesses(settings)


def _verify_database_url(url: str) -> None:
    """Refuse without showing it: an error of the parser would show part of a password."""
    if url and not _DATABASE_URL.fullmatch(url):
        raise SettingsInvalid(
            f"{PREFIX}DATABASE_URL names no PostgreSQL; write it as postgresql://"
            "user:password@host/database, where %40 in the password stands for @"
        )
    given = parse_qs(urlsplit(url).query, keep_blank_values=True)
    if unknown := sorted(given.keys() - _DATABASE_PARAMETERS):
        raise SettingsInvalid(
            f"{PREFIX}DATABASE_URL: of the parameters of a URL, sslmode is known and "
            f"{unknown[0]} is not; a certificate's file is named by PGSSLROOTCERT"
        )


def _verify_files(settings: Settings) -> None:
    for name, path in (
        ("HOSTS_FILE", settings.hosts_file),
        ("CA_FILE", settings.ca_file),
    ):
        try:
            if path is not None:
                path.read_bytes()
        except OSError as error:
            raise SettingsInvalid(
                f"{PREFIX}{name}: {path} can't be read: {error.strerror}; correct the "
                "path, or unset the variable"
            ) from error


def _verify_readable(settings: Settings) -> None:
    for name, attribute in _PARSED_BY.items():
        try:
            getattr(settings, attribute)
        except (Refused, ValueError) as error:
            why = error.problem.detail if isinstance(error, Refused) else error
            raise SettingsInvalid(f"{PREFIX}{name}: {why}") from error


def _verify_witnesses(settings: Settings) -> None:
    witnesses = settings.witness_list
    ids = {witness.id for witness in witnesses}
    if len(witnesses) > MAX_WITNESSES or len(ids) < len(witnesses):
        raise SettingsInvalid(
            f"{PREFIX}WITNESSES holds at most {MAX_WITNESSES} different witnesses"
        )
    if not 0 <= settings.witness_quorum <= len(witnesses):
        raise SettingsInvalid(
            f"{PREFIX}WITNESS_QUORUM asks for {settings.witness_quorum} witnesses, and "
            f"{PREFIX}WITNESSES names {len(witnesses)}; name more of them, or lower it"
        )


def _is_https_origin(origin: str) -> bool:
    scheme, _, authority = origin.partition("://")
    return scheme == "https" and bool(_AUTHORITY.fullmatch(authority))


def is_loopback(host: str) -> bool:
    """Return whether the host is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
