"""Rules for URLs, addresses and redirects that the crawler may follow. Pure.

Any registered site chooses what the crawler fetches, so every URL and every address
passes here before a packet leaves. Development mode (`allow_loopback`, `allow_test`) adds loopback addresses and .test
hosts and nothing else.
"""

import ipaddress
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Literal
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from crawler import refusals
from registry.errors import Refused
from registry.sites.addresses import Address, has_scope, is_public, unmapped
from registry.sites.host import Host, parse_host
from registry.sites.refusals import IP_LITERAL, NO_HOST

Network = IPv4Network | IPv6Network

MAX_URL_LENGTH = 2048
HTTPS_PORT = 443

_FORBIDDEN_CHARACTERS = re.compile(
    # controls and space, backslash, zero-width and bidirectional marks, surrogates
    r"[\x00-\x20\x7f-\xa0\\\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})|%00")
_DOT_SEGMENT = re.compile(r"(?:^|/)(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_PATH_SAFE = "/%:@!$&'()*+,;=~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A URL that may be fetched.

    url: normalised, ASCII. path: path and query as sent, ASCII, begins with "/".
    """

    url: str
    host: Host
    port: int
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectRule:
    """Rule for redirects: how many are followed, and whether they may leave the host or site."""

    limit: int = 3
    within: Literal["any", "site", "host"] = "site"


def verify_address(
    address: str, *, allow_loopback: bool = False, own_networks: Iterable[Network] = ()
) -> Address:
    """The address, if the crawler may connect to it.

    own_networks: the operator's, refused though public.
    Raises: Refused `address`.
    """
    with Refused.on(ValueError, refusals.ADDRESS, f"{address[:80]!r} is no address"):
        parsed = unmapped(ipaddress.ip_address(address))
    if allow_loopback and parsed.is_loopback and not has_scope(parsed):
        return parsed
    if not is_public(parsed) or any(parsed in network for network in own_networks):
        raise Refused(refusals.ADDRESS, f"{parsed} is not a public address")
    return parsed


def parse_target(
    url: str, *, allow_test: bool = False, ports: Collection[int] = (HTTPS_PORT,)
) -> Target:
    """The URL gate, before any I/O. Raises: Refused."""
    _verify_characters(url)
    with Refused.on(ValueError, refusals.URL_SYNTAX, str):
        parts = urlsplit(url)
    _verify_parts(url, parts)
    host = parse_host(_host_text(parts), test_hosts=allow_test)
    port = _parse_port(parts)
    if port not in ports:
        raise Refused(refusals.PORT, f"port {port} is not allowed")
    path = _encode_path(parts)
    authority = host.name if port == HTTPS_PORT else f"{host.name}:{port}"
    return Target(url=f"https://{authority}{path}", host=host, port=port, path=path)


def _verify_characters(url: str) -> None:
    if len(url) > MAX_URL_LENGTH:
        raise Refused(refusals.URL_LENGTH, f"{len(url)} characters")
    if forbidden := _FORBIDDEN_CHARACTERS.search(url):
        point = ord(forbidden.group())
        raise Refused(
            refusals.URL_CHARS, f"U+{point:04X} stands at {forbidden.start()}"
        )


def _verify_parts(url: str, parts: SplitResult) -> None:
    if parts.scheme != "https":
        raise Refused(refusals.SCHEME, f"the scheme is {parts.scheme[:20]!r}")
    if "@" in parts.netloc:
        raise Refused(refusals.USERINFO)
    if "#" in url:
        raise Refused(refusals.FRAGMENT)
    if "[" in parts.netloc:
        raise Refused(IP_LITERAL)
    if _BAD_ESCAPE.search(parts.path) or _BAD_ESCAPE.search(parts.query):
        raise Refused(refusals.URL_CHARS, "a percent sign begins no valid escape")
    if _DOT_SEGMENT.search(parts.path):
        raise Refused(refusals.URL_CHARS, "the path has dot segments")


def _host_text(parts: SplitResult) -> str:
    """The host as written: `SplitResult.hostname` would lower-case it on its own."""
    host = parts.netloc.partition(":")[0]
    if not host:
        raise Refused(NO_HOST)
    return host


def _parse_port(parts: SplitResult) -> int:
    _, colon, digits = parts.netloc.partition(":")
    if not colon:
        return HTTPS_PORT
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 5):
        raise Refused(refusals.PORT, f"{digits[:20]!r} is no port")
    return int(digits)


def _encode_path(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe=_PATH_SAFE)
    query = "?" + quote(parts.query, safe=_PATH_SAFE + "?") if parts.query else ""
    return path + query


def decide_redirect(
    current: Target,
    location: str,
    *,
    rule: RedirectRule,
    seen: Collection[str],
    allow_test: bool = False,
    ports: Collection[int] = (HTTPS_PORT,),
) -> Target:
    """Return the target of a redirect, if it may be followed.

    seen: URLs fetched so far, the current one among them. Raises: Refused.
    """
    if not location:
        raise Refused(refusals.REDIRECT_NO_LOCATION)
    if len(seen) > rule.limit:
        raise Refused(refusals.REDIRECT_LIMIT, f"more than {rule.limit} redirects")
    # urljoin drops what it finds odd (tabs, newlines), so look before it does.
    _verify_characters(location)
    with Refused.on(ValueError, refusals.URL_SYNTAX, str):
        joined = urljoin(current.url, location)
    target = parse_target(joined, allow_test=allow_test, ports=ports)
    _verify_same_site(current.host, target.host, rule)
    if target.url in seen:
        raise Refused(refusals.REDIRECT_LOOP, f"{target.url} was fetched already")
    return target


def _verify_same_site(current: Host, target: Host, rule: RedirectRule) -> None:
    same = {
        "any": True,
        "site": target.registrable_domain == current.registrable_domain,
        "host": target.name == current.name,
    }
    if not same[rule.within]:
        raise Refused(refusals.REDIRECT_CROSS_SITE, f"it leads to {target.name}")
