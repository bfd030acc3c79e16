"""Keys and pins in TXT records.

`_wab.<registrable domain>`: `v=wab1; endpoint=https://…; pk=ed25519:<base64>`, WAB's own
record; `_agent-registry.<host>`: `v=ar1; kid=<thumbprint>`, ours. Other TXT records at
the same name are ignored.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from registry.errors import Refused
from registry.identity import base64url
from registry.identity.https_url import parse_https_url
from registry.identity.json_fields import parse_choice
from registry.identity.keys.public_keys import PublicKey, parse_thumbprint
from registry.identity.refusals import PIN_RECORD_MALFORMED, WAB_RECORD_MALFORMED
from registry.sites.host import Host

Value = TypeVar("Value")
Status = Literal["active", "paused", "deprecated"]
_STATUSES: tuple[Status, ...] = ("active", "paused", "deprecated")
_CHOICE: tuple[Status, ...] = ("active", "deprecated", "paused")
_WAB_VERSION = re.compile(r"wab([0-9]{0,4})", re.IGNORECASE)
_PIN_VERSION = "ar1"
_PK_PREFIX = "ed25519:"
_FINGERPRINT = re.compile(r"sha256:([0-9a-f]{64})", re.IGNORECASE)
_TTL = re.compile(r"[0-9]{1,9}")
# What tools in circulation write where `endpoint` or `path` is meant.
_MISNOMERS = ("manifest", "well-known", "url")

_Fields = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WabRecord:
    """A _wab record; it has an endpoint, a path or both.

    key: counts whatever the status, which is the endpoint's. fingerprint: 64 lower-case
    hex digits of a SHA-256; no specification says of what, so nothing relies on it.
    capability_ttl_s: as declared; visits keep to a schedule of their own.
    """

    version: int
    endpoint: str | None = None
    path: str | None = None
    key: PublicKey | None = None
    fingerprint: str | None = None
    capability_ttl_s: int | None = None
    status: Status = "active"

    def endpoint_on(self, host: Host) -> str | None:
        """Return the document's URL; None if the record does not cover this host.

        It stands at the registrable domain and speaks for that; for a host below it,
        only where it names the very host.
        """
        if host.name == host.registrable_domain:
            return self.endpoint or f"https://{host.name}{self.path}"
        if self.endpoint and urlsplit(self.endpoint).hostname == host.name:
            return self.endpoint
        return None


def choose_record(records: Sequence[WabRecord], host: Host) -> WabRecord | None:
    """Choose the record to follow among those that cover the host: the most active.

    Name servers answer in any order, so the order decides nothing.
    """
    covering = [record for record in records if record.endpoint_on(host)]
    return min(
        covering,
        key=lambda record: (
            _CHOICE.index(record.status),
            record.endpoint or "",
            record.path or "",
        ),
        default=None,
    )


def parse_wab_records(texts: Sequence[str]) -> tuple[WabRecord, ...]:
    """Parse the records of the highest version; two of them let keys overlap.

    texts: the TXT records at the name, each with its strings joined.
    Raises: Refused(WAB_RECORD_MALFORMED), also when a lower version would be sound.
    """
    versions = [(_wab_version(fields), fields) for fields in map(_fields_of, texts)]
    highest = max(
        (version for version, _ in versions if version is not None), default=0
    )
    return tuple(
        _parse_wab_record(version, fields)
        for version, fields in versions
        if version == highest
    )


def parse_pins(texts: Sequence[str]) -> frozenset[str]:
    """Parse the thumbprints that the site allows; empty if it pins nothing.

    Raises: Refused(PIN_RECORD_MALFORMED).
    """
    records = map(_fields_of, texts)
    return frozenset(_parse_pin(fields) for fields in records if _is_pin(fields))


def _fields_of(text: str) -> _Fields:
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return [(name.strip(), value.strip()) for name, _, value in pairs]


def _wab_version(fields: _Fields) -> int | None:
    """Return the version, 0 for WAB without a number, None for another record."""
    for name, value in fields:
        match = _WAB_VERSION.fullmatch(value) if name.lower() == "v" else None
        if match is not None:
            return int(match[1] or 0)
    return None


def _parse_wab_record(version: int, fields: _Fields) -> WabRecord:
    named = dict(fields)
    faults = list(_faults_of(version, fields, named))
    if faults:
        raise _malformed(", and ".join(faults))
    return WabRecord(
        version=version,
        endpoint=_read(named, "endpoint", parse_https_url),
        path=_read(named, "path", _parse_path),
        key=_read(named, "pk", _parse_pk),
        fingerprint=_read(named, "fingerprint", _parse_fingerprint),
        capability_ttl_s=_read(named, "capability_ttl", _parse_ttl),
        status=_read(named, "status", partial(parse_choice, choices=_STATUSES))
        or "active",
    )


def _malformed(reason: str) -> Refused:
    return Refused(WAB_RECORD_MALFORMED, f"In the _wab TXT record {reason}.")


def _faults_of(
    version: int, fields: _Fields, named: Mapping[str, str]
) -> Iterator[str]:
    """Yield all faults, so that the owner mends them at once."""
    if fields[0] != ("v", f"wab{version}") or version == 0:
        yield "it must begin with 'v=wab1', in lower case"
    if len(named) != len(fields):
        yield "it names a field twice"
    if "endpoint" not in named and "path" not in named:
        yield _describe_missing_endpoint(named)


def _describe_missing_endpoint(named: Mapping[str, str]) -> str:
    for name in _MISNOMERS:
        if name in named:
            needed = "path" if named[name].startswith("/") else "endpoint"
            return f"'{name}=' stands where '{needed}=' is needed"
    return "neither 'endpoint=' nor 'path=' is given"


def _read(
    named: Mapping[str, str], name: str, parse: Callable[[str], Value]
) -> Value | None:
    """Return a field as `parse` reads it, whose ValueError says what it must be."""
    if name not in named:
        return None
    try:
        return parse(named[name])
    except ValueError as error:
        raise _malformed(f"{name} {error}") from error


def _parse_path(text: str) -> str:
    try:
        parse_https_url(f"https://host.example{text}")
    except ValueError as error:
        raise ValueError("must be a URL path") from error
    if not text.startswith("/"):
        raise ValueError("must begin with '/'")
    return text


def _parse_pk(text: str) -> PublicKey:
    if not text.startswith(_PK_PREFIX):
        raise ValueError(f"must begin with '{_PK_PREFIX}'")
    raw = base64url.decode_either(text.removeprefix(_PK_PREFIX))
    try:
        return PublicKey(alg="Ed25519", raw=raw)
    except Refused as refused:
        raise ValueError(f"is unsound: {refused.problem.title}") from refused


def _parse_fingerprint(text: str) -> str:
    match = _FINGERPRINT.fullmatch(text)
    if match is None:
        raise ValueError("must be 'sha256:' and 64 hex digits")
    return match[1].lower()


def _parse_ttl(text: str) -> int:
    if not _TTL.fullmatch(text):
        raise ValueError("must be a number of seconds")
    return int(text)


def _is_pin(fields: _Fields) -> bool:
    return any(
        name.lower() == "v" and value.lower() == _PIN_VERSION for name, value in fields
    )


def _parse_pin(fields: _Fields) -> str:
    named = dict(fields)
    if len(named) != len(fields) or fields[0] != ("v", _PIN_VERSION):
        detail = "It must begin with 'v=ar1' and name each field once."
        raise Refused(PIN_RECORD_MALFORMED, detail)
    with Refused.on(ValueError, PIN_RECORD_MALFORMED, "kid {}.".format):
        return parse_thumbprint(named.get("kid", ""))
