"""The networks of a client, which own its buckets."""

from functools import lru_cache
from ipaddress import IPv6Address, ip_address

from litestar.types import Scope

IPV6_BITS = (64, 48)
"""Prefixes: an address of a /64 brings all of it; a provider gives a customer a /48."""


def client_of(scope: Scope) -> str:
    """Return the client's address, "" of a local socket."""
    return scope["client"][0] if scope["client"] else ""


def network_of(scope: Scope) -> str:
    """Return the client's narrowest network, "" of a local socket."""
    return networks_of(client_of(scope))[0]


@lru_cache(maxsize=4_096)
def networks_of(address: str) -> tuple[str, ...]:
    """Return the names of the networks, the narrowest first: one of IPv4, two of IPv6.

    What is no address, such as that of a local socket, is its own network.
    """
    try:
        ip = ip_address(address)
    except ValueError:
        return (address,)
    if not isinstance(ip, IPv6Address):
        return (address,)
    if ip.ipv4_mapped:
        return (str(ip.ipv4_mapped),)
    return tuple(f"{int(ip) >> (128 - bits):x}/{bits}" for bits in IPV6_BITS)
