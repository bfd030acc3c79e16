"""`invariance`: whether what must not matter moves the ranking of real recent queries."""

import asyncio

import click
import msgspec
from rich.progress import Progress
from rich.table import Table

from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import database_or_exit, reached_database
from registry.db.engine.engines import Role, engine_at
from registry.ranking.encoders.encoder import load_encoder
from registry.reports.invariance import HOLDS, PERTURBATIONS, InvarianceResult
from registry.settings import Settings
from registry.sites.gazetteer import Gazetteer
from registry.terminal.output import console, errors, json_option, print_json
from registry.usecases.ids import utc_now
from registry.usecases.reports.shadow import cast_shadow
from registry.usecases.reports.try_invariance import Shadow, try_invariance
from registry.usecases.sites.list_site import Lister


@click.command()
@click.option("--trials", type=click.IntRange(min=1), default=10_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@json_option
def invariance(trials: int, seed: int, *, as_json: bool) -> None:
    """Try whether brand, tier, traffic and the like can move a ranking.

    Recent queries are asked of shadow indexes in which one thing of some sites is
    otherwise. Reads the database as the auditor and writes nothing. Ends with exit code
    1 if a trial failed, and with 2 if there was nothing to try.
    """
    with (
        reached_database(settings_or_exit()) as reached,
        database_or_exit("the database can't be read"),
    ):
        shadow = asyncio.run(_read(reached))
    with Progress(console=errors, transient=True) as progress:
        task = progress.add_task("Trials", total=trials)
        result = try_invariance(
            shadow,
            trials=trials,
            seed=seed,
            tell=lambda done: progress.advance(task, done),
        )
    if as_json:
        print_json(_members(result))
    else:
        console.print(_table(result))
        console.print(result.sentence, soft_wrap=True)
    if result.violations or not result.trials:
        raise SystemExit(1 if result.violations else 2)


async def _read(settings: Settings) -> Shadow:
    lister = Lister(
        gazetteer=Gazetteer.load(),
        encoder=load_encoder(settings.policy),
        policy=settings.policy,
    )
    async with (
        engine_at(settings.database_url, Role.AUDITOR, pool=1) as engine,
        engine.connect() as connection,
    ):
        return await cast_shadow(connection, lister, utc_now())


def _members(result: InvarianceResult) -> dict[str, object]:
    members: dict[str, object] = msgspec.to_builtins(result)
    return {
        **members,
        "trials": result.trials,
        "violations": result.violations,
        "rate_at_most": result.rate_at_most if result.trials else None,
        "sentence": result.sentence,
    }


def _table(result: InvarianceResult) -> Table:
    table = Table(box=None)
    for heading in ("otherwise", "so that", "trials", "violations"):
        table.add_column(heading)
    counted = {tally.perturbation: tally for tally in result.tallies}
    for row in PERTURBATIONS:
        tally = counted[row.name]
        table.add_row(
            row.changes, HOLDS[row.holds], str(tally.trials), str(tally.violations)
        )
    return table
