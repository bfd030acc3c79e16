"""`audit profile`: a site's ranking profile, made again from its documents and probes."""

from datetime import UTC, datetime

import click
import msgspec

from registry.auditor.command import EXIT_UNPROVEN, named_registry_option, run_audit
from registry.auditor.profiles.check_ranking import ProfileChecks
from registry.auditor.profiles.committed import LATEST, Committed
from registry.auditor.profiles.recomputed_profiles import RecomputedProfiles
from registry.auditor.source import LogSource, LogUnreadable
from registry.sites.gazetteer import Gazetteer
from registry.sites.host import parse_host
from registry.sites.identifier import parse_site_id
from registry.terminal.output import (
    DEFAULT_URL,
    console,
    json_option,
    print_json,
    shown,
)

LISTED = {"active", "unverified"}


@click.command()
@click.argument("host")
@named_registry_option
@click.option(
    "--generation",
    default=LATEST,
    metavar="NAME",
    help="`snap` of a ranking's record.  [default: the one in use]",
)
@json_option
def profile(host: str, named: str | None, generation: str, *, as_json: bool) -> None:
    """Make the profile of HOST again, and prove that the index has that very one.

    Exit code 1 if the index has another, 3 if it can't be made.
    """

    async def work(source: LogSource) -> tuple[Committed, RecomputedProfiles]:
        committed = await Committed.fetch(source, generation)
        recomputed = await _recompute(source, committed, host)
        if generation == LATEST:
            recomputed.differences += recomputed.untimely(datetime.now(UTC))
        return committed, recomputed

    committed, recomputed = run_audit(named or DEFAULT_URL, work, as_json=as_json)
    if as_json:
        materials = recomputed.materials.values()
        places = [{"place": m.place, "placeMove": m.place_move} for m in materials]
        print_json(
            {
                "host": host,
                "generation": committed.name,
                "sites": committed.site_count,
                "same": bool(recomputed.profiles) and not recomputed.differences,
                "differences": recomputed.differences,
                "notChecked": recomputed.missing,
                "ids": [own.id for own in materials],
                "changedAt": [own.changed_at for own in materials],
                "places": msgspec.to_builtins(places),
            }
        )
    else:
        site = shown(" ".join([host, *(m.id for m in recomputed.materials.values())]))
        console.print_line(f"{site} in {committed.name}: {recomputed.outcome}")
        for line in (*recomputed.differences, *recomputed.missing):
            console.print_line(f"  {shown(line)}")
    if recomputed.differences or recomputed.missing:
        raise SystemExit(1 if recomputed.differences else EXIT_UNPROVEN)


async def _recompute(
    source: LogSource, committed: Committed, host: str
) -> RecomputedProfiles:
    maker = ProfileChecks(source, Gazetteer.load(), 0).maker(committed.roots.policy)
    if maker is None:
        of = "the generation's policy is of another release"
        return RecomputedProfiles(missing=[of])
    site, status = await _site_of(source, host)
    await committed.fetch_sites([site])
    if site not in committed.digests and status not in LISTED:
        of = f"no index has it, and its status is {status}"
        return RecomputedProfiles(missing=[of])
    recomputed = await maker.make(committed, [site])
    recomputed.differences += [
        f"{own.id}: it is not {host}'s, but {own.host}'s"
        for own in recomputed.materials.values()
        if own.host != parse_host(host, test_hosts=True).name
    ]
    return recomputed


async def _site_of(source: LogSource, host: str) -> tuple[int, str]:
    """Return its id and status, as the registry says. Raises: LogUnreadable."""
    entry = await source.get_json(f"/v1/sites/{host}")
    try:
        return parse_site_id(str(entry.get("id"))), str(entry.get("status", "active"))
    except ValueError as error:
        raise LogUnreadable(f"{host}: {error}") from error
