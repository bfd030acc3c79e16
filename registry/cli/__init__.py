"""`fair-registry`: the commands."""

import click

from registry.cli.archiving import archive
from registry.cli.audit import audit
from registry.cli.bench.commands import bench
from registry.cli.crawling import crawl
from registry.cli.demo import demo
from registry.cli.erasing import erase
from registry.cli.invariance import invariance
from registry.cli.keys import keygen, sign
from registry.cli.linting import lint
from registry.cli.moderating import moderate_site
from registry.cli.operating import operator
from registry.cli.preparing import db, make_keyring
from registry.cli.publishing import publish
from registry.cli.registering import register
from registry.cli.reporting import report
from registry.cli.searching import search
from registry.cli.serve import serve


@click.group()
@click.version_option(package_name="fair-registry")
def main() -> None:
    """A discovery registry for sites that AI agents can use, ranked fairly."""


for command in (
    serve,
    demo,
    keygen,
    sign,
    register,
    lint,
    search,
    operator,
    crawl,
    audit,
    publish,
    erase,
    report,
    archive,
    invariance,
    moderate_site,
    bench,
    db,
    make_keyring,
):
    main.add_command(command)
