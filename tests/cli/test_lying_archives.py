"""`audit reproduce-report` beside archives that a dishonest registry signed.

Each is refused by its code, within memory that no claim of a file can move. The command
runs in a process of its own for each, forked off one that has read the modules, so that
the highest memory is that of one archive.
"""

import os
import shutil
import subprocess
import sys
from functools import partial

import duckdb
import pytest

from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.archive.archive_manifest import (
    DECLARED,
    LABELS,
    MANIFEST,
    SIGNATURE,
    SITES,
    parse_manifest,
)
from registry.reports.archive.writing import digest_file, write_manifest
from registry.reports.render.json_object import format_json
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.test_reproducing_reports import options, sign
from tests.unit.reports.archive.archived import ALGORITHM, KEY, TERMS
from tests.unit.reports.archive.forged_parquet import (
    BINARY,
    I64,
    LIST,
    STRUCT,
    Page,
    hybrid,
    levels,
    replace_pages,
    set_number,
    take_apart,
)
from tests.waiting import PATIENCE_S

DAY = "rankings/day=2026-11-20/rankings.parquet"
COUNT = 60
MOST_BYTES = 600_000_000
ADDRESS_SPACE = 12_000_000_000
PROGRAM = """
import os, resource, sys
import duckdb, numpy
from registry.auditor import audit
from registry.auditor.reports import reproduce_report
for words in map(str.split, sys.stdin):
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
        audit.main(words)
    _, status, used = os.wait4(child, 0)
    print("---", file=sys.stderr, flush=True)
    print(os.waitstatus_to_exitcode(status), used.ru_maxrss * 1024, flush=True)
"""


def sign_again(folder, rows=None):
    """Name the files as they now are. rows: of files that have not as many as before."""
    manifest = parse_manifest((folder / MANIFEST).read_bytes())
    for entry in manifest.files:
        entry.sha256 = digest_file(folder / entry.name)
        entry.rows = (rows or {}).get(entry.name, entry.rows)
    write_manifest(folder, manifest, KEY)


def forged(change, file=DAY, rows=None):
    """Return what does harm. change: of the file's parts, gives other parts or bytes."""

    def harm(folder):
        forgery = change(take_apart(folder / file))
        data = forgery if isinstance(forgery, bytes) else forgery.whole()
        (folder / file).write_bytes(data)
        sign_again(folder, {} if rows is None else {file: rows})

    return harm


def queried(select, file=DAY, how="COMPRESSION zstd"):
    """Return what does harm: another file, by a query over what it was."""

    def harm(folder):
        new = folder / "new.parquet"
        with duckdb.connect() as duck:
            duck.execute(f"CREATE VIEW old AS SELECT * FROM '{folder / file}'")
            duck.execute(f"COPY ({select}) TO '{new}' (FORMAT parquet, {how})")
            duck.execute(f"SELECT count(*) FROM '{new}'")
            (count,) = duck.fetchone()
        new.replace(folder / file)
        sign_again(folder, {file: count})

    return harm


def changed(**numbers):
    """Return a change of the columns' metadata. numbers: by column, its fields."""

    def change(parts):
        for name, fields in numbers.items():
            for field, value in fields.items():
                set_number(parts.column(name), field, value)
        return parts

    return change


def many_groups(parts):
    """Empty ones behind that which there is."""
    empty = {1: (LIST, (STRUCT, [])), 2: (I64, 0), 3: (I64, 0)}
    parts.groups.extend([empty] * 100_000)
    return parts


def many_rows(parts):
    set_number(parts.footer, 3, 2**31)
    set_number(parts.groups[0], 3, 2**31)
    return parts


def equal_rows(count):
    """All columns of the sites, each of one value that recurs, in some bytes."""

    def change(parts):
        set_number(parts.footer, 3, count)
        set_number(parts.groups[0], 3, count)
        for name in (
            "size",
            "independence",
            "commission_percent",
            "domain",
            "category",
            "registered_at",
        ):
            page = Page(levels((count, 0)), count, 0)
            parts = replace_pages(parts, name, [page], count)
        site = Page((101).to_bytes(8, "little"), 1, 0, is_dictionary=True)
        rows = Page(levels((count, 1)) + b"\1" + hybrid((count, 0)), count, 2)
        return replace_pages(parts, "site_id", [site, rows], count)

    return change


def endless_list(items, *, claimed):
    """One list of as many items, all alike, in some bytes. claimed: by the footer."""

    def change(parts):
        values = COUNT + items
        site = Page((101).to_bytes(8, "little"), 1, 0, is_dictionary=True)
        starts = levels((COUNT, 0), (items, 1))
        data = starts + levels((values, 3)) + b"\1" + hybrid((values, 0))
        pages = [site, Page(data, values, 2)]
        return replace_pages(parts, "returned", pages, claimed or values)

    return change


