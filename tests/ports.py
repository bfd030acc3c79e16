"""Ports for servers that are started with a number."""

import secrets
import socket

LOWEST, BEYOND = 10_000, 32_768
"""Below those that Linux gives to who asks for any port, and to the own ends of connections."""


def free_port() -> int:
    """Return a port of loopback that nothing uses, and that no other process is given here.

    One that the system chose would be free again at once: until the server listens, for
    seconds, and while it restarts, another test's server or connection may take it.
    Claimed by a name that the system forgets with this process.
    """
    while True:
        port = LOWEST + secrets.randbelow(BEYOND - LOWEST)
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        with socket.socket() as trial:
            try:
                claim.bind(f"\0fair-registry-tests-{port}")
                trial.bind(("127.0.0.1", port))
            except OSError:
                claim.close()
            else:
                claim.detach()
                return port
