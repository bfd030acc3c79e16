"""Names of the crowd, resolved as all others are: by the system's call, on a thread."""

import socket
from typing import Any

from crawler.bench.documents import is_crowded

ADDRESS = "127.0.0.1"
_resolve = socket.getaddrinfo


def resolve_to_loopback() -> None:
    """Make the system resolve the synthetic hosts, in this process, from now on."""
    socket.getaddrinfo = _resolve_crowd
    socket.gethostbyname = _name_to_loopback  # Twisted asks this one


def _resolve_crowd(host: Any, port: Any, *arguments: Any, **options: Any) -> Any:
    name = host.decode() if isinstance(host, bytes) else host
    if name and is_crowded(name):
        address = (ADDRESS, int(port or 0))
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", address)]
    return _resolve(host, port, *arguments, **options)


def _name_to_loopback(name: str) -> str:
    return str(_resolve_crowd(name, None)[0][4][0])
