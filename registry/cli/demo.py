"""`demo`: a town of real web sites registers, is crawled, searched and audited."""

import asyncio
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from registry.auditor.follow_log import VerifiedLog
from registry.auditor.verify import verify_log
from registry.calls.failures import CallFailed, ProblemAnswered
from registry.cli.reports.reporting import print_report
from registry.cli.searching import render_result
from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.serve import running_service, until_ready
from registry.cli.town import PATIENCE_S, beside_town, register_site
from registry.client import RegistryClient
from registry.demo.requests import NONSENSE, OWN, SHOWN, WEEK, Request, choose
from registry.demo.town.registry_house import REGISTRY
from registry.demo.town.server import Town, TownSite
from registry.observability import configure_logging
from registry.process import stop_requested
from registry.settings import LOG_LEVELS, Settings
from registry.terminal.printable import counted

MARKER = "demo"  # an empty file in a folder that a demo made
AT_ONCE = 12
DISHONEST = ("wrong-key", "changed-after-signing")
HONEST = ("honest", "slow", "flaky")


class DemoOutcome(msgspec.Struct, rename="camel"):
    """Counts of what the demo did. failures: what should not have happened.

    own: the registry's entry in its own list, and its rank for what it does.
    """

    registered: int = 0
    active: int = 0
    rejected: int = 0
    documents: int = 0
    searches: int = 0
    selections: int = 0
    records: int = 0
    log_verified: bool = False
    report: dict[str, Any] = {}
    own: dict[str, Any] = {}
    verify_seconds_median: float | None = None
    verify_seconds_max: float | None = None
    failures: list[str] = []


@click.command()
@click.option("--once", is_flag=True, help="Stop when it is done.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON summary.")
@click.option("--port", type=int, help="Port to listen on; 8080 by default.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path(".data/demo"),
    show_default=True,
    envvar="FAIR_REGISTRY_DATA",
    help="Folder of the demo; emptied first.",
)
@click.option(
    "--log-level",
    type=click.Choice(LOG_LEVELS),
    default="warning",
    show_default=True,
    envvar="FAIR_REGISTRY_LOG_LEVEL",
    help="The least that the registry's processes log, between the demo's own lines.",
)
def demo(
    *, once: bool, as_json: bool, port: int | None, data: Path, log_level: str
) -> None:
    """Show the whole registry at work on this machine."""
    clear_folder(data)
    # Always the embedded database: a town of test sites belongs into no other.
    settings = settings_or_exit(
        port=port, data=data, allow_loopback=True, database_url="", log_level=log_level
    )
    configure_logging(settings.log_format, settings.log_level)
    output = Console(stderr=as_json, quiet=as_json and not sys.stderr.isatty())
    outcome = asyncio.run(Demo(output).run(settings, once=once))
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(outcome), indent=2))
    if outcome.failures:
        for failure in outcome.failures:
            output.print(f"[red]{failure}[/]")
        raise SystemExit(1)


