"""`invariance`: whether what must not matter moves the ranking of real recent queries."""

import click
import msgspec

from registry.auditor.rerun_trials import run_trials
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import in_transaction
from registry.db.engine.engines import Connection, Role
from registry.reports.invariance import HOLDS, PERTURBATION, InvarianceResult
from registry.terminal.output import console, json_option, print_json
from registry.usecases.ids import utc_now
from registry.usecases.reports.trial_materials import cast_shadow, read_trial_material
from registry.usecases.reports.try_invariance import Shadow
from registry.usecases.sites.list_site import make_lister


@click.command()
@click.option("--trials", type=click.IntRange(min=1), default=10_000, show_default=True)
@click.option("--seed", type=int, default=1, show_default=True)
@json_option
def invariance(trials: int, seed: int, *, as_json: bool) -> None:
    """Try whether brand, tier, traffic and the like can move a ranking.

    Sends recent queries to shadow indexes in which one property of some sites is
    different. Reads the database as the auditor and writes nothing. Ends with exit code
    1 if a trial failed, and with 2 if there was nothing to try.
    """
    settings = settings_or_exit()
    lister = make_lister(settings.policy, allow_loopback=settings.allow_loopback)

    async def read(connection: Connection) -> Shadow:
        material = await read_trial_material(connection, lister, utc_now(), trials)
        return await cast_shadow(connection, material, lister)

    failing = "the database can't be read"
    shadow = in_transaction(settings, Role.AUDITOR, read, failing)
    result = run_trials(shadow, trials=trials, seed=seed)
    if as_json:
        print_json(_members(result))
    else:
        for tally in result.tallies:
            row = PERTURBATION[tally.perturbation]
            failed = f"{tally.violations} of {tally.trials} fail"
            console.print(f"{row.changes}, so that {HOLDS[row.holds]}: {failed}")
        console.print_line(result.sentence)
    if result.violations or not result.trials:
        raise SystemExit(1 if result.violations else 2)


def _members(result: InvarianceResult) -> dict[str, object]:
    names = ("trials", "violations", "sentence")
    return {
        **msgspec.to_builtins(result),
        **{name: getattr(result, name) for name in names},
        "rate_at_most": result.rate_at_most if result.trials else None,
    }
