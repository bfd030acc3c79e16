"""`python -m crawler.bench`: figures of the crawler, its frontier and its schedule.

`leases`, `throughput` and `cold` start a PostgreSQL of their own; nothing here makes a
request to anybody but this machine.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from crawler.bench import leases, simulation, tarpits, throughput
from registry.bench.scratch import exit_on_sigterm

MAX_TARPIT_RATIO = 2.0
MAX_RSS_MB = 300
MIN_OVER_BARE, MIN_STATIC_OVER_BARE = 0.2, 0.5
"""Limits of a change; docs/benchmarks.md has aims and figures."""

Figures = Mapping[str, Any]


def main() -> int:
    arguments = _read_arguments()
    exit_on_sigterm()
    measure, has_passed = _SUBJECTS[arguments.subject]
    figures = measure(arguments)
    _show(figures, as_json=arguments.as_json)
    return 0 if has_passed(figures) else 1


def _leases(given: argparse.Namespace) -> Figures:
    return leases.measure(
        claims=given.claims, claimants=given.claimants, batch=given.batch
    )


def _schedule(given: argparse.Namespace) -> Figures:
    return simulation.compare(sites=given.sites, days=given.days, seeds=given.seeds)


def _are_held_off(figures: Figures) -> bool:
    return bool(
        figures["tarpit_p95_ratio"] <= MAX_TARPIT_RATIO
        and figures["tarpit_rss_mb"] <= MAX_RSS_MB
        and figures["drips_not_at_deadline"] == 0
    )


_SUBJECTS: Mapping[
    str, tuple[Callable[[argparse.Namespace], Figures], Callable[[Figures], bool]]
] = {
    "leases": (_leases, lambda figures: figures["duplicates"] == 0),
    "schedule": (
        _schedule,
        lambda figures: figures["mean_freshness"] > figures["fixed_mean_freshness"],
    ),
    "tarpits": (lambda given: tarpits.measure(hosts=given.hosts), _are_held_off),
    "throughput": (
        lambda given: throughput.measure(sites=given.sites, at_once=given.at_once),
        lambda figures: (
            figures["docs_over_bare_httpx"] >= MIN_OVER_BARE
            and figures["static_docs_over_bare_httpx"] >= MIN_STATIC_OVER_BARE
        ),
    ),
    "cold": (
        lambda given: throughput.crawl_cold(sites=given.sites, at_once=given.at_once),
        lambda figures: figures["rss_mb"] <= MAX_RSS_MB,
    ),
}


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m crawler.bench", description=__doc__
    )
    subjects = parser.add_subparsers(dest="subject", required=True)
    claiming = subjects.add_parser("leases", help="claim tasks from several processes")
    claiming.add_argument("--claims", type=int, default=200_000)
    claiming.add_argument("--claimants", type=int, default=4, help="processes")
    claiming.add_argument("--batch", type=int, default=500, help="tasks of one claim")
    planning = subjects.add_parser("schedule", help="simulate months of recrawls")
    planning.add_argument("--sites", type=int, default=10_000)
    planning.add_argument("--days", type=int, default=60)
    planning.add_argument("--seeds", type=int, default=5, help="simulations")
    dripping = subjects.add_parser("tarpits", help="good hosts beside dripping ones")
    dripping.add_argument("--hosts", type=int, default=300, help="of each kind")
    fetching = subjects.add_parser("throughput", help="beside httpx and Scrapy")
    fetching.add_argument("--sites", type=int, default=1_000)
    chilling = subjects.add_parser("cold", help="many sites in one run, and the memory")
    chilling.add_argument("--sites", type=int, default=10_000)
    for subject in (fetching, chilling):
        subject.add_argument("--at-once", type=int, default=200)
    for subject in (claiming, planning, dripping, fetching, chilling):
        subject.add_argument("--json", action="store_true", dest="as_json")
    return parser.parse_args()


def _show(figures: Mapping[str, object], *, as_json: bool) -> None:
    if as_json:
        json.dump(figures, sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    for name, value in figures.items():
        sys.stdout.write(f"{name:>30} {value}\n")


if __name__ == "__main__":
    sys.exit(main())
