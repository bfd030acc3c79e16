"""`report`: the fairness report of a window or month, printed, saved or kept in the log."""

import asyncio
import sys
from collections.abc import Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from registry import keyring
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import (
    database_or_exit,
    reached_database,
    refusal_or_exit,
)
from registry.client import OWN_REPORT, REPORT, RegistryClient, SignedFile
from registry.db.engine.engines import Role, engine_at
from registry.garbage_collection import collect_less_often
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.index.sources import digest_of_code
from registry.reports.archive.reading import open_archive
from registry.reports.model import FairnessReport
from registry.reports.render.report_files import FORMAT, Form
from registry.reports.render.report_rows import format_instant
from registry.reports.report_terms import Algorithm, Terms
from registry.settings import Settings
from registry.terminal.options import (
    FOLDER,
    WRITABLE,
    data_option,
    parsed_month,
    signature_beside,
)
from registry.terminal.output import console, json_option, print_json, registry_option
from registry.terminal.registry_calls import auth_of, operator_options, print_answer
from registry.usecases.ids import IdSource
from registry.usecases.reports.archived_report import (
    report_of_archive,
    window_of_archive,
)
from registry.usecases.reports.keep_report import Keeper, window_of_month


@click.command()
@click.option("--from", "start", help="RFC 3339, such as 2026-11-01T00:00:00Z.")
@click.option("--to", "end")
@click.option("--operator", help="anon: only rankings for which none was named.")
@click.option("--category", help="Only the sites of this category.")
@click.option(
    "--form",
    type=click.Choice(tuple(FORMAT)),
    help="As the registry signs it, instead of sentences.",
)
@click.option(
    "--out",
    "file",
    type=WRITABLE,
    help="Where to write the form (JSON by default) and, beside it, its signature.",
)
@click.option(
    "--archive",
    "folder",
    type=FOLDER,
    help="Make it here, from an archive and of its window, instead of asking for it.",
)
@data_option(
    "With --archive or --keep: the registry's folder, whose key of promises signs."
)
@click.option(
    "--public",
    is_flag=True,
    help="With a key: the report over all rankings, computed with priority.",
)
@click.option("--month", help="A whole month in UTC, such as 2026-10.")
@click.option(
    "--keep",
    is_flag=True,
    help="With --month, where the database and the keys are: make its report, keep "
    "it in every form and put its digests into the log, as the schedule does.",
)
@operator_options
@registry_option
@json_option
def report(  # noqa: PLR0917 — one for each option
    start: str | None,
    end: str | None,
    operator: str | None,
    category: str | None,
    form: Form | None,
    file: Path | None,
    folder: Path | None,
    data: Path | None,
    api_key: str | None,
    key: Path | None,
    url: str,
    *,
    month: str | None,
    keep: bool,
    public: bool,
    as_json: bool,
) -> None:
    """Show the fairness report: the four items of WAB 9.7.

    With an operator's key it covers only the operator's rankings.
    """
    if month and (start or end):
        raise click.UsageError("--month is a window already")
    if keep:
        _keep(month, data, as_json=as_json)
        return
    if month:
        window = window_of_month(parsed_month(month))
        start, end = format_instant(window.start_at), format_instant(window.end_at)
    given = {"from": start, "to": end, "operator": operator, "category": category}
    params = {name: value for name, value in given.items() if value}
    show = partial(_show, form=form, file=file, as_json=as_json)
    if folder:
        show(_of_archive(folder, params, form, data if form or file else None))
        return
    auth = auth_of(url, api_key, key)
    path = OWN_REPORT if auth and not public else REPORT
    formed = {**params, "form": form or "json"}
    request = partial(RegistryClient.report, params=formed, path=path)
    print_answer(url, request, show, as_json=False, operator=auth)


def _show(
    signed_file: SignedFile, form: Form | None, file: Path | None, *, as_json: bool
) -> None:
    if form or file:
        _hand_out(signed_file, file)
        return
    members = msgspec.json.decode(signed_file.body)
    (print_json if as_json else print_report)(members)


def _keep(month: str | None, data: Path | None, *, as_json: bool) -> None:
    if month is None:
        raise click.UsageError("only a whole month is kept: name it by --month")
    first_day = parsed_month(month)
    with (
        reached_database(settings_or_exit(data=data)) as settings,
        refusal_or_exit(),
        database_or_exit("the report is not kept"),
    ):
        is_new = asyncio.run(_keep_report(settings, first_day))
    if as_json:
        print_json({"month": month, "isNew": is_new})
    else:
        console.print(f"{month}: " + ("kept" if is_new else "kept before, as it was"))


async def _keep_report(settings: Settings, month: date) -> bool:
    url = settings.database_url
    signer = keyring.load_signer(settings.keys, keyring.PROMISE, settings.log_origin)
    async with (
        engine_at(url, Role.AUDITOR, pool=1) as auditor,
        engine_at(url, Role.REPORTER, pool=1) as writer,
    ):
        keeper = Keeper(
            auditor=auditor,
            writer=writer,
            policy=settings.policy,
            key=signer.private,
            ids=IdSource(),
        )
        return await keeper.keep(month)


def print_report(members: dict[str, Any], output: Console = console) -> None:
    window = members["terms"]["window"]
    output.print(f"  Fairness report, {window['startAt']} to {window['endAt']}")
    for finding in members["findings"]:
        output.print(f"  {finding}", style="bold", soft_wrap=True, markup=False)
    for sentence in members["sentences"]:
        output.print(f"  {sentence}", soft_wrap=True, markup=False)


def _of_archive(
    folder: Path, params: Mapping[str, str], form: Form | None, data: Path | None
) -> SignedFile:
    """Make the report of an archive by the policy and the code that run here."""
    if "from" in params or "to" in params:
        raise click.UsageError("an archive's report is of the archive's window")
    collect_less_often()
    policy = settings_or_exit().policy
    algorithm = Algorithm(policy_digest=policy.digest, code_digest=digest_of_code())
    with refusal_or_exit():
        archive = open_archive(folder)
        terms = Terms(
            window=window_of_archive(archive),
            operator=params.get("operator", ""),
            category=params.get("category", ""),
        )
        report = report_of_archive(archive, algorithm, terms, policy)
    return _sign(report, form or "json", data)


def _sign(fairness_report: FairnessReport, form: Form, data: Path | None) -> SignedFile:
    body = FORMAT[form](fairness_report)
    if data is None:
        return SignedFile(body=body, signature="")
    settings = settings_or_exit(data=data)
    try:
        signer = keyring.load_signer(
            settings.keys, keyring.PROMISE, settings.log_origin
        )
    except OSError as error:
        raise click.ClickException(f"the key of the promises: {error}") from error
    signature = sign_detached(body, signer.private, typ=REPORT_TYP)
    return SignedFile(body=body, signature=signature)


def _hand_out(signed_file: SignedFile, file: Path | None) -> None:
    """Write a report to its file, or without its signature to standard output."""
    if file is None:
        sys.stdout.buffer.write(signed_file.body)
        return
    signature = signature_beside(file)
    file.write_bytes(signed_file.body)
    if signed_file.signature:
        signature.write_text(signed_file.signature + "\n", encoding="ascii")
    state = f"signed in {signature.name}" if signed_file.signature else "not signed"
    console.print(f"{file}, {state}", soft_wrap=True, markup=False)
