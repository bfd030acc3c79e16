import asyncio
import os
import threading
from pathlib import Path

import pytest

from crawler.http.resolve import HostsFile, SystemLookup
from crawler.refusals import DNS_SERVER
from registry.errors import Refused
from registry.sites.hosts_file import Endpoint, parse_endpoint, parse_hosts_file
from tests.waiting import PATIENCE_S, PAUSE_S


def test_a_hosts_file_tells_where_names_lead() -> None:
    hosts = parse_hosts_file(
        "# demo\n\nShop.test 127.0.0.1:8443  # the shop\ncafe.test\t[::1]:8444\n"
    )
    assert hosts == {
        "shop.test": Endpoint("127.0.0.1", 8443),
        "cafe.test": Endpoint("::1", 8444),
    }


@pytest.mark.parametrize(
    "line",
    [
        "shop.test",
        "shop.test 127.0.0.1:8443 more",
        "shop.test 127.0.0.1",
        "shop.test 127.0.0.1:0",
        "shop.test 127.0.0.1:99999",
        "shop.test 10.0.0.1:8443",
        "shop.test 8.8.8.8:443",
        "shop.test example.com:443",
        "localhost 127.0.0.1:8443",
        "127.0.0.1 127.0.0.1:8443",
    ],
)
def test_a_malformed_hosts_file_is_refused_by_line(line: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_hosts_file(f"ok.test 127.0.0.1:1\n{line}\n")
    assert refused.value.code == "hosts_file"
    assert "line 2" in refused.value.problem.detail


def test_an_endpoint_is_an_address_and_a_port() -> None:
    assert parse_endpoint("127.0.0.1:53", DNS_SERVER) == Endpoint("127.0.0.1", 53)
    assert parse_endpoint("[::1]:5353", DNS_SERVER) == Endpoint("::1", 5353)


@pytest.mark.parametrize("text", ["", "53", "127.0.0.1", ":53", "dns.io:53", "::1:x"])
def test_a_malformed_endpoint_is_refused(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_endpoint(text, DNS_SERVER)
    assert refused.value.code == "dns_server"


def test_a_changed_hosts_file_is_read_again_and_a_broken_one_is_not(
    tmp_path: Path,
) -> None:
    file = tmp_path / "hosts"
    file.write_text("one.test 127.0.0.1:1001\n")
    hosts = HostsFile(file)
    assert dict(hosts) == {"one.test": Endpoint("127.0.0.1", 1001)}
    for number, text in enumerate(("two.test 127.0.0.1:1002\n", "two.test nonsense\n")):
        file.write_text(text)
        os.utime(file, ns=(number, number))
        assert dict(hosts) == {"two.test": Endpoint("127.0.0.1", 1002)}
    file.unlink()
    assert hosts["two.test"] == Endpoint("127.0.0.1", 1002)


async def test_what_a_look_up_raises_is_told_to_who_asked() -> None:
    def ask(host: str) -> list[str]:
        raise OSError(host)

    look_up = SystemLookup(threads=1, query=ask)
    for host in ("one.test", "two.test"):  # the thread is there for the next
        with pytest.raises(OSError, match=host):
            await look_up(host)


async def test_an_answer_that_nobody_waits_for_frees_its_thread() -> None:
    may_answer = threading.Event()

    def ask(host: str) -> list[str]:
        may_answer.wait(5)
        return [host]

    look_up = SystemLookup(threads=1, query=ask)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await look_up("slow.test")
    with pytest.raises(Refused, match="slow zones"):
        await look_up("next.test")
    may_answer.set()
    assert await answer_of(look_up, "next.test") == ["next.test"]


async def test_names_of_one_domain_take_no_more_than_its_share_of_the_threads() -> None:
    """Three hundred names of a zone that never answered kept every other name away."""
    may_answer = threading.Event()

    def ask(host: str) -> list[str]:
        if host.endswith("tarpit.test"):
            may_answer.wait(PATIENCE_S)
        return [host]

    look_up = SystemLookup(query=ask)
    names = [f"h{number}.tarpit.test" for number in range(600)]
    slow = [asyncio.create_task(look_up(name)) for name in names]
    await asyncio.sleep(0)
    assert await look_up("shop.test") == ["shop.test"]
    may_answer.set()
    answers = await asyncio.gather(*slow, return_exceptions=True)
    refused = [error for error in answers if isinstance(error, Refused)]
    assert 0 < len(names) - len(refused) < 64
    assert await look_up(names[0]) == names[:1], "the share is given back"


async def answer_of(look_up: SystemLookup, host: str) -> list[str]:
    """As soon as a thread is free."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            try:
                return await look_up(host)
            except Refused:
                await asyncio.sleep(PAUSE_S)
