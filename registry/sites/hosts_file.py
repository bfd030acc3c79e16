"""Hosts of a development server, and where each of them leads past the DNS."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from registry.errors import ProblemType, Refused
from registry.sites import refusals
from registry.sites.addresses import unmapped
from registry.sites.host import parse_host


@dataclass(frozen=True, slots=True)
class Endpoint:
    address: str
    port: int


def parse_endpoint(text: str, kind: ProblemType) -> Endpoint:
    """text: `address:port`, an IPv6 address in brackets. Raises: Refused of the kind."""
    address, _, port = text.strip().rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise Refused(kind, f"{text[:80]!r} does not end in a port")
    with Refused.on(ValueError, kind, f"{address[:80]!r} is no address"):
        ipaddress.ip_address(address)
    if "%" in address:
        raise Refused(kind, f"{address[:80]!r} is of one network card alone")
    return Endpoint(address, int(port))


def parse_hosts_file(text: str) -> Mapping[str, Endpoint]:
    """Lines of `host address:port`; # begins a comment. Raises: Refused `hosts_file`."""
    hosts = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2:
            raise Refused(
                refusals.HOSTS_FILE, f"line {number} holds {len(words)} words"
            )
        try:
            host = parse_host(words[0], test_hosts=True)
            endpoint = parse_endpoint(words[1], refusals.HOSTS_FILE)
            _verify_loopback(endpoint)
        except Refused as refused:
            detail = f"line {number}: {refused.problem.detail}"
            raise Refused(refusals.HOSTS_FILE, detail) from refused
        hosts[host.name] = endpoint
    return MappingProxyType(hosts)


def _verify_loopback(endpoint: Endpoint) -> None:
    if not unmapped(ipaddress.ip_address(endpoint.address)).is_loopback:
        raise Refused(refusals.HOSTS_FILE, f"{endpoint.address} is not loopback")
