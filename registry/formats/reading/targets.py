"""Where an action is called: the URLs that documents declare, made absolute.

`javascript:` and its kin pass JSON Schema's `format: uri`, so the scheme is checked here.
A target is never fetched by the registry; it is only shown to agents, who may follow it.
"""

import re
from functools import lru_cache
from urllib.parse import SplitResult, urljoin, urlsplit

MAX_URL_CHARACTERS = 2_048
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
# Most targets: a path without anything that joining it to a base would change.
_PLAIN_PATH = re.compile(r"(?>(?:/(?!\.)[A-Za-z0-9_{}~.-]++)+)\Z")
_PORTS = {"https": 443, "wss": 443, "http": 80, "ws": 80}
_SECURE = frozenset({"https", "wss"})
# Browsers read a backslash as a slash, drop tabs and newlines, and take `https:x` and
# `///x` for a host; urllib does not, so such a URL may lead elsewhere than it seems to.
_AMBIGUOUS = re.compile(
    r"[\x00-\x1f\x7f\\]|^/{3}|^(?:https?|wss?):(?!//[^/])", re.IGNORECASE
)


def resolve_target(target: str, *, base: str) -> str | None:
    """The absolute URL; None if agents must not follow it.

    Allowed are https and wss, and unencrypted http and ws on loopback only.
    """
    target = target.strip()
    if _PLAIN_PATH.match(target) and len(base) + len(target) <= MAX_URL_CHARACTERS:
        origin = _origin(base)
        return origin + target if origin else None
    if not target or _AMBIGUOUS.search(target):
        return None
    try:
        url = urljoin(base, target)
        parts = urlsplit(url)
        allowed = len(url) <= MAX_URL_CHARACTERS and _is_allowed(parts)
    except ValueError:
        return None
    return url if allowed else None


@lru_cache(maxsize=256)
def _origin(base: str) -> str:
    """Scheme and authority of an allowed URL; "" of any other."""
    try:
        parts = urlsplit(base)
        return f"{parts.scheme}://{parts.netloc}" if _is_allowed(parts) else ""
    except ValueError:
        return ""


def _is_allowed(parts: SplitResult) -> bool:
    if not parts.hostname or "@" in parts.netloc:
        return False
    if parts.port == 0:
        return False
    return parts.scheme in _SECURE or (
        parts.scheme in _PORTS and parts.hostname in _LOOPBACK
    )


def is_off_origin(url: str, *, site_url: str) -> bool:
    """Whether the absolute URL leaves the site's host or port."""
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
