"""Addresses that the public can reach, and names that only lead to a local network.

`ipaddress.is_global` is no such rule (it holds for NAT64, 6to4 and multicast); the tables
follow the IANA special-purpose registries.
"""

import re
import unicodedata
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_network
from urllib.parse import unquote

from registry.toml_table import read_table

Address = IPv4Address | IPv6Address

_DENIED = [
    ip_network(network)
    for network in read_table(__package__, "special_networks.toml", dict[str, str])
]
_UNICAST_V6 = IPv6Network("2000::/3")
# RFC 6761, 6762, 8375, and the names that home and office networks use (ICANN SAC 062).
_LOCAL_TLDS = frozenset(
    {"localhost", "local", "internal", "localdomain", "lan", "home", "intranet"}
    | {"corp", "private"}
)
_SINGLE_LABEL = re.compile(r"[a-z0-9_-]+")
_NUMBER = re.compile(r"[0-9]{1,40}|0x[0-9a-f]{0,40}")


def unmapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address maps, else the address itself."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped
    return address


def has_scope(address: Address) -> bool:
    return isinstance(address, IPv6Address) and address.scope_id is not None


def is_public(address: Address) -> bool:
    is_unicast = isinstance(address, IPv4Address) or (
        address.scope_id is None and address in _UNICAST_V6
    )
    return is_unicast and not any(address in network for network in _DENIED)


@lru_cache(maxsize=1024)
def is_public_host(host: str) -> bool:
    """Return whether the host of a URL, a name or a number, may lead out of a local network.

    Numbers count in every spelling that browsers take for an address (WHATWG URL, host
    parsing): `127.1`, `0x7f000001`, full-width digits, percent-encoded ones.
    """
    name = _plain(host)
    address = _address(name)
    if address is not None:
        return is_public(address)
    labels = name.split(".")
    is_local = labels[-1] in _LOCAL_TLDS or labels[-2:] == ["home", "arpa"]
    is_number = bool(_NUMBER.fullmatch(labels[-1]))  # and yet no address
    return not (is_local or is_number or _SINGLE_LABEL.fullmatch(name))


@lru_cache(maxsize=1024)
def is_loopback_host(host: str) -> bool:
    """Return whether the host of a URL is this machine, by name or by number."""
    name = _plain(host)
    address = _address(name)
    if address is not None:
        return address.is_loopback and not has_scope(address)
    return name.rpartition(".")[2] == "localhost"


def _plain(host: str) -> str:
    plain = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".")
    return plain.lower().rstrip(".")


def _address(name: str) -> Address | None:
    labels = name.split(".")
    is_number = len(labels) <= 4 and all(map(_NUMBER.fullmatch, labels))
    if not is_number and ":" not in name:
        return None
    try:
        return _ipv4(labels) if is_number else unmapped(IPv6Address(name))
    except ValueError:  # a part out of range, or an 8 in an octal number
        return None


def _ipv4(labels: list[str]) -> IPv4Address:
    """Parse 1 to 4 numbers, decimal, octal or hexadecimal; the last fills the rest."""
    *leading, last = map(_number, labels)
    places = range(3, 3 - len(leading), -1)
    if any(number > 255 for number in leading) or last >= 256 ** (4 - len(leading)):
        raise ValueError("out of range")
    shifted = (number << 8 * at for number, at in zip(leading, places, strict=True))
    return IPv4Address(sum(shifted) + last)


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if label.startswith("0") else 10)
