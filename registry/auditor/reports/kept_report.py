"""`audit kept-report`: whether a file is the report of a month that the log names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from registry.auditor.command import registry_options, run_audit
from registry.auditor.prove import leaf_index_of, open_entries
from registry.auditor.reports.logged_reports import names_window, pages, read_record
from registry.auditor.source import LogSource, NotThere
from registry.auditor.trust import TrustOptions, trust_options
from registry.records.canonical import digest_of
from registry.terminal.options import READABLE, parsed_month
from registry.terminal.output import console, json_option, print_json
from registry.usecases.reports.calendar_months import midnight, month_after

PAGE = 100


@click.command("kept-report")
@click.argument("file", type=READABLE)
@click.argument("month")
@registry_options
@trust_options
@json_option
def kept_report(
    file: Path, month: str, url: str, *, as_json: bool, **trust: Any
) -> None:
    """Check that FILE is the fairness report of MONTH whose digest stands in the log.

    FILE is what GET /v1/reports/MONTH gave, in any form. Exit code 1: it is another.
    """
    first_day = parsed_month(month)
    start_at, end_at = midnight(first_day), midnight(month_after(first_day))
    digest = digest_of(file.read_bytes())

    async def work(source: LogSource) -> tuple[int, Mapping[str, Any]]:
        index = await leaf_index_of(source, await _record_id(source, month))
        entries, _ = await open_entries(source, TrustOptions(**trust))
        return index, await read_record(entries, index)

    index, record = run_audit(url, work, as_json=as_json)
    is_of_month = names_window(record, start_at, end_at)
    forms = record["forms"].items() if is_of_month else ()
    form = next((name for name, own in forms if own == digest), None)
    if as_json:
        print_json({"kept": form is not None, "form": form, "leafIndex": index})
    else:
        is_it = f"[green]{file} is the {form} of {month}[/], entry {index}"
        is_not = f"[red]{file} is not what entry {index} names[/]: {digest}"
        console.print_line(is_it if form else is_not)
    raise SystemExit(0 if form else 1)


async def _record_id(source: LogSource, month: str) -> str:
    """Raises: LogUnreadable."""
    async for page in pages(source, f"/v1/reports?limit={PAGE}"):
        for report in page["reports"]:
            if report["month"] == month:
                return str(report["recordId"])
    raise NotThere(f"no report of {month} is kept")
