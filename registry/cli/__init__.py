"""`fair-registry`: the commands."""

import click

from registry.cli.lazy_group import LazyGroup

COMMANDS = {
    "serve": "registry.cli.serve:serve",
    "demo": "registry.cli.demo:demo",
    "keygen": "registry.cli.keys:keygen",
    "sign": "registry.cli.keys:sign",
    "register": "registry.cli.registering:register",
    "lint": "registry.cli.linting:lint",
    "search": "registry.cli.searching:search",
    "operator": "registry.cli.operator:operator",
    "crawl": "registry.cli.crawling:crawl",
    "audit": "registry.cli.audit:audit",
    "publish": "registry.cli.publishing:publish",
    "erase": "registry.cli.erasing:erase",
    "report": "registry.cli.reporting:report",
    "archive": "registry.cli.archiving:archive",
    "invariance": "registry.cli.invariance:invariance",
    "moderate": "registry.cli.moderating:moderate_site",
    "lookalikes": "registry.cli.moderating:tell_lookalikes",
    "bench": "registry.cli.bench:bench",
    "db": "registry.cli.preparing:db",
    "keyring": "registry.cli.preparing:make_keyring",
}


@click.group(cls=LazyGroup, found_at=COMMANDS)
@click.version_option(package_name="fair-registry")
def main() -> None:
    """A discovery registry for sites that AI agents can use, ranked fairly."""
