"""The options of the web server, and the only place that knows them.

A unit or a container that had a copy of them would answer otherwise, without a word.
"""

CONNECTIONS = 16_384
"""Connections a web process holds at once: to granian each counts, one that is idle too."""
HEAD_BYTES = 16_384  # and what is read ahead of a body: a stranger's, in our memory
HEAD_TIMEOUT_MS = 20_000
"""Time for the head of a request, and of an idle connection: clients end theirs before."""
# granian's jemalloc keeps what a flood took until somebody asks: the bridge would see its
# memory short, and refuse everybody, until the next start (ADR 0296).
ALLOCATOR = {"_RJEM_MALLOC_CONF": "background_thread:true,dirty_decay_ms:1000"}


def web_arguments(host: str, port: int, workers: int) -> list[str]:
    """Return the arguments of Python for granian and the application."""
    return [
        *("-m", "granian", "--interface", "asgi", "--factory"),
        *("--host", host, "--port", str(port), "--workers", str(workers)),
        *("--ws", "--loop", "asyncio", "--log-level", "warning"),
        *("--respawn-failed-workers", "--respawn-interval", "0.2"),
        *("--workers-kill-timeout", "5"),
        *("--backpressure", str(CONNECTIONS), "--backlog", str(CONNECTIONS)),
        # To tell HTTP/2 by its first bytes granian would wait for these without end.
        *("--http", "1", "--http1-header-read-timeout", str(HEAD_TIMEOUT_MS)),
        *("--http1-buffer-size", str(HEAD_BYTES)),
        "registry.app:create_app_from_environment",
    ]
