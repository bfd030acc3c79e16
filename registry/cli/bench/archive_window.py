"""A made-up archive for `bench archive`: of the size and make of real ones, by SQL.

What tells rows apart comes from hashes of their numbers, so that the same numbers give
the same archive.
"""

from datetime import datetime, timedelta
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.archive.duck import copy_to_parquet, open_duck
from registry.archive.manifest import LABELS, SITES, ArchivedFile, Manifest
from registry.archive.writing import digest_file, write_manifest
from registry.audit.record import format_minute
from registry.cli.bench.report_window import CATEGORIES, END, QUERIES, SAMPLE, START, K
from registry.ranking.policy import DEFAULT_POLICY
from registry.sites.identifier import ALPHABET

_SITE = "(hash({number}) & 9223372036854775807)::BIGINT"
_A_DAY_MS = 86_400_000
_CATEGORIES = ", ".join(f"'{name}'" for name in CATEGORIES)

_SITES = f"""
    SELECT {_SITE.format(number="i")} AS site_id,
        ['micro', 'small', 'medium', 'large', 'unknown'][(hash(i, 1) % 5)::INT + 1] AS size,
        ['independent', 'chain', 'unknown'][(hash(i, 2) % 3)::INT + 1] AS independence,
        CASE WHEN hash(i, 3) % 3 > 0 THEN (hash(i, 4) % 30)::DOUBLE END
            AS commission_percent,
        'domain-' || i // 2 || '.test' AS domain,
        [{_CATEGORIES}][(hash(i, 5) % {len(CATEGORIES)})::INT + 1] AS category,
        TIMESTAMP '2026-01-01' + INTERVAL ((hash(i, 6) % 300)::INT) DAY
            AS registered_at
    FROM range($sites) AS _ (i) ORDER BY site_id
"""  # noqa: S608 — of our own names

# What the sites' registrations say, and of each tenth what an unlike document does.
_LABELS = """
    SELECT site_id, told_by, registered_at AS told_at, registered_at AS valid_from,
        NULL::DATE AS observed_on,
        CASE told_by WHEN 'document' THEN 'large' ELSE nullif(size, 'unknown') END AS size,
        nullif(independence, 'unknown') AS independence, NULL::VARCHAR AS chain,
        commission_percent, 'made up' AS source
    FROM read_parquet($file), (VALUES ('document'), ('registration')) AS _ (told_by)
    WHERE told_by = 'registration' OR size <> 'unknown' AND hash(site_id) % 10 = 0
    ORDER BY site_id, told_by
"""

