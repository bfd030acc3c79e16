"""`audit`: checking what the registry has put on record, and what it has promised."""

import click

from registry.terminal.lazy_group import LazyGroup

COMMANDS = {
    "verify": "registry.auditor.verify:verify",
    "prove": "registry.auditor.prove:prove",
    "reproduce": "registry.auditor.reproduce:reproduce",
    "profile": "registry.auditor.profiles.audit_profile:profile",
    "monitor": "registry.auditor.monitor:monitor",
    "promises": "registry.auditor.promises:promises",
    "evidence": "registry.auditor.promises:evidence",
    "report-signature": "registry.auditor.reports.report_signature:report_signature",
    "reproduce-report": "registry.auditor.reports.reproduce_report:reproduce_report",
    "verifier-key": "registry.auditor.auditor_key:verifier_key",
    "label": "registry.auditor.label_site:label",
    "trials": "registry.auditor.rerun_trials:trials",
    "counterfactual": "registry.auditor.counterfactual:counterfactual",
    "kept-report": "registry.auditor.reports.kept_report:kept_report",
    "exposure": "registry.auditor.reports.added_exposure:exposure",
}


@click.group(cls=LazyGroup, locations=COMMANDS)
def audit() -> None:
    """Check what the registry has put on record."""
