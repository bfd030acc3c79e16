"""`python -m crawler.bench`: what the crawler's frontier and schedule are worth.

`leases` starts a PostgreSQL of its own; nothing here makes a request to anybody.
"""

import argparse
import json
import sys
from collections.abc import Mapping

from crawler.bench import leases, simulation, tarpits

MAX_TARPIT_RATIO = 2.0
MAX_RSS_MB = 300


def main() -> int:
    arguments = _read_arguments()
    if arguments.subject == "leases":
        figures = leases.measure(
            claims=arguments.claims,
            claimants=arguments.claimants,
            batch=arguments.batch,
        )
        passed = figures["duplicates"] == 0 and figures["leases"] == arguments.claims
    elif arguments.subject == "tarpits":
        figures = tarpits.measure(hosts=arguments.hosts)
        passed = (
            figures["tarpit_p95_ratio"] <= MAX_TARPIT_RATIO
            and figures["rss_mb"] <= MAX_RSS_MB
            and figures["drips_not_at_deadline"] == 0
        )
    else:
        figures = simulation.compare(
            sites=arguments.sites, days=arguments.days, seeds=arguments.seeds
        )
        passed = figures["mean_freshness"] > figures["fixed_mean_freshness"]
    _show(figures, as_json=arguments.as_json)
    return 0 if passed else 1


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
    for one in (claiming, planning, dripping):
        one.add_argument("--json", action="store_true", dest="as_json")
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