def shared_text(size, column="query", around=(b'"', b'"')):
    """One text that all rows share."""

    def change(parts):
        count, (before, behind) = parts.groups[0][3][1], around
        text = before + b"x" * (size - len(before) - len(behind)) + behind
        shared = Page(size.to_bytes(4, "little") + text, 1, 0, is_dictionary=True)
        rows = Page(levels((count, 1)) + b"\1" + hybrid((count, 0)), count, 2)
        return replace_pages(parts, column, [shared, rows], count)

    return change


DOCUMENT = b'''[{"url":"https://a.test/agents.json","contentType":"application/json",
"firstFetchedAt":1,"fetchedAt":1,"retiredAt":null,"body":"'''


def page_of_minutes(
    *, values=COUNT, claims=None, encoding=0, text=b"2026-11-20T00:00Z"
):
    def change(parts):
        data = levels((COUNT, 1)) + (len(text).to_bytes(4, "little") + text) * COUNT
        page = Page(data, values, encoding, claims)
        return replace_pages(parts, "minute", [page], COUNT)

    return change


def dictionary_of(values):
    """A dictionary that claims more values than it has."""

    def change(parts):
        text = b"\x11\0\0\x002026-11-20T00:00Z"
        shared = Page(text, values, 0, is_dictionary=True)
        rows = Page(levels((COUNT, 1)) + b"\1" + hybrid((COUNT, 0)), COUNT, 2)
        return replace_pages(parts, "minute", [shared, rows], COUNT)

    return change


def named_metadata(size):
    def change(parts):
        pair = {1: (BINARY, b"about"), 2: (BINARY, b"x" * size)}
        parts.footer[5] = (LIST, (STRUCT, [pair]))
        return parts

    return change


def elsewhere(parts):
    parts.chunk()[1] = (BINARY, b"/etc/passwd")
    return parts


def shared_pages(parts):
    """The pages of one column stand for those of another too."""
    first, second = parts.column("query_salt"), parts.column("location_salt")
    second |= {field: first[field] for field in (5, 6, 7, 9)}
    return parts


def long_footer(parts):
    return parts.whole()[:-8] + (2**31 - 1).to_bytes(4, "little") + b"PAR1"


def cut_footer(parts):
    data = parts.whole()
    return data[:-200] + data[-8:]


def endless_schema(parts):
    """A list of two thousand million elements."""
    data = bytes([0x15, 2, 0x19, 0xFC, *b"\xff\xff\xff\xff\x07", 0x48, 0, 0])
    return parts.pages + data + len(data).to_bytes(4, "little") + b"PAR1"


def linked(name, to):
    def harm(folder):
        (folder / name).unlink()
        (folder / name).symlink_to(to)

    return harm


def piped(name):
    def harm(folder):
        (folder / name).unlink()
        os.mkfifo(folder / name)

    return harm


def enlarged(name, size):
    def harm(folder):
        with (folder / name).open("ab") as file:
            file.truncate(size)

    return harm