# Some sites are found again and again, most hardly ever; so are queries.
_RANKINGS = f"""
    WITH drawn AS (
        SELECT i, list_transform(range({K}), lambda x:
                {
    _SITE.format(
        number="floor((hash(i, x) % 100003 / 100003.0) "
        "* (hash(i, x, 7) % 100003 / 100003.0) * $sites)::BIGINT"
    )
}) AS returned,
            list_transform(range({SAMPLE}), lambda x: {
    _SITE.format(number="(hash(i, x, 8) % $sites)::BIGINT")
}) AS sampled,
            'order bread number ' || floor({QUERIES}
                * pow(hash(i, 9) % 100003 / 100003.0, 6))::BIGINT AS asked,
            CASE WHEN hash(i, 10) % 5 = 0 THEN [{_CATEGORIES}]
                [(hash(i, 11) % {len(CATEGORIES)})::INT + 1] ELSE '' END AS category,
            ['anon', 'agent-one', 'agent-two', 'agent-three'][(hash(i, 12) % 4)::INT + 1]
                AS operator,
            (hash(i, 13) % 20)::INT AS choice,
            list_transform(range({5 * K}), lambda x:
                (9500 - 400 * (x // 5) + (hash(i, x, 14) % 300)::INT)::INT) AS factors
        FROM range($count) AS _ (i)
    )
    SELECT i AS leaf_index,
        '0' || array_to_string(list_transform(range(25), lambda x:
            '{ALPHABET}'[(hash(i, x, 15) % 32)::INT + 1]), '') AS id,
        strftime($start::TIMESTAMP + INTERVAL (i * $span_ms) MILLISECOND,
            '%Y-%m-%dT%H:%MZ') AS minute,
        operator, $policy AS policy, 1000 AS eligible, returned, sampled,
        CASE WHEN choice < 7 THEN i + 1 END AS selection_index,
        CASE WHEN choice < 6 THEN returned[choice + 1] END AS chosen,
        ('0x' || sha256('query ' || asked)[1:16])::UBIGINT AS query_key, category,
        i % 3 > 0 AS located,
        '"' || asked || '"' AS query, md5(i || 'q')[1:22] AS query_salt,
        CASE WHEN i % 3 > 0 THEN '"u33d"' ELSE 'null' END AS location,
        md5(i || 'l')[1:22] AS location_salt,
        CASE WHEN category = '' THEN '{{}}'
            ELSE '{{"category":"' || category || '"}}' END AS filters,
        md5(i || 'f')[1:22] AS filters_salt,
        NULL::VARCHAR AS scores, md5(i || 's')[1:22] AS scores_salt,
        factors::SMALLINT[] AS factors,
        list_transform(range({K}), lambda x: (4000 * factors[5 * x + 1]
            + 2000 * factors[5 * x + 2] + 1500 * factors[5 * x + 3]
            + 1500 * factors[5 * x + 4] + 1000 * factors[5 * x + 5])::INTEGER) AS totals,
        list_transform(range({K}), lambda x: hash(i, x, 16)) AS ties
    FROM drawn
"""  # noqa: S608 — of our own names


# The other days repeat the first, under other ids: to draw them all takes an hour.
_REPEATED = f"""
    SELECT * REPLACE (
        leaf_index + $shift AS leaf_index,
        selection_index + $shift AS selection_index,
        id[1:18] || array_to_string(list_transform(range(8), lambda x:
            '{ALPHABET}'[(hash(id, x, $day) % 32)::INT + 1]), '') AS id,
        $date || minute[11:17] AS minute)
    FROM read_parquet($first, hive_partitioning = false)
"""  # noqa: S608 — of our own names


_COUNT = "SELECT count(*) FROM read_parquet($file)"


def make_archive(folder: Path, rankings: int, sites: int) -> int:
    """Of the month of `bench report`, as many rankings each day; how many in all."""
    files: list[ArchivedFile] = []
    days = (END - START).days
    a_day = max(1, rankings // days)
    first = folder / _name(0)
    with open_duck(folder) as duck:

        def write(name: str, query: str, **given: object) -> None:
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            copy_to_parquet(duck, query, file, given)
            (rows,) = duck.execute(_COUNT, {"file": str(file)}).fetchone() or (0,)
            files.append(ArchivedFile(name=name, sha256=digest_file(file), rows=rows))

        write(SITES, _SITES, sites=sites)
        write(LABELS, _LABELS, file=str(folder / SITES))
        write(
            _name(0),
            _RANKINGS,
            count=a_day,
            sites=sites,
            start=format_minute(START),
            span_ms=_A_DAY_MS // a_day,
            policy=DEFAULT_POLICY.digest,
        )
        for day in range(1, days):
            repeated = {"day": day, "date": _date(day), "shift": day * a_day}
            write(_name(day), _REPEATED, first=str(first), **repeated)
    write_manifest(folder, _manifest(files, a_day * days, sites), _key())
    return a_day * days


def _manifest(files: list[ArchivedFile], rankings: int, sites: int) -> Manifest:
    return Manifest(
        start=format_minute(START),
        end=format_minute(END),
        checkpoint="",
        rankings=rankings,
        erased=0,
        selections=0,
        sites=sites,
        trials=[],
        files=files,
    )


def _name(day: int) -> str:
    return f"rankings/day={_date(day)}/rankings.parquet"


def _date(day: int) -> str:
    at: datetime = START + timedelta(days=day)
    return at.date().isoformat()


def _key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(bytes(32))
