"""Targets of calls: the URLs that documents declare, made absolute.

`javascript:` and its kin pass JSON Schema's `format: uri`, so the scheme is checked here.
A target is never fetched by the registry; it is only shown to agents, who may follow it:
on loopback or in a private network that would be their own machine or their own network.
"""

import re
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit

from registry.sites.addresses import is_loopback_host, is_public_host

MAX_URL_CHARACTERS = 2_048
# Most targets: a path without anything that joining it to a base would change.
_PLAIN_PATH = re.compile(r"(?>(?:/(?!\.)[A-Za-z0-9_{}~.-]++)*)/?\Z")
_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}
_SECURE = frozenset({"https", "wss"})
# Browsers read a backslash as a slash, drop tabs and newlines, and take `https:x` and
# `///x` for a host; urllib does not, so such a URL may lead elsewhere than it seems to.
_AMBIGUOUS = re.compile(
    r"[\x00-\x1f\x7f\\]|^/{3}|^(?:https?|wss?):(?!//[^/])", re.IGNORECASE
)


def resolve_target(
    target: str, *, base: str, allow_loopback: bool = False
) -> str | None:
    """Return the absolute URL; None if agents must not follow it.

    Allowed are https and wss on hosts that the public can reach. allow_loopback: for
    development, loopback too, and there unencrypted http and ws.
    """
    target = target.strip()
    origin = _origin(base, allow_loopback=allow_loopback)
    path = target.removeprefix(origin)
    if origin and target and _PLAIN_PATH.match(path):
        url = origin + path
        return url if len(url) <= MAX_URL_CHARACTERS else None
    if not target or _AMBIGUOUS.search(target):
        return None
    try:
        url = urljoin(base, target)
        parts = urlsplit(url)
        allowed = len(url) <= MAX_URL_CHARACTERS and _is_allowed(
            parts, allow_loopback=allow_loopback
        )
    except ValueError:
        return None
    return url if allowed else None


@lru_cache(maxsize=256)
def _origin(base: str, *, allow_loopback: bool = True) -> str:
    """Return scheme and authority of an allowed URL; "" for any other."""
    try:
        parts = urlsplit(base)
        is_allowed = _is_allowed(parts, allow_loopback=allow_loopback)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc}" if is_allowed else ""


def _is_allowed(parts: SplitResult, *, allow_loopback: bool) -> bool:
    host = parts.hostname
    if not host or "@" in parts.netloc or parts.port == 0:
        return False
    if allow_loopback and is_loopback_host(host):
        return parts.scheme in _PORTS
    return parts.scheme in _SECURE and is_public_host(host)


def page_base(href: str, *, url: str, allow_loopback: bool = False) -> str:
    """Return the base of a page's relative URLs. href: of its `base`. url: the page's.

    A private base stays the base: what is relative leads there in a browser too, and is
    left out. Any other that agents must not follow is ignored.
    """
    base = resolve_target(href, base=url, allow_loopback=allow_loopback)
    if base is None and is_private_target(href, base=url):
        return urljoin(url, href.strip())
    return base or url


def is_private_target(target: str, *, base: str) -> bool:
    """Return whether the URL leads to a loopback, link-local or private address."""
    try:
        parts = urlsplit(urljoin(base, target.strip()))
        host = parts.hostname
    except ValueError:
        return False
    if parts.scheme not in _PORTS or not host or not target.strip():
        return False
    return not is_public_host(host)


def is_off_origin(url: str, *, site_url: str) -> bool:
    """Return whether the absolute URL leaves the site's host or port."""
    origin = _origin(site_url)
    if origin and url.startswith(f"{origin}/"):
        return False
    return _authority(url) != _authority(site_url)


def _authority(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    return (parts.hostname or "", port)
