"""`bench`: how fast it is, measured on this machine, as ratios within one run."""

import click

from registry.cli.lazy_group import LazyGroup

COMMANDS = {
    "spine": "registry.cli.bench.spine:spine",
    "search": "registry.cli.bench.search:search",
    "changes": "registry.cli.bench.changes:changes",
    "rank": "registry.cli.bench.rank:rank",
    "relevance": "registry.cli.bench.relevance:relevance",
    "formats": "registry.cli.bench.formats:formats",
    "crawl": "registry.cli.bench.crawl:crawl",
    "log": "registry.cli.bench.log:log_bench",
    "report": "registry.cli.bench.report:report",
    "archive": "registry.cli.bench.report_archive:archive_bench",
    "invariance": "registry.cli.bench.invariance_day:invariance_bench",
}


@click.group(cls=LazyGroup, found_at=COMMANDS)
def bench() -> None:
    """Measure; nothing but this machine is loaded."""
