"""`crawl`: run one crawler and watch it, or follow a single visit step by step.

The commands know no crawler: it runs as a process of its own and tells in JSON lines
what it does.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import click
import structlog
from rich.live import Live
from rich.table import Table
from rich.text import Text

from registry.cli.service.command_settings import settings_or_exit
from registry.cli.service.database import reached_database
from registry.cli.service.supervise import end_with_parent
from registry.cli.service.tracing import TraceWriter, duration
from registry.observability import configure_logging
from registry.settings import Settings, as_environment
from registry.terminal.output import console
from registry.terminal.printable import printable

LOG_EVERY = 10
END_TIMEOUT_S = 30.0
_LONGEST_LOG_LINE = 2_000

logger = structlog.get_logger()


@click.command()
@click.option("--once", "host", metavar="HOST", help="One visit, and all it decides.")
@click.option(
    "--declared",
    multiple=True,
    metavar="URL",
    help="With --once: look at this address instead of the well-known places.",
)
@click.option(
    "--store",
    is_flag=True,
    help="With --once: carry out the crawl task of this listed site, in the database.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
def crawl(
    host: str | None, declared: tuple[str, ...], *, store: bool, as_json: bool
) -> None:
    """Run a crawler until SIGTERM, and show what it does.

    With --once it visits one host: no database is needed and nothing is stored, unless
    --store says so. Exit code 1 if no documents were found.
    """
    settings = settings_or_exit()
    configure_logging(settings.log_format, settings.log_level)
    if host is None:
        if declared or store:
            raise click.UsageError("--declared and --store go with --once HOST")
        with reached_database(settings) as reached:
            raise SystemExit(_run(reached, as_json=as_json))
    if store and declared:
        raise click.UsageError("--store visits what the site has declared itself")
    arguments = [f"--once={host}", *(f"--declared={url}" for url in declared)]
    if store:
        with reached_database(settings) as reached:
            raise SystemExit(_visit(reached, [*arguments, "--store"], as_json=as_json))
    raise SystemExit(_visit(settings, arguments, as_json=as_json))


@contextmanager
def _crawler(
    settings: Settings, *arguments: str, stderr: int | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run the crawler's process; a signal that ends us is passed on to it."""
    process = subprocess.Popen(  # noqa: S603 — this Python
        [sys.executable, "-m", "crawler", *arguments],
        env={**os.environ, **as_environment(settings)},
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
        start_new_session=True,
        preexec_fn=end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 — no threads yet
    )
    numbers = (signal.SIGTERM, signal.SIGINT)
    before = [
        signal.signal(number, lambda *_: process.terminate()) for number in numbers
    ]
    try:
        yield process
    except BaseException:
        process.terminate()
        raise
    finally:
        if process.stdout:
            process.stdout.close()
        try:
            process.wait(END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(END_TIMEOUT_S)
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


# --- one visit ------------------------------------------------------------------------


def _visit(settings: Settings, arguments: list[str], *, as_json: bool) -> int:
    writer = TraceWriter()
    with _crawler(settings, *arguments) as process:
        for event, line in _events_of(process):
            if as_json:
                click.echo(line, nl=False)
                continue
            for text in writer.lines(event):
                console.print_line(text)
    return process.returncode


def _events_of(process: subprocess.Popen[str]) -> Iterator[tuple[dict[str, Any], str]]:
    if process.stdout is None:
        raise RuntimeError("its output was not asked for")
    for line in process.stdout:
        with suppress(ValueError):
            yield json.loads(line), line


# --- a crawler at work ----------------------------------------------------------------


def _run(settings: Settings, *, as_json: bool) -> int:
    lives = console.is_terminal and not as_json
    stderr = subprocess.PIPE if lives else None
    with (
        _crawler(settings, "--progress", stderr=stderr) as process,
        Live(console=console, transient=True) if lives else nullcontext() as live,
    ):
        if live:
            threading.Thread(target=_show_log, args=(process,), daemon=True).start()
        for number, (figures, line) in enumerate(_events_of(process)):
            if live:
                live.update(progress_table(figures))
            elif as_json:
                click.echo(line, nl=False)
            elif number % LOG_EVERY == 0:
                del figures["event"]
                logger.info("crawler_progress", **figures)
    return process.returncode


def _show_log(process: subprocess.Popen[str]) -> None:
    """Print the crawler's log above the figures."""
    for line in process.stderr or ():
        console.print_line(Text(printable(line.rstrip(), _LONGEST_LOG_LINE)))


def progress_table(figures: Mapping[str, Any]) -> Table:
    """figures: as `crawler.progress` tells them."""
    freshness = figures["freshness"]
    fresh = "not known yet" if freshness is None else f"{freshness:.1%} of copies"
    open_circuits = figures["circuits"].get("open", 0)
    table = Table(box=None, show_header=False)
    for name, text in (
        ("due", f"{_counts(figures['due'])}; longest {duration(figures['lag_s'])}"),
        ("under way", _counts(figures["under_way"])),
        ("leased", _counts(figures["leased"])),
        ("ended", _counts(figures["ended"])),
        ("visits", _counts(figures["visits"])),
        ("probes", _counts(figures["probes"])),
        ("proofs", _counts(figures["proofs"])),
        ("requests", f"{figures['requests']}, {figures['requests_per_s']} a second"),
        ("circuits", f"{open_circuits} open"),
        ("current", fresh),
    ):
        table.add_row(Text(name), Text(text))
    return table


def _counts(counts: Mapping[str, int]) -> str:
    parts = [f"{count} {name}" for name, count in counts.items() if count]
    return ", ".join(parts) or "none"
