"""`bench invariance`: what the trials of a day cost, over as many sites as they try."""

import resource
import time
from dataclasses import replace

import click

from registry.cli.bench.invariance import town_shadow
from registry.cli.output import json_option, tell_figures
from registry.ranking.encoder import load_encoder
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.gazetteer import Gazetteer
from registry.usecases.list_site import Lister
from registry.usecases.shadow import SITES_MAX
from registry.usecases.try_invariance import Shadow, try_invariance

FIRST_ID = 10_000
KIB_A_MIB = 1_024


@click.command("invariance")
@click.option("--sites", type=click.IntRange(min=1), default=SITES_MAX)
@click.option("--trials", type=click.IntRange(min=1), default=10_000)
@json_option
def invariance_bench(sites: int, trials: int, *, as_json: bool) -> None:
    """CPU and memory of a day's trials over the town's sites, each of them repeated."""
    lister = Lister(
        gazetteer=Gazetteer.load(), encoder=load_encoder(), policy=DEFAULT_POLICY
    )
    shadow = _grown(town_shadow(lister), sites)
    began_s = time.process_time()
    found = try_invariance(shadow, trials=trials, seed=5)
    figures = {
        "sites": found.sites,
        "queries": found.queries,
        "trials": found.trials,
        "violations": found.violations,
        "cpu_s": round(time.process_time() - began_s, 1),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // KIB_A_MIB,
    }
    tell_figures(figures, as_json=as_json)


def _grown(town: Shadow, sites: int) -> Shadow:
    """Every copy has a domain of its own, so that none stands behind another."""
    listings = []
    for number in range(sites):
        one = town.listings[number % len(town.listings)]
        host = f"s{number}-{one.entry.host}"
        entry = replace(
            one.entry, site_id=FIRST_ID + number, host=host, registrable_domain=host
        )
        listings.append(replace(one, entry=entry))
    return replace(town, listings=listings)
