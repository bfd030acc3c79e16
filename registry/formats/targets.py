"""Where an action is called: the URLs that documents declare, made absolute.

`javascript:` and its kin pass JSON Schema's `format: uri`, so the scheme is checked here.
A target is never fetched by the registry; it is only shown to agents, who may follow it.
"""

import re
from urllib.parse import SplitResult, urljoin, urlsplit

MAX_URL_CHARACTERS = 2_048
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
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
    if not target or _AMBIGUOUS.search(target):
        return None
    try:
        url = urljoin(base, target)
        parts = urlsplit(url)
        allowed = len(url) <= MAX_URL_CHARACTERS and _is_allowed(parts)
    except ValueError:
        return None
    return url if allowed else None


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
    return _authority(url) != _authority(site_url)


def _authority(url: str) -> tuple[str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return None
    return (parts.hostname or "", port)