LIES = {
    "100,000 row groups": forged(many_groups),
    "a row group of 2^31 rows": forged(many_rows, rows=2**31),
    "lists of lists": queried("SELECT * REPLACE ([[101]] AS returned) FROM old"),
    "a struct": queried("SELECT * REPLACE ({'a': query} AS query) FROM old"),
    "another type": queried("SELECT * REPLACE (1 AS minute) FROM old"),
    "null where none may be": queried(
        "SELECT * REPLACE (NULL::VARCHAR AS minute) FROM old"
    ),
    "one text of 30 MB for all": forged(shared_text(30_000_000)),
    "one text of 1 MB for all": forged(shared_text(1_000_000)),
    "one text of 20 KB for all": forged(shared_text(20_000)),
    "a list of 200,000,000 items": forged(endless_list(200_000_000, claimed=0)),
    "a list of 20,000 items": forged(endless_list(20_000, claimed=0)),
    "20,000,000 equal rows": forged(equal_rows(20_000_000), SITES, rows=20_000_000),
    "a page that claims 2 GB": forged(page_of_minutes(claims=2**31 - 1)),
    "a page that claims too little": forged(page_of_minutes(claims=100)),
    "a page that claims too much": forged(page_of_minutes(claims=100_000)),
    "a page of shared beginnings": forged(page_of_minutes(encoding=7)),
    "a dictionary that claims 2^31 values": forged(dictionary_of(2**31 - 1)),
    "texts that are no UTF-8": forged(page_of_minutes(text=b"\xff" * 17)),
    "a footer that is cut off": forged(cut_footer),
    "a footer that is larger than the file": forged(long_footer),
    "a footer of 2^31 elements": forged(endless_schema),
    "an encrypted footer": forged(lambda parts: parts.whole(magic=b"PARE")),
    "a codec that nobody has": forged(changed(minute={4: 99})),
    "a codec that is not written": queried("FROM old", how="COMPRESSION gzip"),
    "pages beyond the file": forged(changed(minute={9: 2**40})),
    "pages before the file": forged(changed(minute={9: -100})),
    "a column in another file": forged(elsewhere),
    "a column more": queried("SELECT *, 1 AS more FROM old"),
    "a column less": queried("SELECT * EXCLUDE (operator) FROM old"),
    "metadata of 50 MB": forged(named_metadata(50_000_000)),
    "other rows than the manifest names": forged(lambda parts: parts, rows=COUNT - 1),
    "the end of time": queried(
        "SELECT * REPLACE (TIMESTAMP '290000-01-01' AS registered_at) FROM old", SITES
    ),
    "a file that is a link": linked(SITES, "/dev/zero"),
    "a manifest that is a link": linked(MANIFEST, "/dev/zero"),
    "a signature that is a link": linked(SIGNATURE, "/dev/zero"),
    "a file that is a pipe": piped(LABELS),
    "a manifest that is a pipe": piped(MANIFEST),
    "a signature of 2 GB": enlarged(SIGNATURE, 2_000_000_000),
    "a manifest of 2 GB": enlarged(MANIFEST, 2_000_000_000),
}
IDLE_LIES = {
    "10 MB of documents for all sites": forged(
        shared_text(10_000_000, "documents", (DOCUMENT, b'"}]')), DECLARED
    ),
    "the same behind a footer that lies": forged(
        endless_list(200_000_000, claimed=COUNT)
    ),
    "a page of more values": forged(page_of_minutes(values=2**31 - 1)),
    "a page of fewer values": forged(page_of_minutes(values=COUNT - 1)),
    "Bloom filters beyond the file": forged(changed(operator={14: 2**40})),
    "pages of another column": forged(shared_pages),
    "some metadata": forged(named_metadata(10)),
}
"""Lies that move nothing: DuckDB reads by its own count, and values are held against the log."""


@pytest.fixture(scope="module")
def audit_of(log, honest, tmp_path_factory):
    """The words of the command for an archive, with the report of the honest one."""
    output = report_of_archive(honest, ALGORITHM, TERMS, DEFAULT_POLICY)
    file = tmp_path_factory.mktemp("report") / "report.json"
    return partial(options, log, report=sign(file, format_json(output)))


class Commands:
    """A process that runs `audit …` in another of its own, again and again."""

    def __init__(self, errors, opened):
        self._errors = errors
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(ADDRESS_SPACE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=opened,
            text=True,
        )

    def run(self, *words):
        """Return exit code, highest memory in bytes, and what stood on standard error."""
        before = self._errors.stat().st_size
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()
        code, used = self._process.stdout.readline().split()
        return int(code), int(used), self._errors.read_bytes()[before:].decode()

    def close(self):
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._process.stdout.close()


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    errors = tmp_path_factory.mktemp("commands") / "errors"
    with errors.open("wb") as opened:
        commands = Commands(errors, opened)
        yield commands
        commands.close()


def test_an_honest_archive_stays_within_the_bound(commands, honest, audit_of):
    code, used, errors = commands.run(*audit_of(honest.folder))
    assert (code, errors) == (0, "---\n")
    assert used < MOST_BYTES


@pytest.mark.parametrize(
    "harm", [pytest.param(harm, id=name) for name, harm in LIES.items()]
)
def test_a_lie_is_refused_and_costs_little(commands, honest, audit_of, tmp_path, harm):
    shutil.copytree(honest.folder, tmp_path / "archive")
    harm(tmp_path / "archive")
    code, used, errors = commands.run(*audit_of(tmp_path / "archive"))
    assert (code, used < MOST_BYTES) == (2, True), (used, errors)
    assert "archive_damaged" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "harm", [pytest.param(harm, id=name) for name, harm in IDLE_LIES.items()]
)
def test_a_lie_that_moves_nothing_costs_nothing(
    commands, honest, audit_of, tmp_path, harm
):
    shutil.copytree(honest.folder, tmp_path / "archive")
    harm(tmp_path / "archive")
    code, used, errors = commands.run(*audit_of(tmp_path / "archive"))
    assert used < MOST_BYTES
    assert (code in {0, 1, 3}, "Traceback" in errors) == (True, False), errors
