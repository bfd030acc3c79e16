"""A small DNS server for the TXT records of the town (RFC 1035)."""

import asyncio
from collections.abc import Iterable

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rdtypes.ANY.TXT
import dns.rrset
from typing_extensions import override

TTL_S = 60
_STRING_BYTES = 255


class NameServer(asyncio.DatagramProtocol):
    """Answers over UDP; what is not a DNS query gets no answer."""

    def __init__(self) -> None:
        self._records: dict[dns.name.Name, dns.rrset.RRset] = {}
        self._transport: asyncio.DatagramTransport | None = None

    def publish(self, name: str, text: str) -> None:
        owner = dns.name.from_text(name)
        self._records[owner] = _make_txt(owner, text.encode("ascii"))

    @override
    def connection_made(  # type: ignore[override]  # typeshed narrows it likewise
        self, transport: asyncio.DatagramTransport
    ) -> None:
        self._transport = transport

    @override
    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        try:
            query = dns.message.from_wire(data)
            reply = self.answer(query).to_wire()
        except (dns.exception.DNSException, ValueError):
            return
        if self._transport is not None:
            self._transport.sendto(reply, addr)

    def answer(self, query: dns.message.Message) -> dns.message.Message:
        """Raises: dns.exception.FormError if it is a reply."""
        reply = dns.message.make_response(query)
        reply.flags |= dns.flags.AA
        records = [self._records.get(question.name) for question in query.question]
        if not any(records):
            reply.set_rcode(dns.rcode.NXDOMAIN)
        reply.answer.extend(
            record
            for question, record in zip(query.question, records, strict=True)
            if record is not None and question.rdtype == dns.rdatatype.TXT
        )
        return reply


def _make_txt(owner: dns.name.Name, text: bytes) -> dns.rrset.RRset:
    record = dns.rdtypes.ANY.TXT.TXT(
        dns.rdataclass.IN, dns.rdatatype.TXT, tuple(_split(text))
    )
    return dns.rrset.from_rdata(owner, TTL_S, record)


def _split(text: bytes) -> Iterable[bytes]:
    """The character-strings of a TXT record (RFC 1035, section 3.3)."""
    return (
        text[start : start + _STRING_BYTES]
        for start in range(0, len(text), _STRING_BYTES)
    )
