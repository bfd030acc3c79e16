"""Ports of this machine, before a server asks for them."""

import socket

import click


def verify_port_is_free(host: str, port: int) -> None:
    """Raises: click.ClickException; the web process itself could only try for ever."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    )[0]
    with socket.socket(family, kind, protocol) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(address)
        except OSError as error:
            raise click.ClickException(
                f"can't listen on {host}:{port}: {error.strerror}; take another --port"
            ) from error
