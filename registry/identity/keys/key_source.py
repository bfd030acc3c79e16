"""Sources of a site's keys: locations that only its operator can write to.

A key is always named together with its source; a `kid` alone could be another site's.
"""

from dataclasses import dataclass
from urllib.parse import urlsplit

from registry.errors import Refused
from registry.identity.https_url import parse_https_url
from registry.identity.refusals import KEY_SET_ELSEWHERE
from registry.sites.host import Host

KEY_SET_PATH = "/.well-known/agent-registry-keys.json"
_HTTPS_PORTS = frozenset({None, 443})


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReference:
    """source_url: a key set's https URL or a record's dns URI. kid: the thumbprint."""

    source_url: str
    kid: str


def key_set_url(host: Host) -> str:
    return f"https://{host.name}{KEY_SET_PATH}"


def wab_record_name(host: Host) -> str:
    return f"_wab.{host.registrable_domain}"


def pin_record_name(host: Host) -> str:
    return f"_agent-registry.{host.name}"


def txt_record_url(name: str) -> str:
    """Return the dns URI of a TXT record (RFC 4501)."""
    return f"dns:{name}?type=TXT"


def verify_key_set_origin(host: Host, final_url: str) -> None:
    """Refuse a key set that another origin served. final_url: after redirects.

    The author of a redirect, say through an open redirect or a URL shortener, need not be
    the operator; another port may belong to another user of the machine.
    Raises: Refused(KEY_SET_ELSEWHERE).
    """
    with Refused.on(ValueError, KEY_SET_ELSEWHERE):
        url = urlsplit(parse_https_url(final_url))
    if url.hostname != host.name or url.port not in _HTTPS_PORTS:
        raise Refused(KEY_SET_ELSEWHERE, f"It came from {url.netloc}.")
