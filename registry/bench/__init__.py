"""`bench`: speed and memory, measured on this machine, as ratios within one run."""

import click

from registry.bench.scratch import exit_on_sigterm
from registry.terminal.lazy_group import LazyGroup

COMMANDS = {
    "spine": "registry.bench.spine:spine",
    "search": "registry.bench.search:search",
    "attacks": "registry.bench.strangers.attacks:attacks",
    "changes": "registry.bench.changes:changes",
    "rank": "registry.bench.rank:rank",
    "relevance": "registry.bench.relevance:relevance",
    "formats": "registry.bench.formats:formats",
    "crawl": "registry.bench.crawl:crawl",
    "log": "registry.bench.log:log_bench",
    "growth": "registry.bench.storage.growth:growth",
    "report": "registry.bench.report:report",
    "archive": "registry.bench.report:archive",
    "invariance": "registry.bench.invariance:invariance",
    "reproduce": "registry.bench.audits.reproduce:reproduce",
    "fuzz": "registry.bench.fuzzing.fuzz:fuzz",
    "wab": "registry.bench.bridge.wab:wab",
}


@click.group(cls=LazyGroup, locations=COMMANDS)
def bench() -> None:
    """Measure; nothing but this machine is loaded."""
    exit_on_sigterm()
