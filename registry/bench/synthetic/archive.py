"""An archive of a month of synthetic rankings, for `bench archive`.

Its first day is archived from the database by the service's own code; the other days
repeat it under other ids.
"""

import asyncio
from datetime import timedelta
from pathlib import Path

import msgspec

from registry.bench.scratch import database_url, scratch_folder, scratch_postgres
from registry.bench.synthetic.log_window import (
    END,
    KEY,
    START,
    LogWindow,
    fill_sites,
)
from registry.db.engine.engines import Role, engine_at
from registry.db.schema.migrate import migrate
from registry.records.record import format_minute
from registry.reports.archive.archive_manifest import ArchivedFile, Manifest
from registry.reports.archive.duck import copy_to_parquet, open_duck
from registry.reports.archive.writing import digest_file, write_manifest
from registry.reports.report_terms import Window
from registry.sites.identifier import ALPHABET
from registry.usecases.reports.write_archive import write_archive

_DAY = timedelta(days=1)
_DAYS = (END - START) // _DAY
_REPEATED = f"""
    SELECT * REPLACE (
        leaf_index + $shift AS leaf_index,
        selection_index + $shift AS selection_index,
        id[1:18] || array_to_string(list_transform(range(8), lambda x:
            '{ALPHABET}'[(hash(id, x, $day) % 32)::INT + 1]), '') AS id,
        $date || minute[11:17] AS minute)
    FROM read_parquet($first, hive_partitioning = false)
"""  # noqa: S608 — of our own names


def make_archive(folder: Path, rankings: int, sites: int) -> None:
    """Write as many rankings each day; fewer than `rankings` by a part of a day."""
    a_day = max(1, rankings // _DAYS)
    with scratch_folder() as scratch, scratch_postgres(scratch) as server:
        manifest = asyncio.run(_first_day(database_url(server), folder, a_day, sites))
    with open_duck(folder) as duck:
        for day in range(1, _DAYS):
            file = folder / _name(day)
            file.parent.mkdir(parents=True)
            given = {
                "day": day,
                "date": _date(day),
                "shift": day * a_day,
                "first": str(folder / _name(0)),
            }
            copy_to_parquet(duck, _REPEATED, file, given)
    write_manifest(folder, _of_all_days(manifest, folder, a_day), KEY)


async def _first_day(url: str, folder: Path, count: int, sites: int) -> Manifest:
    async with engine_at(url) as owner:
        await migrate(owner)
        ids = await fill_sites(owner, sites)
        await LogWindow(sites=ids, start=START, end=START + _DAY).fill(owner, count)
    async with (
        engine_at(url, Role.AUDITOR) as engine,
        engine.connect() as connection,
    ):
        window = Window(start_at=START, end_at=START + _DAY)
        return await write_archive(connection, window, folder, KEY)


def _of_all_days(manifest: Manifest, folder: Path, a_day: int) -> Manifest:
    repeated = [
        ArchivedFile(name=name, sha256=digest_file(folder / name), rows=a_day)
        for name in map(_name, range(1, _DAYS))
    ]
    return msgspec.structs.replace(
        manifest,
        end=format_minute(END),
        rankings=a_day * _DAYS,
        selections=manifest.selections * _DAYS,
        files=[*manifest.files, *repeated],
    )


def _name(day: int) -> str:
    return f"rankings/day={_date(day)}/rankings.parquet"


def _date(day: int) -> str:
    return (START + day * _DAY).date().isoformat()
