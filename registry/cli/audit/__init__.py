"""`audit`: checking what the registry has put on record, and what it has promised."""

import click

from registry.cli.audit.counterfactual import counterfactual
from registry.cli.audit.kept_report import kept_report
from registry.cli.audit.label import label
from registry.cli.audit.monitor import monitor
from registry.cli.audit.promises import evidence, promises
from registry.cli.audit.prove import prove
from registry.cli.audit.report_signature import report_signature
from registry.cli.audit.reproduce import reproduce
from registry.cli.audit.reproduce_report import reproduce_report
from registry.cli.audit.verify import verify


@click.group()
def audit() -> None:
    """Check what the registry has put on record."""


for command in (
    verify,
    prove,
    reproduce,
    monitor,
    promises,
    evidence,
    report_signature,
    reproduce_report,
    label,
    counterfactual,
    kept_report,
):
    audit.add_command(command)
