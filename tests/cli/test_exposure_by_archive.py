"""`audit exposure --archive`: a day's table held against the rankings behind it."""

from datetime import timedelta

import msgspec
import pytest

from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.exposure_table import (
    FORM,
    DayCounts,
    SiteCounts,
    add_noise,
    encode_table,
    make_table,
)
from registry.reports.report_terms import Window
from registry.sites.identifier import format_site_id
from registry.usecases.reports.calendar_months import midnight
from tests.cli.audited import VKEY, publish, run, run_json, serving
from tests.cli.test_auditing_exposure import PROMISE_KEY, Registry
from tests.unit.records.history import DAY, NOON, History
from tests.unit.reports.archive.archived import played, write

COUNT, ERASED = 600, 9
NEXT = midnight(DAY) + timedelta(days=1)
WEIGHTS = (469, 296, 235)
"""Attention of three ranks in thousandths of a ranking's."""


@pytest.fixture(scope="module")
def town():
    """One answer six hundred times, and nine that are erased."""
    town = played(60)
    row = next(row for row in town.rows if len(row.returned) == 3)
    erased = next(row for row in town.rows if row.answer_salt is None)
    answers = [row] * COUNT + [erased] * ERASED
    town.rows = [
        msgspec.structs.replace(row, leaf_index=number, id=f"{number:026}")
        for number, row in enumerate(answers)
    ]
    return town


@pytest.fixture(scope="module")
def archive(town, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exposure") / "archive"
    write(folder, town.rows, window=Window(start_at=midnight(DAY), end_at=NEXT))
    return folder


@pytest.fixture
def counts(town):
    sites = town.rows[0].returned
    rows = zip(sites, WEIGHTS, strict=True)
    exact = [SiteCounts(site, COUNT, COUNT * weight) for site, weight in rows]
    return DayCounts(rankings=COUNT + ERASED, erased=ERASED, sites=sorted(exact))


@pytest.fixture
def audit(archive, tmp_path):
    """Return a check of a day's table, as a registry serves it and has it on record."""

    def check(table, *words, runs=run_json):
        body = encode_table(table)
        history = History(now=NOON + timedelta(days=1)).begin()
        window = {"start_at": midnight(DAY), "end_at": NEXT}
        forms = {FORM: digest_of(body)}
        leaf = history.log(report_record(**history.head, **window, forms=forms))
        with serving(publish(tmp_path / "log", history.bodies)) as served:
            listed = {"days": [{"day": f"{DAY}", "recordId": f"{DAY}"}]}
            served.answers["/v1/exposure?limit=100"] = {**listed, "nextCursor": None}
            registry = Registry(served)
            registry.serve(DAY, body)
            registry.place(DAY, leaf)
            options = ("--key", VKEY, "--promise-key", PROMISE_KEY, "--by", "size")
            words = words or ("--archive", archive)
            return runs("exposure", DAY, served.url, *options, *words)

    return check


def honest(counts, key=bytes(32)):
    return make_table(DAY, counts, key)


def test_fair_tables_are_no_difference(audit, counts):
    code, output = audit(honest(counts))
    assert (code, output["verified"], output["archive"]) == (0, True, []), output
    assert output["notProven"] == ["selections"]


def test_labels_are_those_of_the_archive(audit, counts, town):
    """A registry that is asked for none can give no other ones."""
    _, output = audit(honest(counts))
    assert {"micro", "large"} <= output["classes"].keys()


def test_noise_differs_from_key_to_key_and_is_plausible(audit, counts):
    numbers = [
        add_noise(row, b"%032d" % number) for row in counts.sites for number in range(9)
    ]
    assert len({row.appearances for row in numbers}) > 9
    assert audit(honest(counts, b"%032d" % 7))[0] == 0


def more(table, number):
    """Give a site more appearances, and less."""
    row, *others = table.sites
    row = msgspec.structs.replace(row, appearances=row.appearances + number)
    return msgspec.structs.replace(table, sites=(row, *others))


def noticed(table, number):
    row, *others = table.sites
    row = msgspec.structs.replace(row, attention=row.attention + number)
    return msgspec.structs.replace(table, sites=(row, *others))


def left_out(table, _):
    return msgspec.structs.replace(table, sites=table.sites[1:])


def of_a_stranger(table, number):
    row = msgspec.structs.replace(
        table.sites[0], site=format_site_id(130), appearances=number
    )
    sites = sorted([*table.sites, row], key=lambda row: row.site)
    return msgspec.structs.replace(table, sites=tuple(sites))


def of_more_rankings(table, number):
    return msgspec.structs.replace(table, rankings=table.rankings + number)


def of_more_erased(table, number):
    return msgspec.structs.replace(table, erased=table.erased + number)


@pytest.mark.parametrize(
    ("lie", "number"),
    [
        *((more, 320), (more, -320), (noticed, 40_000), (noticed, -40_000)),
        *((left_out, 0), (of_a_stranger, 301), (of_more_rankings, 1)),
        *((of_more_rankings, -1), (of_more_erased, 1)),
    ],
)
def test_another_table_is_found_out(audit, counts, lie, number):
    exact = honest(counts)
    rows = [
        msgspec.structs.replace(
            row, appearances=own.appearances, attention=own.attention
        )
        for row, own in zip(exact.sites, counts.sites, strict=True)
    ]
    exact = msgspec.structs.replace(exact, sites=tuple(rows))
    assert audit(exact)[0] == 0
    code, output = audit(lie(exact, number))
    assert (code, output["verified"], len(output["archive"])) == (1, False, 1), output


@pytest.mark.parametrize("number", [250, -250])
def test_what_each_cell_hides_in_its_noise_adds_up(audit, counts, number):
    table = honest(counts)
    rows = [
        msgspec.structs.replace(
            row, appearances=own.appearances + number, attention=own.attention
        )
        for row, own in zip(table.sites, counts.sites, strict=True)
    ]
    code, output = audit(msgspec.structs.replace(table, sites=tuple(rows)))
    word = "more" if number > 0 else "less"
    assert (code, output["verified"]) == (1, False)
    assert {line.partition(" together ")[2][:16] for line in output["archive"]} == {
        f"have {word} appear"[:16]
    }


def test_what_was_erased_since_counted(audit, counts):
    """Answers that the table counted and the archive lacks are no accusation."""
    rows = [SiteCounts(row.site, COUNT + ERASED, row.attention) for row in counts.sites]
    table = honest(DayCounts(COUNT + ERASED, 0, rows))
    assert audit(more(table, 0))[0] == 0


def test_an_archive_of_other_days_gives_no_verdict(audit, counts, town, tmp_path):
    folder = tmp_path / "later"
    window = Window(start_at=midnight(DAY), end_at=NEXT + timedelta(days=1))
    write(folder, town.rows, window=window)
    code, output = audit(honest(counts), "--archive", folder)
    assert (code, output["code"]) == (1, "report_not_reproducible")


def test_shares_say_whose_word_they_rest_on(audit, counts):
    done = audit(honest(counts), runs=run)
    assert "the registry's word: selections\n" in done.stdout
    assert "labels" not in done.stdout
    done = audit(more(honest(counts), 390), runs=run)
    assert done.exit_code == 1
    assert f"differs: {DAY}: site" in done.stdout
