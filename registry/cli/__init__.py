"""`fair-registry`: the commands."""

import os

# For the commands, and the processes that they start.
# More threads of BLAS would spin beside each other: a request took 38 ms of CPU, not 5.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click

from registry.garbage_collection import raise_thresholds
from registry.terminal.lazy_group import LazyGroup

raise_thresholds()

COMMANDS = {
    "serve": "registry.cli.service.serve:serve",
    "demo": "registry.cli.demo:demo",
    "keygen": "registry.cli.owners.keys:keygen",
    "jwks": "registry.cli.owners.keys:jwks",
    "sign": "registry.cli.owners.keys:sign",
    "register": "registry.cli.owners.registering:register",
    "update": "registry.cli.owners.registering:update",
    "rotate": "registry.cli.owners.registering:rotate",
    "revoke": "registry.cli.owners.registering:revoke",
    "recover": "registry.cli.owners.registering:recover",
    "withdraw": "registry.cli.owners.registering:withdraw",
    "refresh": "registry.cli.owners.owner_requests:refresh",
    "exposure": "registry.cli.owners.owner_requests:exposure",
    "lint": "registry.cli.owners.linting:lint",
    "search": "registry.cli.searching:search",
    "mcp": "registry.cli.mcp_stdio:serve_stdio",
    "operator": "registry.cli.operator:operator",
    "crawl": "registry.cli.service.crawling:crawl",
    "audit": "registry.auditor:audit",
    "witness": "registry.cli.witness.run_witness:witness",
    "publish": "registry.cli.service.publishing:publish",
    "trim": "registry.cli.service.trimming:trim_database",
    "erase": "registry.cli.service.erasing:erase",
    "report": "registry.cli.reports.reporting:report",
    "archive": "registry.cli.reports.archiving:archive",
    "archives": "registry.cli.reports.archiving:archives",
    "invariance": "registry.cli.reports.invariance:invariance",
    "moderate": "registry.cli.service.moderating:moderate_site",
    "lookalikes": "registry.cli.service.moderating:list_lookalikes",
    "bench": "registry.bench:bench",
    "doctor": "registry.cli.service.doctor:doctor",
    "db": "registry.cli.service.preparing:db",
    "keyring": "registry.cli.service.preparing:make_keyring",
}


@click.group(cls=LazyGroup, locations=COMMANDS)
@click.version_option(package_name="fair-registry")
def main() -> None:
    """A discovery registry for sites that AI agents can use, ranked fairly."""
