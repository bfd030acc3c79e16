"""`report --month`: a whole month, and `--keep`: as the schedule keeps it, by hand."""

import asyncio
from collections.abc import Callable
from datetime import date
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from registry import keyring
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import database_or_exit, reached_database
from registry.db.engine.engines import Role, engine_at
from registry.errors import RegistryError
from registry.reports.render.report_rows import format_instant
from registry.settings import Settings
from registry.terminal.output import console, print_json
from registry.terminal.report_options import parsed_month
from registry.usecases.ids import IdSource
from registry.usecases.reports.keep_report import Keeper, window_of_month

AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])


def by_month(command: AnyCommand) -> AnyCommand:
    """Options of a command that takes start, end, data and as_json."""

    @click.option("--month", help="A whole month in UTC, such as 2026-10.")
    @click.option(
        "--keep",
        is_flag=True,
        help="With --month, where the database and the keys are: make its report, keep "
        "it in every form and put its digests into the log, as the schedule does.",
    )
    @wraps(command)
    def of_month(month: str | None, *, keep: bool, **given: Any) -> object:
        if month is None:
            if keep:
                raise click.UsageError("only a whole month is kept: name it by --month")
            return command(**given)
        if given["start"] or given["end"]:
            raise click.UsageError("--month is a window already")
        if keep:
            _keep(month, given["data"], as_json=given["as_json"])
            return None
        window = window_of_month(parsed_month(month))
        ends = map(format_instant, (window.start_at, window.end_at))
        return command(**{**given, **dict(zip(("start", "end"), ends, strict=True))})

    return cast("AnyCommand", of_month)


def _keep(month: str, data: Path | None, *, as_json: bool) -> None:
    first_day = parsed_month(month)
    with reached_database(settings_or_exit(data=data)) as settings:
        try:
            with database_or_exit("the report is not kept"):
                is_new = asyncio.run(_keep_report(settings, first_day))
        except RegistryError as refused:
            raise click.ClickException(f"{refused}. {refused.problem.fix}") from refused
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
