"""`bench growth`: erasures until the files are clean, and `trim` of a full part and month.

A log of synthetic rankings, all of one month that is over and erased, fills one part of the
entries, and stands in files. Rankings of the present month are recorded without pause;
some are erased, one by one, and looked for in the database's files. Then the month and
the part are dropped by a command that was killed once before, beside a reader.
"""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any

import click
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import text

from registry.bench.figures import tell_figures
from registry.bench.load import Latencies
from registry.bench.log import writing
from registry.bench.log_writers import Shift, joined
from registry.bench.scratch import database_url, scratch_folder, scratch_postgres
from registry.bench.verification import (
    entry_id,
    entry_time,
    synthetic_entries,
    write_log,
)
from registry.db.engine.engines import Engine, Role, engine_at, reading
from registry.db.log import rankings
from registry.db.schema.column_types import ulid_of, uuid_of
from registry.db.schema.migrate import migrate
from registry.records.packing import pack
from registry.records.ranking_columns import EMPTIED
from registry.records.record import parse_record
from registry.terminal.output import json_option
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hashes
from registry.tlog.note import NoteAlgorithm, Signer
from registry.tlog.tiles import TILE_WIDTH
from registry.usecases.ids import IdSource
from registry.usecases.log.erase import Retention
from registry.usecases.log.filed_log import FiledLog

START = datetime(2025, 1, 20, 12, tzinfo=UTC)
MONTH = START.date().replace(day=1)
BATCH = 256 * TILE_WIDTH
WRITERS = 4
PAUSE_S = 0.5
CLEAN_WITHIN_S = 300.0
PAGE, SEGMENT = 8_192, 131_072
"""Bytes of a page, pages of a file."""
SIGNER = Signer(
    name="bench.example/log",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(bytes(32)),
)
STEPS = ("drop_month", "thin_entries")
"""Functions of the database in which the command may be killed."""

PARTS = f"""
    DO $$ DECLARE part regclass; BEGIN
        SET LOCAL ROLE registry_owner;
        FOR part IN SELECT inhrelid FROM pg_inherits
            WHERE inhparent = 'audit.entry'::regclass
        LOOP EXECUTE format('DROP TABLE %s', part); END LOOP;
        PERFORM audit.add_entries({{count}});
        PERFORM audit.add_entries({{count}} + 16777216);
        PERFORM audit.add_month('{MONTH}');
    END $$
"""  # noqa: S608 — of our own names
ERASED = f"""
    INSERT INTO audit.ranking (record_id, accepted_at, operator, {", ".join(EMPTIED)})
    SELECT record_id, accepted_at, 'anon', {", ".join(EMPTIED.values())}
    FROM audit.entry WHERE kind = 'ranking'
"""  # noqa: S608 — of our own names
CLOSED = f"""
    INSERT INTO audit.kept_report VALUES ('{MONTH}', gen_random_uuid(), now());
    INSERT INTO audit.made_archive (made_at, start_at, end_at, folder, finished_at)
    VALUES (now(), '{MONTH}', date '{MONTH}' + interval '1 month', '', now())
"""  # noqa: S608 — of our own names
SALT = "decode(md5(n || CAST(record_id AS text)), 'hex')"
COPIED = ", ".join(
    f"overlay(query PLACING {SALT} FROM 2 FOR 16)" if name == "query" else name
    for name in rankings.COLUMNS
)
COPIES = f"""
    INSERT INTO audit.ranking (record_id, {", ".join(rankings.COLUMNS)})
    SELECT CAST(left(CAST(record_id AS text), 14) || right(CAST({SALT} AS text), 20)
        AS uuid), {COPIED}
    FROM (SELECT * FROM audit.ranking WHERE query IS NOT NULL LIMIT 1000) AS recorded,
        generate_series(1, :copies) AS n
"""  # noqa: S608 — of our own names
PLACES = text("""
    SELECT record_id, query, (CAST(CAST(ctid AS text) AS point))[0] AS page,
        pg_relation_filepath(tableoid) AS file
    FROM audit.ranking WHERE query IS NOT NULL ORDER BY random() LIMIT :count
""")
RUNNING = text("SELECT 1 FROM pg_stat_activity WHERE query LIKE '%audit.' || :step || '(%'"
    " AND state = 'active' AND pid <> pg_backend_pid()")  # fmt: skip
COUNTS = text("""
    SELECT (SELECT count(*) FROM audit.ranking WHERE accepted_at < :now) AS rankings,
        (SELECT count(*) FROM audit.entry WHERE leaf_index < :part) AS entries,
        to_regclass('audit.staying') IS NULL AS is_whole
""")
LOCKED = text("""
    SELECT 1 FROM pg_locks WHERE granted AND mode = 'AccessExclusiveLock' AND relation IN
        ('audit.ranking'::regclass, 'audit.selection'::regclass, 'audit.entry'::regclass)
""")
READ = text("""
    SELECT (SELECT body FROM audit.entry WHERE leaf_index = :leaf) AS body,
        (SELECT record_id FROM audit.ranking WHERE record_id = :id) AS id
""")