def clear_folder(folder: Path) -> None:
    """Empty what an earlier demo left; nothing else is ever deleted.

    Raises: click.ClickException if the folder holds anything that is not a demo's.
    """
    marker = folder / MARKER
    if folder.exists() and any(folder.iterdir()) and not marker.exists():
        raise click.ClickException(
            f"{folder} is not empty and holds no demo; name another folder with --data"
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    marker.touch()


class Demo:
    """A run of the demo; the acts are numbered as the output shows them."""

    def __init__(self, output: Console) -> None:
        self._output = output
        self._outcome = DemoOutcome()

    async def run(self, settings: Settings, *, once: bool) -> DemoOutcome:
        settings.data.mkdir(parents=True, exist_ok=True)
        town = Town.build(settings.data / "town", registry=settings.origin)
        async with town.open():
            settings = beside_town(settings, town)
            self._output.print(
                f"A town of {len(town.sites)} web sites is open; starting the registry …"
            )
            async with running_service(settings) as service:
                await self._play(service, town)
                if not once:
                    await self._stay_open(service)
        return self._outcome

    async def _play(self, service: Settings, town: Town) -> None:
        try:
            await until_ready(service.origin)
            async with RegistryClient(service.origin) as client:
                await self._register_all(client, town)
                await self._wait_for_probes(client, town)
                chosen = await self._search(client)
                await self._select(client, chosen)
                await self._pull_report(client)
                await self._verify_log(client)
        except (CallFailed, TimeoutError, OSError) as error:
            self._fail(f"{type(error).__name__}: {error}")

    async def _register_all(self, client: RegistryClient, town: Town) -> None:
        self._heading("1. Every site asks for a challenge, publishes its key and signs")
        slots = asyncio.Semaphore(AT_ONCE)
        with self._progress() as progress:
            bar = progress.add_task("registering", total=len(town.sites))

            async def register(
                site: TownSite,
            ) -> tuple[TownSite, dict[str, Any], float]:
                async with slots:
                    decided, seconds = await register_site(client, town, site)
                progress.advance(bar)
                return site, decided, seconds

            decisions = await asyncio.gather(*(register(site) for site in town.sites))
        for site, decided, _ in decisions:
            self._check_decision(site, decided)
        waits = sorted(s for site, _, s in decisions if site.story == "honest")
        self._outcome.verify_seconds_median = waits[len(waits) // 2]
        self._outcome.verify_seconds_max = waits[-1]

    def _check_decision(self, site: TownSite, decided: dict[str, Any]) -> None:
        self._outcome.registered += 1
        status = decided["status"]
        if status == "active":
            self._outcome.active += 1
        else:
            self._outcome.rejected += 1
            problem = (decided["problems"] or [{}])[0]
            self._output.print(
                f"  [yellow]refused[/] {site.host} ({site.story}): "
                f"{problem.get('code')} — {problem.get('detail')}",
                soft_wrap=True,
            )
        if site.story in HONEST and status != "active":
            self._fail(f"{site.host} is {site.story} and was {status}")
        if site.story in DISHONEST and status != "rejected":
            self._fail(f"{site.host} is dishonest ({site.story}) and was {status}")

    async def _wait_for_probes(self, client: RegistryClient, town: Town) -> None:
        outcome = self._outcome
        self._output.print(f"  {outcome.active} active, {outcome.rejected} refused")
        self._heading(
            "2. The crawler fetched, parsed and verified; it probes each site"
        )
        listed = [site for site in town.sites if site.story in HONEST]
        formats: Counter[str] = Counter()
        signed = probed = 0
        with self._progress() as progress:
            bar = progress.add_task("probing", total=len(listed))
            for site in listed:
                entry = await client.get(f"/v1/sites/{site.host}")
                formats.update(document["format"] for document in entry["documents"])
                self._note_own(entry)
                signed += sum(
                    document["signature"]["status"] == "valid"
                    for document in entry["documents"]
                )
                probed += await self._is_probed(client, site.host)
                progress.advance(bar)
        outcome.documents = sum(formats.values())
        shown = ", ".join(f"{count} {name}" for name, count in formats.most_common())
        self._output.print(
            f"  {outcome.documents} documents ({shown}), {signed} with a valid "
            f"signature; {probed} sites probed"
        )
        if probed < len(listed):
            self._fail(f"only {probed} of {len(listed)} sites were probed")

    def _note_own(self, entry: dict[str, Any]) -> None:
        if entry["host"] == REGISTRY.host:
            self._outcome.own = {
                "host": REGISTRY.host,
                "formats": sorted(
                    document["format"] for document in entry["documents"]
                ),
                "conformance": entry["conformance"],
            }

    async def _is_probed(self, client: RegistryClient, host: str) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not (await client.get(f"/v1/sites/{host}/quality"))["probes"]:
                    await asyncio.sleep(0.1)
        except TimeoutError:
            return False
        return True

    async def _search(self, client: RegistryClient) -> dict[str, Any]:
        """The first answer, from which a site is chosen in the next act."""
        self._heading("3. Agents ask in plain words")
        await self._until_indexed(client)
        answers = []
        for request in (*SHOWN, NONSENSE):
            answer = await self._search_once(client, request)
            self._print_answer(request, answer)
            answers.append(answer)
            if request is OWN:
                hosts = [result["site"]["host"] for result in answer["results"]]
                self._outcome.own["rank"] = 1 + hosts.index(REGISTRY.host)
        if answers[-1]["results"]:
            self._fail("nonsense was answered with a site")
        return answers[0]

    async def _until_indexed(self, client: RegistryClient) -> None:
        """Return when the index has as many sites as are active."""
        last = f"/v1/generations/latest?places={self._outcome.active - 1}"
        async with asyncio.timeout(PATIENCE_S):
            while not (await client.get(last))["siteBuckets"]:
                await asyncio.sleep(0.1)

    async def _search_once(
        self, client: RegistryClient, request: Request
    ) -> dict[str, Any]:
        answer = await client.search(limit=3, **request)
        self._outcome.searches += 1
        if request is not NONSENSE and not answer["results"]:
            self._fail(f"nothing was found for {request}")
        return answer

    def _print_answer(self, query: dict[str, Any], answer: dict[str, Any]) -> None:
        where = " ".join(str(value) for name, value in query.items() if name != "q")
        self._output.print(
            f"\n  [bold]“{query['q']}”[/] {f'from {where}' if where else ''}"
        )
        for result in answer["results"]:
            self._output.print(render_result(result))
        with_receipt = answer["ranking"]
        if not answer["results"]:
            self._output.print("  no listed site does this")
        self._output.print(
            f"  [dim]{with_receipt['eligible']} eligible; record "
            f"{with_receipt['id'].partition('.')[0]}, leaf "
            f"{with_receipt['leafHash'][:16]}…[/]"
        )

    async def _select(self, client: RegistryClient, answer: dict[str, Any]) -> None:
        self._heading("4. Agents report what was chosen: the asker alone, and once")
        if not answer.get("results"):
            self._fail("there is no ranking to choose from")
            return
        site = answer["results"][0]["site"]
        ranking_id = answer["ranking"]["id"]
        selection = await client.select(ranking_id, site["id"])
        self._output.print(f"  {site['host']} chosen; record {selection['id']}")
        await self._expect_refusal(client, ranking_id, site["id"], "again")
        public_half = ranking_id.partition(".")[0]
        await self._expect_refusal(client, public_half, site["id"], "by another")
        self._outcome.selections += 1
        await self._send_week(client)

    async def _send_week(self, client: RegistryClient) -> None:
        """Send enough requests and choices for a report."""
        slots = asyncio.Semaphore(AT_ONCE)
        with self._progress() as progress:
            bar = progress.add_task("  a week of agents' requests", total=len(WEEK))

            async def search_and_select(position: int, request: Request) -> None:
                async with slots:
                    answer = await self._search_once(client, request)
                    results = answer["results"]
                    taken = choose(position, len(results))
                    site_id = None if taken is None else results[taken]["site"]["id"]
                    await client.select(answer["ranking"]["id"], site_id)
                self._outcome.selections += site_id is not None
                progress.advance(bar)

            await asyncio.gather(
                *(search_and_select(*numbered) for numbered in enumerate(WEEK))
            )
        self._output.print(
            f"  {self._outcome.searches} requests answered, "
            f"{self._outcome.selections} sites chosen"
        )

    async def _expect_refusal(
        self, client: RegistryClient, ranking_id: str, site_id: str, how: str
    ) -> None:
        try:
            await client.select(ranking_id, site_id)
        except ProblemAnswered as answered:
            self._output.print(f"  {how}: refused ({answered.problem['code']})")
        else:
            self._fail(f"a selection {how} was taken")

    async def _pull_report(self, client: RegistryClient) -> None:
        self._heading("5. An auditor pulls the fairness report and verifies the log")
        report = await client.get("/v1/reports/fairness")
        print_report(report, self._output)
        counts = report["counts"]
        self._outcome.report = {
            "rankings": counts["rankings"] + counts["emptyRankings"],
            "selections": counts["selections"],
            "sites": counts["sites"],
            "policy": report["algorithm"]["policyDigest"],
            "sentences": len(report["sentences"]),
            "withheld": sum("withheld" in sentence for sentence in report["sentences"]),
        }
        if counts["selections"] != self._outcome.selections:
            self._fail("the report does not hold the selections")

    async def _verify_log(self, client: RegistryClient) -> None:
        """Verify that the log has a record of every answer."""
        expected = self._outcome.searches
        verified: VerifiedLog | None = None
        async with asyncio.timeout(PATIENCE_S):
            while verified is None or verified.records.get("ranking", 0) < expected:
                verified = await verify_log(client.base_url)
        self._outcome.records = verified.checkpoint.size
        self._outcome.log_verified = True
        shown = ", ".join(f"{count} {kind}" for kind, count in verified.records.items())
        self._output.print(
            f"  [green]log verified[/]: {counted(verified.checkpoint.size, 'entry')} ({shown})"
        )

    async def _stay_open(self, service: Settings) -> None:
        origin, stop = service.origin, stop_requested()
        self._output.print(
            f"""
[bold]The registry serves on.[/] Ctrl-C ends it.
  {origin}/            search, explained
  {origin}/openapi     the API
Try:
  curl '{origin}/v1/search?q=book+a+table&city=Amman'
  curl '{origin}/v1/sites'
  curl '{origin}/checkpoint'
  .venv/bin/fair-registry audit verify --registry {origin}
  .venv/bin/fair-registry search --registry {origin} --city Berlin repair my bicycle""",
            soft_wrap=True,
        )
        await stop.wait()

    def _heading(self, text: str) -> None:
        self._output.print(f"\n[bold]{text}[/]")

    def _progress(self) -> Progress:
        return Progress(
            TextColumn("  {task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            console=self._output,
            transient=True,
        )

    def _fail(self, what: str) -> None:
        self._outcome.failures.append(what)
