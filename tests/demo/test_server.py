import asyncio
import ssl
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import dns.asyncquery
import dns.message
import dns.rcode
import pytest
from cryptography import x509

from registry.demo.town.server import Town
from registry.identity.keys.dns_record import parse_wab_records
from registry.identity.keys.jwk import parse_jwks
from registry.identity.keys.key_source import KEY_SET_PATH
from registry.identity.keys.private_keys import load_private_key, public_key_of
from tests.waiting import PATIENCE_S


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    built = Town.build(tmp_path_factory.mktemp("town"))
    async with built.open():
        yield built


@pytest.fixture(scope="module")
def trust(town: Town) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(town.ca_file))


class Visit:
    """A TLS connection to one host of the town."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str
    ) -> None:
        self.reader, self.writer, self.host = reader, writer, host

    @classmethod
    async def begin(cls, town: Town, trust: ssl.SSLContext, host: str) -> "Visit":
        address, port = address_of(town)
        reader, writer = await asyncio.open_connection(
            address, port, ssl=trust, server_hostname=host
        )
        return cls(reader, writer, host)

    def send(self, line: str, *fields: str) -> None:
        head = "\r\n".join((f"{line} HTTP/1.1", f"Host: {self.host}", *fields, "", ""))
        self.writer.write(head.encode())

    async def read_reply(self, *, body: bool = True) -> tuple[int, bytes]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(
            line.lower().split(": ", 1) for line in head.decode().split("\r\n")[1:-2]
        )
        length = int(fields.get("content-length", "0")) if body else 0
        return int(head.split()[1]), await self.reader.readexactly(length)

    async def get(self, path: str) -> tuple[int, bytes]:
        self.send(f"GET {path}")
        return await self.read_reply()

    async def end(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


def address_of(town: Town) -> tuple[str, int]:
    address, _, port = town.hosts_file.read_text().split()[1].partition(":")
    return address, int(port)


async def fetch(
    town: Town, trust: ssl.SSLContext, host: str, path: str
) -> tuple[int, bytes]:
    visit = await Visit.begin(town, trust, host)
    try:
        return await visit.get(path)
    finally:
        await visit.end()


async def test_every_host_shows_a_certificate_for_itself_alone(
    town: Town, trust: ssl.SSLContext
) -> None:
    authority = x509.load_pem_x509_certificate(town.ca_file.read_bytes())
    for site in town.sites:
        visit = await Visit.begin(town, trust, site.host)
        link: ssl.SSLObject = visit.writer.get_extra_info("ssl_object")
        shown = x509.load_der_x509_certificate(
            link.getpeercert(binary_form=True) or b""
        )
        shown.verify_directly_issued_by(authority)
        names = shown.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        assert names.value.get_values_for_type(x509.DNSName) == [site.host]
        await visit.end()


async def test_unknown_host_is_refused(town: Town, trust: ssl.SSLContext) -> None:
    with pytest.raises(OSError, match=r".*"):
        await Visit.begin(town, trust, "nobody.test")


async def test_client_that_does_not_trust_the_authority_is_not_convinced(
    town: Town,
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await Visit.begin(town, ssl.create_default_context(), town.sites[0].host)


async def test_hosts_file_leads_to_every_site(town: Town) -> None:
    lines = town.hosts_file.read_text().splitlines()
    address = ":".join(map(str, address_of(town)))
    assert lines == [f"{site.host} {address}" for site in town.sites]


async def test_connection_carries_several_requests(
    town: Town, trust: ssl.SSLContext
) -> None:
    visit = await Visit.begin(town, trust, "lark-barometer.test")
    assert (await visit.get("/agent.json"))[0] == 200
    assert (await visit.get("/nowhere?x=1"))[0] == 404
    visit.send("HEAD /agent.json")
    assert await visit.read_reply(body=False) == (200, b"")
    assert (await visit.get("/robots.txt?now"))[0] == 200
    await visit.end()


async def test_request_that_asks_for_the_end_gets_it(
    town: Town, trust: ssl.SSLContext
) -> None:
    visit = await Visit.begin(town, trust, "lark-barometer.test")
    visit.send("GET /robots.txt", "Connection: close")
    assert (await visit.read_reply())[0] == 200
    assert await visit.reader.read() == b""
    await visit.end()


async def test_body_is_not_waited_for(town: Town, trust: ssl.SSLContext) -> None:
    visit = await Visit.begin(town, trust, "lark-barometer.test")
    visit.send("POST /agent.json", "Content-Length: 9000000")
    assert (await visit.read_reply())[0] == 405
    assert await visit.reader.read() == b""
    await visit.end()


@pytest.mark.parametrize(
    "noise",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET /\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"GET /" + b"a" * 40_000,
    ],
)
async def test_noise_closes_the_connection_and_nothing_else(
    town: Town, trust: ssl.SSLContext, noise: bytes
) -> None:
    visit = await Visit.begin(town, trust, "lark-barometer.test")
    visit.writer.write(noise)
    assert await visit.reader.read() == b""
    await visit.end()
    assert (await fetch(town, trust, "lark-barometer.test", "/"))[0] == 200


async def test_flaky_site_answers_503_and_resets(
    town: Town, trust: ssl.SSLContext
) -> None:
    seen: list[object] = []
    for _ in range(6):
        try:
            seen.append((await fetch(town, trust, "matatu-shuttle.test", "/"))[0])
        except (ConnectionError, asyncio.IncompleteReadError) as failure:
            seen.append(type(failure))
    assert seen == [200, 200, 503, 200, 200, ConnectionResetError]


async def test_many_visitors_at_once_are_all_served(
    town: Town, trust: ssl.SSLContext
) -> None:
    honest = [site.host for site in town.sites if site.story == "honest"]
    replies = await asyncio.gather(
        *(fetch(town, trust, host, "/robots.txt") for host in honest)
    )
    assert {status for status, _ in replies} == {200}


async def test_wrong_key_site_shows_another_key_than_it_signs_with(
    town: Town, trust: ssl.SSLContext
) -> None:
    for host, honest in (("midnight-latch.test", False), ("mint-drill.test", True)):
        town.publish_keys(host)
        _, body = await fetch(town, trust, host, KEY_SET_PATH)
        shown = parse_jwks(body)
        assert (shown == (public_key_of(town.site(host).private_key),)) == honest


async def test_dns_proof_appears_when_published(town: Town) -> None:
    site = town.site("acacia-molar.test")
    address, _, port = town.dns_address.partition(":")
    query = dns.message.make_query(f"_wab.{site.host}", "TXT")

    async def ask() -> dns.message.Message:
        return await dns.asyncquery.udp(
            query, address, port=int(port), timeout=PATIENCE_S
        )

    assert (await ask()).rcode() == dns.rcode.NXDOMAIN
    town.publish_keys(site.host)
    (answer,) = (await ask()).answer[0]
    (record,) = parse_wab_records([b"".join(answer.strings).decode()])
    assert record.endpoint == site.document_urls[0]
    assert record.key == public_key_of(site.private_key)


def test_private_keys_are_for_their_owner_alone(town: Town) -> None:
    for site in town.sites:
        assert stat.S_IMODE(site.key_file.stat().st_mode) == 0o600
        held = load_private_key(site.key_file.read_bytes())
        assert public_key_of(held) == public_key_of(site.private_key)


async def test_town_leaves_with_its_visitors(tmp_path: Path) -> None:
    built = Town.build(tmp_path)
    async with built.open():
        trust = ssl.create_default_context(cafile=str(built.ca_file))
        visit = await Visit.begin(built, trust, built.sites[0].host)
        assert (await visit.get("/"))[0] == 200
    assert await visit.reader.read() == b""
    await visit.end()
    with pytest.raises(OSError, match=r".*"):
        await Visit.begin(built, trust, built.sites[0].host)
