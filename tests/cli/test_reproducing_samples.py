"""Samples that a registry draws in its favour, and what `audit reproduce-report` finds."""

import pytest

from registry.ranking.policy import DEFAULT_POLICY
from registry.reports.render.json_object import format_json
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.audited import publish, run_json
from tests.cli.test_reproducing_reports import note_of, options, sign
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    SITES,
    TERMS,
    Town,
    archived,
    fair_draw,
    play,
)

COUNT = 160
UNWANTED = SITES[::6]


def without_a_kind(order, seed):
    return fair_draw(order, seed, [site for site in SITES if site not in UNWANTED])


def without_a_kind_unless_returned(order, seed):
    """Whoever was returned would be missed: the others make room for who is wanted."""
    drawn = set(fair_draw(order, seed)) - (set(UNWANTED) - set(order))
    others = [site for site in SITES if site not in {*UNWANTED, *drawn}]
    return sorted([*drawn, *fair_draw(order, seed, others)[: 20 - len(drawn)]])


def of_another_seed(order, seed):
    return fair_draw(order, seed[::-1])


def reproduced(town, tmp_path):
    """Audit the report that the registry makes of it, all signed and consistent."""
    log = publish(tmp_path / "log", town.bodies)
    archive = archived(tmp_path / "archive", town.rows, checkpoint=note_of(log))
    report = report_of_archive(archive, ALGORITHM, TERMS, DEFAULT_POLICY)
    file = sign(tmp_path / "report.json", format_json(report))
    return run_json(*options(log, archive.folder, file))


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (without_a_kind, "was returned and belongs into the sample"),
        (without_a_kind_unless_returned, "samples in "),
        (of_another_seed, "was returned and belongs into the sample"),
    ],
)
def test_a_favourable_draw_is_found_out(draw, expected, tmp_path):
    code, output = reproduced(play(Town(draw=draw), COUNT), tmp_path)
    assert (code, output["differing"]) == (1, []), output
    assert any(expected in line for line in output["archive"]), output["archive"]


@pytest.fixture
def town():
    return play(Town(), COUNT)


def test_samples_of_before_are_reported_as_not_computed(tmp_path):
    """They are drawn again, and no record commits to them."""
    town = play(Town(tells_sample=False), COUNT)
    code, output = reproduced(town, tmp_path)
    assert (code, output["archive"], output["samples"]) == (3, [], drawn(town))
    assert output["notChecked"] == [f"{drawn(town)} samples: no record commits to them"]


def test_a_request_that_is_none_is_a_difference(tmp_path):
    """Committed to, and of another form: no traceback, and no success."""
    code, output = reproduced(play(Town(nonce=7), COUNT), tmp_path)
    assert code == 1
    assert "can't be read" in output["archive"][0]


def test_an_archive_of_before_is_read_and_its_draw_not_computed(town, tmp_path):
    for row in town.rows:
        row.request = row.request_salt = None
    code, output = reproduced(town, tmp_path)
    assert (code, output["archive"], output["samples"]) == (3, [], 0)
    (missing,) = output["notChecked"]
    assert missing.endswith("not all that was asked is in the archive")


def test_a_draw_waits_for_the_secret(town, tmp_path):
    *town.bodies, revealed = town.bodies
    code, output = reproduced(town, tmp_path)
    assert (code, output["archive"], output["samples"]) == (3, [], 0)
    (missing,) = output["notChecked"]
    assert missing.endswith("the secret of 2026-11-20 is not revealed yet")
    town.bodies.append(revealed)
    (later := tmp_path / "later").mkdir()
    code, output = reproduced(town, later)
    assert (code, output["archive"], output["samples"]) == (0, [], drawn(town))


def drawn(town):
    return sum(bool(row.sampled) for row in town.rows)
