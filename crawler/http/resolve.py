"""The DNS side of the crawler: addresses to dial, and TXT records.

A name is looked up once per connection, and every answer must pass the guard before
the first of them is dialled: one private address among public ones refuses the name.
"""

import asyncio
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import MappingProxyType
from typing import NamedTuple

import dns.asyncresolver
import dns.exception
import dns.name
import dns.resolver

from crawler import refusals, trace
from crawler.http.guard import HTTPS_PORT, Network, verify_address
from registry.errors import Refused
from registry.sites.host import TEST_TLD, parse_host
from registry.sites.hosts_file import Endpoint, parse_hosts_file

MAX_ADDRESSES = 32
MAX_TEXTS = 32
# A tarpit holds a thread of the system's resolver for many seconds after we gave up on
# it, so these are plenty and serve nothing else, and one domain has a share of them.
_LOOKUP_THREADS = 512
_OF_DOMAIN = 32
_NO_DATA = getattr(socket, "EAI_NODATA", None)  # the name is there, but no address

AddressLookup = Callable[[str], Awaitable[Sequence[str]]]
"""Host → its addresses. Raises: OSError; Refused `network_busy` if none can be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolverConfig:
    """allow_loopback: development mode. hosts: where names lead in it, past the DNS.

    dns_server: who answers TXT look-ups; None: the system's.
    own_networks: the operator's, never to be dialled.
    """

    allow_loopback: bool = False
    hosts: Mapping[str, Endpoint] = field(default_factory=lambda: MappingProxyType({}))
    dns_server: Endpoint | None = None
    own_networks: tuple[Network, ...] = ()
    timeout_s: float = 5.0


class HostsFile(Mapping[str, Endpoint]):
    """The hosts of a file, read again whenever it has changed.

    A development server is pointed at new sites without a new start. What can't be read
    at the moment leaves the last reading in force.
    """

    def __init__(self, path: Path) -> None:
        """Raises: Refused `hosts_file`, OSError."""
        self._path = path
        self._hosts = parse_hosts_file(path.read_text())
        self._changed_ns = path.stat().st_mtime_ns

    def __getitem__(self, host: str) -> Endpoint:
        return self._current()[host]

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    def _current(self) -> Mapping[str, Endpoint]:
        with suppress(OSError, Refused):
            changed_ns = self._path.stat().st_mtime_ns
            if changed_ns != self._changed_ns:
                self._hosts = parse_hosts_file(self._path.read_text())
                self._changed_ns = changed_ns
        return self._hosts


class Resolver:
    def __init__(
        self, config: ResolverConfig, *, look_up: AddressLookup | None = None
    ) -> None:
        """look_up: who answers for addresses; by default the system."""
        self.config = config
        self._look_up = look_up or SystemLookup()
        self._texts: dns.asyncresolver.Resolver | None = None
        # Of each connection the address, and the peer's, which mostly is the same.
        self._vetted: Callable[[str], str] = lru_cache(maxsize=4096)(self._vet)

    async def endpoints(self, host: str, port: int = HTTPS_PORT) -> list[Endpoint]:
        """Return the endpoints of the host, every address vetted. Raises: Refused."""
        if self.config.allow_loopback and host in self.config.hosts:
            mapped = self.config.hosts[host]
            trace.emit(trace.Resolved.by, host, [mapped.address], self.vet)
            return [Endpoint(self.vet(mapped.address), mapped.port)]
        answers = await self._addresses(host)
        trace.emit(trace.Resolved.by, host, answers, self.vet)
        if not answers:
            raise Refused(refusals.DNS_NONE, f"{host} has no address")
        if len(answers) > MAX_ADDRESSES:
            raise Refused(refusals.DNS_TOO_MANY, f"{host} has {len(answers)}")
        return [Endpoint(self.vet(answer), port) for answer in answers]

    def vet(self, address: str) -> str:
        """Raises: Refused `address`."""
        return self._vetted(address)

    def _vet(self, address: str) -> str:
        vetted = verify_address(
            address,
            allow_loopback=self.config.allow_loopback,
            own_networks=self.config.own_networks,
        )
        return str(vetted)

    async def texts(self, name: str) -> list[str]:
        """TXT records, their strings joined; none where the name or type is absent.

        Raises: Refused `dns_timeout`, `dns_failed`.
        """
        if name.endswith(f".{TEST_TLD}") and not self.config.dns_server:
            return []  # no public DNS knows the test domain, so none is asked
        try:
            answer = await self._text_resolver().resolve(
                dns.name.from_text(name + "."), "TXT", lifetime=self.config.timeout_s
            )
        except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
            return []
        except dns.exception.Timeout as error:
            raise Refused(refusals.DNS_TIMEOUT, _of_texts(name)) from error
        except (dns.exception.DNSException, OSError) as error:
            raise Refused(refusals.DNS_FAILED, _of_texts(name)) from error
        records = [b"".join(record.strings) for record in answer]
        return [text.decode("ascii", "replace") for text in records[:MAX_TEXTS]]

    async def _addresses(self, host: str) -> Sequence[str]:
        try:
            async with asyncio.timeout(self.config.timeout_s):
                return await self._look_up(host)
        except TimeoutError as error:
            raise Refused(refusals.DNS_TIMEOUT, f"The name is {host}.") from error
        except (OSError, UnicodeError) as error:
            raise Refused(refusals.DNS_FAILED, f"{host} was not resolved") from error

    def _text_resolver(self) -> dns.asyncresolver.Resolver:
        if self._texts is None:
            server = self.config.dns_server
            self._texts = dns.asyncresolver.Resolver(configure=server is None)
            if server:
                self._texts.nameservers = [server.address]
                self._texts.port = server.port
        return self._texts


class _Lookup(NamedTuple):
    host: str
    domain: str
    answer: "asyncio.Future[list[str]]"
    loop: asyncio.AbstractEventLoop


class SystemLookup:
    """The system's resolver (getaddrinfo), on threads of its own.

    They start as they are needed, wait for the next host, and end with the process. An
    executor's futures and locks take several times as long as the hand-over here.
    """

    def __init__(
        self,
        threads: int = _LOOKUP_THREADS,
        query: Callable[[str], list[str]] | None = None,
    ) -> None:
        """ask: the call that holds a thread."""
        self._most = threads
        self._started = 0
        self._busy = 0
        self._of_domain: Counter[str] = Counter()
        self._query = query or _system_addresses
        self._lookups: SimpleQueue[_Lookup] = SimpleQueue()

    async def __call__(self, host: str) -> list[str]:
        domain = parse_host(host, test_hosts=True).registrable_domain
        # A look-up in the queue would time out there, as if its own zone were slow.
        if self._busy == self._most or self._of_domain[domain] == _OF_DOMAIN:
            raise Refused(refusals.NETWORK_BUSY, "every look-up waits for slow zones")
        self._busy += 1
        self._of_domain[domain] += 1
        if self._busy > self._started:
            self._started += 1
            Thread(target=self._serve, name="lookup", daemon=True).start()
        loop = asyncio.get_running_loop()
        lookup = _Lookup(host, domain, loop.create_future(), loop)
        self._lookups.put(lookup)
        return await lookup.answer

    def _serve(self) -> None:
        while True:
            lookup = self._lookups.get()
            try:
                deliver = partial(_set_answer, lookup.answer, self._query(lookup.host))
            except Exception as error:  # noqa: BLE001 - it is raised to the caller
                deliver = partial(_fail, lookup.answer, error)
            with suppress(RuntimeError):  # the loop has ended meanwhile
                lookup.loop.call_soon_threadsafe(self._take_back, lookup, deliver)

    def _take_back(self, lookup: _Lookup, deliver: Callable[[], None]) -> None:
        """Free the thread, whether or not somebody still waits; runs on the loop."""
        self._busy -= 1
        self._of_domain -= Counter([lookup.domain])  # without those at zero
        deliver()


def _of_texts(name: str) -> str:
    return f"The TXT records of {name} could not be looked up."


def _set_answer(answer: "asyncio.Future[list[str]]", addresses: list[str]) -> None:
    if not answer.done():
        answer.set_result(addresses)


def _fail(answer: "asyncio.Future[list[str]]", error: Exception) -> None:
    if not answer.done():
        answer.set_exception(error)


def _system_addresses(host: str) -> list[str]:
    # The final dot keeps the system's search domains out: without it, inside a cluster,
    # shop.io is first asked for as shop.io.svc.cluster.local.
    try:
        infos = socket.getaddrinfo(f"{host}.", None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == _NO_DATA:
            return []
        raise
    return list(dict.fromkeys(str(info[4][0]) for info in infos))
