"""`invariance`: whether what must not matter moves the ranking of real recent queries."""

import asyncio

import click
import msgspec
from rich.progress import Progress
from rich.table import Table

from registry.cli.database import database_or_exit, reached_database
from registry.cli.output import console, errors, json_option, print_json
from registry.cli.settings import settings_or_exit
from registry.db.engine import Role, engine_at
from registry.fairness.invariance import HOLDS, PERTURBATIONS, InvarianceResult
from registry.ranking.encoder import load_encoder
from registry.settings import Settings
from registry.sites.gazetteer import Gazetteer
from registry.usecases.chance import Chance
from registry.usecases.list_site import Lister
from registry.usecases.shadow import cast_shadow
from registry.usecases.try_invariance import Shadow, try_invariance


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
        found = try_invariance(
            shadow,
            trials=trials,
            seed=seed,
            tell=lambda done: progress.advance(task, done),
        )
    if as_json:
        print_json(_told(found))
    else:
        console.print(_table(found))
        console.print(found.sentence, soft_wrap=True)
    if found.violations or not found.trials:
        raise SystemExit(1 if found.violations else 2)


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
        return await cast_shadow(connection, lister, Chance().now())


def _told(found: InvarianceResult) -> dict[str, object]:
    told: dict[str, object] = msgspec.to_builtins(found)
    return {
        **told,
        "trials": found.trials,
        "violations": found.violations,
        "rate_at_most": found.rate_at_most if found.trials else None,
        "sentence": found.sentence,
    }


def _table(found: InvarianceResult) -> Table:
    table = Table(box=None)
    for heading in ("otherwise", "so that", "trials", "violations"):
        table.add_column(heading)
    counted = {one.perturbation: one for one in found.tallies}
    for row in PERTURBATIONS:
        tally = counted[row.name]
        table.add_row(
            row.changes, HOLDS[row.holds], str(tally.trials), str(tally.violations)
        )
    return table
