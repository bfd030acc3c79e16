"""Cost of hosts that drip, to the good ones beside them and in memory.

All are on loopback, served by a process of their own. The good ones are fetched a few at
a time, alone and then beside the swarm, whose every connection is held to the deadline.
"""

import asyncio
import multiprocessing
import ssl
import statistics
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
import trustme

from crawler.http.exchange import Fetched, Wanted
from crawler.http.fetch import Fetcher, FetcherConfig
from crawler.http.head import JSON_TYPES
from crawler.http.resolve import Resolver, ResolverConfig
from crawler.refusals import DEADLINE
from crawler.restraint.politeness import TOWARDS_OURSELVES, Politeness
from registry.errors import Refused
from registry.sites.hosts_file import Endpoint

DRIP_PAUSE_S = 0.5
NAMES_OF_A_CERTIFICATE = 50
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
LINE = b"X-Padding: nothing\r\n"


def measure(
    *, hosts: int = 300, at_once: int = 32, rounds: int = 3, deadline_s: float = 10.0
) -> dict[str, float]:
    """hosts: of each kind. at_once: good ones. rounds: of which the median is told.

    tarpit_p95_ratio: of good hosts' times, beside the swarm and alone. tarpit_rss_mb: the most
    this process took. drips_not_at_deadline: those that ended otherwise.
    """
    with tempfile.TemporaryDirectory(prefix="fair-registry-bench-") as folder:
        here, there = multiprocessing.Pipe()
        spawning = multiprocessing.get_context("spawn")
        ca_file = Path(folder, "ca.pem")
        server = spawning.Process(target=_serve, args=(there, hosts, ca_file))
        server.start()
        try:
            ports: tuple[list[int], list[int]] = here.recv()
            fetcher = _fetcher(ports, ca_file, deadline_s)
            return asyncio.run(_compare(fetcher, hosts, at_once, rounds))
        finally:
            server.terminate()
            server.join()


async def fetch_good(fetcher: Fetcher, hosts: Sequence[str], at_once: int) -> list[int]:
    """Milliseconds of each. Raises: Refused if one could not be fetched."""
    slots = asyncio.Semaphore(at_once)

    async def fetch(host: str) -> int:
        async with slots:
            fetched = await fetcher.fetch(f"https://{host}/", Wanted(accept=JSON_TYPES))
        return fetched.elapsed_ms if isinstance(fetched, Fetched) else 0

    return await asyncio.gather(*map(fetch, hosts))


@asynccontextmanager
async def swarm(
    fetcher: Fetcher, hosts: Sequence[str], ends: list[str]
) -> AsyncIterator[None]:
    """Fetch every host over and over meanwhile, each in a phase of its own.

    ends: codes, as they come.
    """

    async def fetch_again_and_again(number: int, host: str) -> None:
        await asyncio.sleep(fetcher.config.deadline_s * number / len(hosts))
        while True:
            try:
                await fetcher.fetch(f"https://{host}/", Wanted(accept=JSON_TYPES))
            except Refused as refused:
                ends.append(refused.code)
            else:
                ends.append("fetched")

    fetching = [
        asyncio.create_task(fetch_again_and_again(number, host))
        for number, host in enumerate(hosts)
    ]
    try:
        await asyncio.sleep(fetcher.config.deadline_s)
        yield
    finally:
        for task in fetching:
            task.cancel()
        await asyncio.gather(*fetching, return_exceptions=True)


async def _compare(
    fetcher: Fetcher, hosts: int, at_once: int, rounds: int
) -> dict[str, float]:
    good, drips = _names("good", hosts), _names("drip", hosts)
    await fetch_good(fetcher, good, at_once)  # modules load, caches fill
    ratios, ends = [], list[str]()
    most_bytes = 0
    for _ in range(rounds):
        alone = await fetch_good(fetcher, good, at_once)
        async with swarm(fetcher, drips, ends):
            beside = await fetch_good(fetcher, good, at_once)
            most_bytes = max(most_bytes, psutil.Process().memory_info().rss)
            await asyncio.sleep(fetcher.config.deadline_s)
        ratios.append(_p95(beside) / _p95(alone))
    return {
        "tarpit_p95_ratio": round(statistics.median(ratios), 2),
        "tarpit_rss_mb": round(most_bytes / 1e6),
        "drips": len(ends),
        "drips_not_at_deadline": sum(end != DEADLINE.code for end in ends),
    }


def _p95(times_ms: Sequence[int]) -> float:
    return statistics.quantiles(times_ms, n=20)[-1]


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}-{n}.test" for n in range(count)]


def _fetcher(
    ports: tuple[list[int], list[int]], ca_file: Path, deadline_s: float
) -> Fetcher:
    hosts = {
        name: Endpoint("127.0.0.1", of_kind[n // NAMES_OF_A_CERTIFICATE])
        for kind, of_kind in zip(("good", "drip"), ports, strict=True)
        for n, name in enumerate(_names(kind, len(of_kind) * NAMES_OF_A_CERTIFICATE))
    }
    config = ResolverConfig(allow_loopback=True, hosts=hosts)
    return Fetcher(
        FetcherConfig(
            user_agent="FairRegistryBench/1.0",
            resolver=Resolver(config),
            # A host that failed so often is left alone, and would be no tarpit.
            politeness=Politeness(TOWARDS_OURSELVES),
            ca_file=ca_file,
            deadline_s=deadline_s,
        )
    )


# --- the other process ----------------------------------------------------------------


def _serve(ready: Connection, hosts: int, ca_file: Path) -> None:
    asyncio.run(_serve_all(ready, hosts, ca_file))


async def _serve_all(ready: Connection, hosts: int, ca_file: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(ca_file))
    ports = []
    for kind, answer in (("good", _answer), ("drip", _drip)):
        names = _names(kind, hosts)
        groups = [
            names[start : start + NAMES_OF_A_CERTIFICATE]
            for start in range(0, hosts, NAMES_OF_A_CERTIFICATE)
        ]
        servers = []
        for group in groups:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            authority.issue_cert(*group).configure_cert(context)
            servers.append(
                await asyncio.start_server(
                    answer, "127.0.0.1", 0, ssl=context, backlog=2 * hosts
                )
            )
        ports.append([server.sockets[0].getsockname()[1] for server in servers])
    ready.send(tuple(ports))
    await asyncio.Event().wait()


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD + b"Content-Length: 2\r\n\r\n{}")
        await writer.drain()
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        while True:
            for byte in LINE:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(DRIP_PAUSE_S)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()
