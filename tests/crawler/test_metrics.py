"""What a crawler counts, as Prometheus reads it."""

import asyncio
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from crawler import metrics, survey
from crawler.canaries import Canaries
from crawler.control.fetch_evidence import fetch_evidence
from crawler.discovery.search import discover
from crawler.http.exchange import Wanted
from crawler.http.fetch import Fetcher
from crawler.http.head import ANY_TYPE, JSON_TYPES, Validators
from crawler.http.watched_fetcher import WatchedFetcher
from crawler.probes.http_probe import probe
from crawler.probes.targets import ProbeTarget
from crawler.restraint.breakers import RULES
from crawler.restraint.politeness import LIMITS, Politeness, PolitenessConfig
from crawler.robots.robots_cache import RobotsCache
from registry.errors import Refused
from registry.observability import PORTS_TRIED, metrics_served
from registry.sites.host import parse_host
from registry.usecases.ids import utc_now
from tests.crawler.net import HOST, HonestSite, Net, Page, raw

ROOT = f"https://{HOST}"
Figures = dict[str, float]


def figures(text: str) -> Figures:
    return {
        sample.name
        + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("fair_registry_crawler")
        and not sample.name.endswith("_created")
    }


@contextmanager
def served(port: int = 0) -> Iterator[int]:
    with metrics_served(("127.0.0.1", port), metrics.REGISTRY) as taken:
        assert taken
        yield taken


async def read(port: int) -> str:
    def get() -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return answer.read().decode()

    return await asyncio.to_thread(get)


async def grown(before: Figures, port: int) -> Figures:
    """By how much, since; what did not grow is left out."""
    now = figures(await read(port))
    return {
        name.removeprefix("fair_registry_crawler_"): value - before.get(name, 0)
        for name, value in now.items()
        if value > before.get(name, 0)
    }


@pytest.fixture
def watched(net: Net) -> Callable[[], Fetcher]:
    return lambda: WatchedFetcher(net.fetcher().config)


async def test_each_request_is_counted_by_what_came_of_it(
    net: Net, watched: Callable[[], Fetcher]
) -> None:
    pages = {
        "/ok": Page(b'{"a": 1}', headers={"ETag": '"1"'}),
        "/failing": Page(b"", status="503 Busy"),
        "/odd": Page(b"", status="799 Odd"),
        "/html": Page(b"<p>", "text/html"),
    }
    await net.serve(HonestSite(pages))
    await net.serve(raw(b"nonsense"), "other.test")
    fetcher = watched()
    known = Validators(etag='"1"')
    with served() as port:
        before = figures(await read(port))
        for url in (*(ROOT + path for path in pages), "https://other.test/"):
            try:
                await fetcher.fetch(url, Wanted(accept=JSON_TYPES))
            except Refused:
                continue
        await fetcher.fetch(f"{ROOT}/ok", Wanted(accept=JSON_TYPES, conditional=known))
        result = await grown(before, port)
    assert {name: count for name, count in result.items() if "fetches" in name} == {
        "fetches_total ok": 1,
        "fetches_total not_modified": 1,
        "fetches_total status_5xx": 1,
        "fetches_total status_7xx": 1,
        "fetches_total content_type": 1,
        "fetches_total protocol": 1,
    }
    assert result["fetch_seconds_count"] == 6
    assert result["fetched_bytes_total"] == len(pages["/ok"].body)


async def test_a_visit_is_counted_by_its_outcome(
    net: Net, watched: Callable[[], Fetcher]
) -> None:
    await net.serve(HonestSite())
    fetcher = watched()
    host = parse_host(HOST, test_hosts=True)
    with served() as port:
        before = figures(await read(port))
        await discover(fetcher, RobotsCache(fetcher), host, clock=utc_now)
        result = await grown(before, port)
    assert result["visits_total nothing"] == 1


async def test_probes_and_proofs_are_counted_by_what_they_found(
    net: Net, watched: Callable[[], Fetcher]
) -> None:
    await net.serve(HonestSite({"/up": Page()}))
    fetcher, host = watched(), parse_host(HOST, test_hosts=True)
    robots = RobotsCache(fetcher)
    with served() as port:
        before = figures(await read(port))
        for path in ("/up", "/gone"):
            await Canaries().vouched(
                probe(
                    fetcher,
                    robots,
                    ProbeTarget(
                        url=ROOT + path, wanted=Wanted(accept=ANY_TYPE), promise=""
                    ),
                )
            )
        await fetch_evidence(fetcher, host)
        result = await grown(before, port)
    assert result["probes_total alive"] == 1
    assert result["probes_total wrong_protocol"] == 1
    assert result["proofs_total unread"] == 1


async def test_circuits_are_told_by_level_and_state(net: Net) -> None:
    await net.serve(raw(b""), tls=False)
    rules = {level: RULES[level] for level in LIMITS}
    politeness = Politeness(PolitenessConfig(rules=rules))
    fetcher = net.fetcher(politeness=politeness)
    with served() as port:
        before = figures(await read(port))
        for _ in range(6):
            with pytest.raises(Refused):
                await fetcher.fetch(f"{ROOT}/", Wanted(accept=JSON_TYPES))
        survey.note_circuits(politeness)
        result = await grown(before, port)
    assert result["circuits host open"] == 1
    assert result["circuits domain closed"] == 1
    assert result["circuits_opened_total host"] == 1
    assert result["held_back_total breaker_open"] == 1


async def test_no_label_grows_with_the_hosts_visited(
    net: Net, watched: Callable[[], Fetcher]
) -> None:
    hosts = [f"host-{n}.test" for n in range(12)]
    await net.serve(HonestSite(), *hosts)
    fetcher = watched()
    with served() as port:
        for name in hosts:
            host = parse_host(name, test_hosts=True)
            await discover(fetcher, RobotsCache(fetcher), host, clock=utc_now)
        text = await read(port)
    assert "host-" not in text
    assert "127.0.0.1" not in text
    labels = set(re.findall(r"fair_registry_crawler\w*\{(\w+)", text))
    assert labels <= {"of", "end", "outcome", "code", "kind", "level", "le"}


def test_who_finds_a_port_taken_takes_the_next() -> None:
    with served() as first, served(first) as second:
        assert first < second < first + PORTS_TRIED


def test_figures_that_can_not_be_served_stop_nothing() -> None:
    for at in (("203.0.113.1", 9101), None):
        with metrics_served(at, metrics.REGISTRY) as port:
            assert port is None


def test_alerts_ask_for_what_is_served_and_tell_of_all_that_matters() -> None:
    rules = (Path(__file__).parents[2] / "deploy" / "alerts.yaml").read_text()
    served = {
        sample.name
        for family in text_string_to_metric_families(
            generate_latest(metrics.REGISTRY).decode()
        )
        for sample in (*family.samples, Sample(family.name, {}, 0))
    }
    served |= {f"{name}_total" for name in served} | {
        f"{name}_bucket" for name in served
    }
    expressions = re.findall(r"^ +expr: (.+)$", rules, re.MULTILINE)
    named = set(re.findall(r"fair_registry_crawler_\w+", " ".join(expressions)))
    assert len(named) > 5
    assert named <= served
