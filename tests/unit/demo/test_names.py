import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import pytest

from registry.demo.town.names import NameServer


@pytest.fixture
def names() -> NameServer:
    server = NameServer()
    server.publish("_wab.shop.test", "v=wab1; " + "x" * 300)
    return server


def test_published_record_is_answered_whole(names: NameServer) -> None:
    query = dns.message.make_query("_WAB.shop.test", "TXT")
    reply = names.answer(query)
    (record,) = reply.answer[0]
    assert b"".join(record.strings) == b"v=wab1; " + b"x" * 300
    assert reply.flags & dns.flags.AA
    assert reply.is_response(query) is False or reply.id == query.id


def test_unknown_name_does_not_exist(names: NameServer) -> None:
    reply = names.answer(dns.message.make_query("_wab.other.test", "TXT"))
    assert reply.rcode() == dns.rcode.NXDOMAIN


def test_known_name_has_no_records_of_other_types(names: NameServer) -> None:
    reply = names.answer(dns.message.make_query("_wab.shop.test", "A"))
    assert (reply.rcode(), reply.answer) == (dns.rcode.NOERROR, [])


@pytest.mark.parametrize(
    "noise",
    [
        b"",
        b"\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\xff" * 512,
        dns.message.make_response(dns.message.make_query("a.test", "TXT")).to_wire(),
        dns.message.make_query("a.test", "TXT").to_wire()[:-3],
    ],
    ids=["empty", "short", "http", "ones", "a-response", "cut"],
)
def test_noise_is_dropped_in_silence(names: NameServer, noise: bytes) -> None:
    names.datagram_received(noise, ("127.0.0.1", 9))
