import asyncio

from crawler import trace
from registry.errors import Refused
from registry.sites.refusals import IP_LITERAL


def passed_over(events: list[str], name: str) -> trace.Event:
    events.append(name)
    return trace.PassedOver(url=name)


def test_where_nobody_listens_no_event_is_made() -> None:
    events: list[str] = []
    trace.emit(passed_over, events, "unheard")
    assert events == []


def test_who_listens_hears_until_it_stops() -> None:
    received: list[trace.Event] = []
    with trace.listening(received.append):
        trace.emit(trace.PassedOver, url="a")
    trace.emit(trace.PassedOver, url="b")
    assert received == [trace.PassedOver(url="a")]


async def test_tasks_and_threads_started_while_listening_are_heard_and_others_not() -> (
    None
):
    received: list[trace.Event] = []

    async def tell(url: str) -> None:
        await asyncio.sleep(0)
        trace.emit(trace.PassedOver, url=url)

    outside = asyncio.create_task(tell("outside"))
    with trace.listening(received.append):
        await asyncio.create_task(tell("task"))
        await asyncio.to_thread(trace.emit, trace.PassedOver, url="thread")
    await outside
    assert received == [trace.PassedOver(url="task"), trace.PassedOver(url="thread")]


def test_every_address_is_judged_though_the_first_refuses_the_name() -> None:
    def vet(address: str) -> None:
        if address.startswith("10."):
            raise Refused(IP_LITERAL)

    event = trace.Resolved.by("a.io", ["10.0.0.1", "8.8.8.8"], vet)
    assert [address.allowed for address in event.addresses] == [False, True]


def test_what_a_server_sends_is_cut() -> None:
    assert len(trace.Redirected.by("u", "x" * 100_000).location) == 2048
    assert len(trace.Resolved.by("a.io", ["8.8.8.8"] * 4_000, str).addresses) == 40