@click.command()
@click.option("--entries", type=click.IntRange(min=BATCH), default=16 * BATCH)
@click.option("--erasures", type=click.IntRange(min=1), default=30)
@click.option("--kill-in", type=click.Choice(STEPS), default=STEPS[0])
@json_option
def growth(entries: int, erasures: int, kill_in: str, *, as_json: bool) -> None:
    """Seconds until erasures are in no file, and what `trim` holds up.

    As many entries as make whole tiles of the second level. As many rankings of the
    present month, with all that they disclose. Trim is killed once, in one of the
    database's functions, and then runs to its end.
    """
    count = entries // BATCH * BATCH
    with scratch_folder() as folder, scratch_postgres(folder) as server:
        url = database_url(server)
        tell_figures(
            asyncio.run(_measure(url, folder, count, erasures, kill_in)),
            as_json=as_json,
        )


async def _measure(
    url: str, folder: Path, count: int, erasures: int, step: str
) -> dict[str, Any]:
    files = folder / "log"
    write_log(files, synthetic_entries(count, START), SIGNER)
    async with (
        engine_at(url, pool=4) as owner,
        engine_at(url, Role.ERASER, pool=2) as eraser,
    ):
        await migrate(owner)
        await _fill(owner, files, count)
        async with _background(url, 2.0):
            pass
        await _run(owner, COPIES, copies=-(-count // 1000))
        figures: dict[str, Any] = {"entries": count}
        async with _background(url, erasures * PAUSE_S + 30) as written:
            figures |= await _erase(owner, eraser, erasures)
        figures |= _written("erasing", written)
        await _kill(url, files, owner, step)
        figures[f"after_kill_in_{step}"] = await _counts(owner, count)
        async with _background(url, 5.0) as written:
            figures |= await _trim(url, files, owner, count)
        return {**figures, **_written("trimming", written)}


async def _run(owner: Engine, *statements: str, **values: Any) -> None:
    async with owner.begin() as connection:
        await connection.execute(text("SET LOCAL statement_timeout = 0"))
        for statement in statements:
            await connection.execute(text(statement), values)


async def _fill(owner: Engine, files: Path, count: int) -> None:
    """Write the log as a sequencer would have, but by COPY, and its erased rankings."""
    await _run(owner, PARTS.format(count=count))
    edge, filed = TreeEdge(), FiledLog(files)
    bundles = map(filed.entries, range(count // TILE_WIDTH))
    entries = chain.from_iterable(bundles)
    async with owner.connect() as connection:
        raw = await connection.get_raw_connection()
        copy: Any = raw.driver_connection.copy_records_to_table  # type: ignore[union-attr]
        while batch := list(islice(entries, BATCH)):
            leaves, first = leaf_hashes(batch), edge.size
            edge, hashes = edge.append(leaves)
            rows = (
                (
                    number,
                    uuid_of(entry_id(number, START)),
                    "ranking" if number > 1 else parse_record(body)["kind"],
                    pack(body),
                    leaf,
                    entry_time(number, START),
                )
                for number, (body, leaf) in enumerate(
                    zip(batch, leaves, strict=True), first
                )
            )
            await copy("entry", schema_name="audit", records=rows)
            await copy(
                "tile_hash", schema_name="audit", records=[tuple(h) for h in hashes]
            )
    root = edge.root()
    note = sign_checkpoint(
        Checkpoint(origin=SIGNER.name, size=count, root=root), SIGNER
    ).decode()
    saved = "INSERT INTO audit.checkpoint VALUES (:size, :root, :note, now())"
    await _run(owner, saved, size=count, root=root, note=note)
    await _run(owner, ERASED, *CLOSED.split(";"))


@asynccontextmanager
async def _background(url: str, seconds: float) -> AsyncIterator[Latencies]:
    """Record rankings for so long at least; give what each waited in the end."""
    shift = Shift(database_url=url, writers=WRITERS, warm_up_s=0.5, seconds=seconds)
    waits = Latencies()
    async with writing(shift, 1) as results:
        yield waits
        waits.seconds += joined(await results).latencies.seconds


def _written(name: str, waits: Latencies) -> dict[str, Any]:
    return {
        f"recorded_while_{name}": len(waits.seconds),
        f"record_ms_p99_while_{name}": round(waits.percentile_ms(0.99), 1),
        f"record_ms_max_while_{name}": round(waits.percentile_ms(1.0), 1),
    }


async def _erase(owner: Engine, eraser: Engine, count: int) -> dict[str, Any]:
    """Erase so many, each by itself, and note when its page in the file is clean."""
    async with reading(owner).connect() as connection:
        await connection.execute(text("CHECKPOINT"))
        shown = await connection.execute(text("SHOW data_directory"))
        data = Path(shown.scalar_one())
        rows = (await connection.execute(PLACES, {"count": count})).all()
    if not all(_is_in_file(data, row) for row in rows):
        raise RuntimeError("a ranking is not in the file before it is erased")
    clearing = asyncio.create_task(Retention(eraser, timedelta(), IdSource()).run())
    began: dict[Any, float] = {}
    for row in rows:
        async with eraser.begin() as connection:
            await rankings.erase_openings(connection, [ulid_of(row.record_id)])
        began[row] = time.monotonic()
        await asyncio.sleep(PAUSE_S)
    lasted: dict[Any, float] = {}
    deadline = time.monotonic() + CLEAN_WITHIN_S
    while len(lasted) < count and time.monotonic() < deadline:
        for row in rows:
            if row not in lasted and not _is_in_file(data, row):
                lasted[row] = time.monotonic() - began[row]
        await asyncio.sleep(PAUSE_S)
    clearing.cancel()
    with suppress(asyncio.CancelledError):
        await clearing
    seconds = sorted(lasted.values())
    return {
        "erased": count,
        "clean_s_median": round(seconds[len(seconds) // 2], 1),
        "clean_s_max": round(seconds[-1], 1),
        "never_clean": count - len(lasted),
        "elsewhere_in_files": _elsewhere(data, [row.query for row in rows]),
    }


def _is_in_file(data: Path, row: Any) -> bool:
    """Return whether what a ranking disclosed stands where it was."""
    segment, page = divmod(int(row.page), SEGMENT)
    name = f"{row.file}.{segment}" if segment else row.file
    with (data / name).open("rb") as file:
        file.seek(page * PAGE)
        return row.query in file.read(PAGE)


def _elsewhere(data: Path, disclosures: Sequence[bytes]) -> int:
    """Return how many are in any file but those of the WAL."""
    wanted = set(disclosures)
    for path in data.rglob("*"):
        if path.is_file() and "pg_wal" not in path.parts:
            content = path.read_bytes()
            wanted -= {query for query in wanted if query in content}
    return len(disclosures) - len(wanted)


def _command(url: str, files: Path) -> subprocess.Popen[bytes]:
    """Start `trim`."""
    settings = {
        "FAIR_REGISTRY_DATABASE_URL": url,
        "FAIR_REGISTRY_LOG_FILES": f"{files}",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "registry", "trim", "--months", "2", "--json"],
        env={**os.environ, **settings},
        stdout=subprocess.DEVNULL,
    )


async def _kill(url: str, files: Path, owner: Engine, step: str) -> None:
    """Kill the command while the database is at a step of it."""
    command = _command(url, files)
    async with reading(owner).connect() as connection:
        while command.poll() is None:
            if (await connection.execute(RUNNING, {"step": step})).first():
                command.send_signal(signal.SIGKILL)
                break
        command.wait()
        while (await connection.execute(RUNNING, {"step": step})).first():
            await asyncio.sleep(0.01)  # what has begun ends, as a whole or not at all


async def _counts(owner: Engine, part: int) -> dict[str, Any]:
    async with owner.connect() as connection:
        bounds = {"now": START + timedelta(days=31), "part": part}
        return dict((await connection.execute(COUNTS, bounds)).one()._mapping)  # noqa: SLF001


async def _trim(url: str, files: Path, owner: Engine, part: int) -> dict[str, Any]:
    reads, locked_s = Latencies(), 0.0
    began = time.monotonic()
    command = _command(url, files)
    async with reading(owner).connect() as reader, reading(owner).connect() as watcher:

        async def read() -> None:
            while command.poll() is None:
                moment = time.monotonic()
                leaf = random.randrange(part)  # noqa: S311 — whichever
                values = {"leaf": leaf, "id": uuid_of(entry_id(leaf, START))}
                await reader.execute(READ, values)
                reads.seconds.append(time.monotonic() - moment)

        reader_task = asyncio.create_task(read())
        while command.poll() is None:
            moment = time.monotonic()
            is_locked = (await watcher.execute(LOCKED)).first() is not None
            locked_s += (time.monotonic() - moment) if is_locked else 0.0
        lasted_s = time.monotonic() - began
        await reader_task
    if command.returncode:
        raise RuntimeError(f"trim ended with {command.returncode}")
    return {
        "trim_s": round(lasted_s, 1),
        "trim_locked_ms": round(1000 * locked_s, 1),
        "read_ms_p99_while_trimming": round(reads.percentile_ms(0.99), 1),
        "read_ms_max_while_trimming": round(reads.percentile_ms(1.0), 1),
        "after_trim": await _counts(owner, part),
    }
