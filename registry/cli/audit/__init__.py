"""`audit`: checking what the registry has put on record, and what it has promised."""

import click

from registry.cli.lazy_group import LazyGroup

COMMANDS = {
    "verify": "registry.cli.audit.verify:verify",
    "prove": "registry.cli.audit.prove:prove",
    "reproduce": "registry.cli.audit.reproduce:reproduce",
    "monitor": "registry.cli.audit.monitor:monitor",
    "promises": "registry.cli.audit.promises:promises",
    "evidence": "registry.cli.audit.promises:evidence",
    "report-signature": "registry.cli.audit.report_signature:report_signature",
    "reproduce-report": "registry.cli.audit.reproduce_report:reproduce_report",
    "verifier-key": "registry.cli.audit.auditor_key:verifier_key",
    "label": "registry.cli.audit.label:label",
    "counterfactual": "registry.cli.audit.counterfactual:counterfactual",
    "kept-report": "registry.cli.audit.kept_report:kept_report",
}


@click.group(cls=LazyGroup, found_at=COMMANDS)
def audit() -> None:
    """Check what the registry has put on record."""
