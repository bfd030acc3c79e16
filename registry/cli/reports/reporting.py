"""`report`: the fairness report of a window, told, or kept as a file with its signature."""

import sys
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from registry import keyring
from registry.cli.reports.report_month import by_month
from registry.cli.service.command_settings import settings_or_exit
from registry.client import OWN_REPORT, REPORT, SignedFile
from registry.errors import RegistryError
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.index.sources import digest_of_code
from registry.process import collect_less_often
from registry.reports.archive.reading import open_archive
from registry.reports.model import FairnessReport
from registry.reports.render.json_object import format_json
from registry.reports.render.report_files import FORMAT, Form
from registry.reports.report_terms import Algorithm, Terms
from registry.terminal.as_operator import auth_of, operator_options
from registry.terminal.output import (
    console,
    json_option,
    print_json,
    registry_option,
    with_client,
)
from registry.terminal.report_options import signature_beside
from registry.usecases.reports.archived_report import (
    report_of_archive,
    window_of_archive,
)


@click.command()
@click.option("--from", "start", help="RFC 3339, such as 2026-11-01T00:00:00Z.")
@click.option("--to", "end")
@click.option("--operator", help="anon: only rankings for which none was told.")
@click.option("--category", help="Only the sites of this category.")
@click.option(
    "--form",
    type=click.Choice(tuple(FORMAT)),
    help="As the registry signs it, instead of sentences.",
)
@click.option(
    "--out",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the form (JSON by default) and, beside it, its signature.",
)
@click.option(
    "--archive",
    "folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Make it here, from an archive and of its window, instead of asking for it.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="With --archive or --keep: the registry's folder, whose key of promises signs.",
)
@click.option(
    "--public",
    is_flag=True,
    help="With a key: the report over all, made anew and before those who have none.",
)
@by_month
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
    public: bool,
    as_json: bool,
) -> None:
    """Pull the fairness report: the four items of WAB 9.7.

    With an operator's key it is that over the rankings of the operator.
    """
    auth = auth_of(url, api_key, key)
    path = OWN_REPORT if auth and not public else REPORT
    if folder:
        if start or end:
            raise click.UsageError("an archive's report is of the archive's window")
        fairness_report = _make(folder, operator or "", category or "")
        if form or file:
            _hand_out(_spell(fairness_report, form or "json", data), file)
        else:
            _print_members(
                msgspec.json.decode(format_json(fairness_report)), as_json=as_json
            )
        return
    given = {"from": start, "to": end, "operator": operator, "category": category}
    params = {name: value for name, value in given.items() if value}
    if form or file:
        formed = {**params, "form": form or "json"}
        signed_file = with_client(url, lambda client: client.report(formed, path), auth)
        _hand_out(signed_file, file)
        return
    members = with_client(url, lambda client: client.get(path, params), auth)
    _print_members(members, as_json=as_json)


def _print_members(members: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(members)
    else:
        print_report(members, console)


def print_report(members: dict[str, Any], output: Console) -> None:
    window = members["terms"]["window"]
    output.print(f"  Fairness report, {window['startAt']} to {window['endAt']}")
    for finding in members["findings"]:
        output.print(f"  {finding}", style="bold", soft_wrap=True, markup=False)
    for sentence in members["sentences"]:
        output.print(f"  {sentence}", soft_wrap=True, markup=False)


def _make(folder: Path, operator: str, category: str) -> FairnessReport:
    """Make the report of an archive by the policy and the code that run here."""
    collect_less_often()
    policy = settings_or_exit().policy
    algorithm = Algorithm(policy_digest=policy.digest, code_digest=digest_of_code())
    try:
        archive = open_archive(folder)
        terms = Terms(
            window=window_of_archive(archive), operator=operator, category=category
        )
        return report_of_archive(archive, algorithm, terms, policy)
    except RegistryError as refused:
        raise click.ClickException(f"{refused}. {refused.problem.fix}") from refused


def _spell(
    fairness_report: FairnessReport, form: Form, data: Path | None
) -> SignedFile:
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
    try:
        file.write_bytes(signed_file.body)
        if signed_file.signature:
            signature.write_text(signed_file.signature + "\n", encoding="ascii")
    except (OSError, UnicodeEncodeError) as error:
        raise click.ClickException(f"{file} can't be written: {error}") from error
    state = f"signed in {signature.name}" if signed_file.signature else "not signed"
    console.print(f"{file}, {state}", soft_wrap=True, markup=False)
