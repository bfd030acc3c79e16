"""`audit reproduce-report` and labels: an auditor's is the one he signed, or it is told."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import pytest

from registry.ranking.policy import DEFAULT_POLICY
from registry.records.labelling import SignedLabelling
from registry.records.record import label_record
from registry.reports.render.json_object import format_json
from registry.sites.identifier import format_site_id
from registry.sites.label import Label
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.audited import publish, run, run_json
from tests.cli.test_reproducing_reports import ROOT, note_of, options, sign
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    AUDITOR_KEY,
    MICRO,
    SITES,
    TERMS,
    archived,
    disclosures,
    labelling,
    played,
    statement,
    told_labels,
)

COUNT = 100
AT, OTHER = SITES[5], SITES[7]


def told_as(sites, site, size):
    """The sites of the archive with another size of one, as dishonest labels give it."""
    wanted = format_site_id(site)
    return [
        replace(site, size=size) if site.site_id == wanted else site for site in sites
    ]


class Registry:
    """What a registry gives away: its log, an archive and the report of it, all signed."""

    def __init__(self, folder):
        self.folder = folder
        self.town = played(COUNT)
        self.labels = told_labels()
        self.sites = disclosures()

    def words(self):
        """Of a command that audits it; the report is that of its own archive."""
        log = publish(self.folder / "log", self.town.bodies)
        archive = archived(
            self.folder / "archive",
            self.town.rows,
            checkpoint=note_of(log),
            sites=self.sites,
            labels=self.labels,
        )
        output = report_of_archive(archive, ALGORITHM, TERMS, DEFAULT_POLICY)
        report = sign(self.folder / "report.json", format_json(output))
        return options(log, archive.folder, report)

    def say(self, site, output):
        others = [
            label for label in self.labels[site] if label.stated_by != AUDITOR_KEY
        ]
        self.labels[site] = [*others, output]
        self.sites = told_as(self.sites, site, output.label.size)


@pytest.fixture
def registry(tmp_path):
    return Registry(tmp_path)


def honest(registry):
    """One more statement than the others have."""
    registry.say(OTHER, registry.town.label(OTHER, Label(size="micro")))


def changed(registry):
    registry.say(AT, statement(labelling(AT, Label(size="large")), registry.town.now))


def invented(registry):
    registry.say(OTHER, statement(labelling(OTHER, MICRO), registry.town.now))


def withheld(registry):
    """The site's own word counts then."""
    saved = [label for label in registry.labels[AT] if label.stated_by != AUDITOR_KEY]
    registry.labels[AT] = saved
    registry.sites = told_as(registry.sites, AT, "large")


def forged(registry):
    """On record, and signed by nobody who has the auditor's key."""
    text = labelling(OTHER, MICRO)
    signed = SignedLabelling(labelling=text, signature=bytes(64))
    registry.town.log(label_record(**registry.town.head, signed=signed))
    registry.say(OTHER, statement(text, registry.town.now))


DISHONEST = [
    pytest.param(
        changed,
        f"the label of site {format_site_id(AT)} by {AUDITOR_KEY} differs from entry 3 "
        "in: size (large, signed was micro)",
        id="a changed label",
    ),
    pytest.param(
        invented,
        f"the label of site {format_site_id(OTHER)} by {AUDITOR_KEY} is in the archive, "
        "and no statement of it in the log",
        id="an invented label",
    ),
    pytest.param(
        withheld,
        f"entry 3, what {AUDITOR_KEY} says of site {format_site_id(AT)}, is not in the "
        "archive",
        id="a withheld label",
    ),
    pytest.param(
        forged, "is not signed by this key: label_invalid", id="a forged signature"
    ),
]


def test_a_label_that_is_on_record_is_no_difference(registry):
    honest(registry)
    code, output = run_json(*registry.words())
    assert (code, output["archive"], output["differing"]) == (0, [], [])
    assert output["labels"] == 4
    assert output["auditors"] == {AUDITOR_KEY: 4}


@pytest.mark.parametrize(("cheat", "says"), DISHONEST)
def test_a_registry_that_is_untrue_about_an_auditor_is_found_out(registry, cheat, says):
    """Its figures follow from its archive, so that nothing else would tell."""
    cheat(registry)
    code, output = run_json(*registry.words())
    assert (code, output["same"], output["differing"]) == (1, False, [])
    assert any(says in line for line in output["archive"]), output["archive"]
    assert len(output["archive"]) < 4


@pytest.mark.slow
def test_a_checkout_without_a_database_finds_it_out_too(registry, tmp_path):
    """The command is the same; what it imports must be there."""
    changed(registry)
    shutil.copytree(
        ROOT / "registry",
        tmp_path / "checkout" / "registry",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    words = map(str, registry.words())
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "registry", "audit", *words, "--json"],
        env={"PYTHONPATH": os.fspath(tmp_path / "checkout")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1, ended.stderr
    archive = json.loads(ended.stdout)["archive"]
    assert any("differs from entry 3" in line for line in archive), archive


def test_labels_of_an_auditor_who_is_not_named_are_told(registry):
    words = registry.words()
    stranger = "auditor.example+00000000+AAAA"
    code, output = run_json(*words, "--auditor", stranger)
    assert code == 1
    assert all("was not named" in line for line in output["archive"])
    result = run(*words, "--auditor", AUDITOR_KEY)
    assert result.exit_code == 0, result.output
    assert f"labels told by {AUDITOR_KEY}: 3" in result.stdout


def test_whoever_audits_hears_what_stands_in_no_record(registry):
    """A registration's label is as the registry says; it moves figures unnoticed."""
    [own] = registry.labels[OTHER]
    label = replace(own.label, size="micro")
    registry.labels[OTHER] = [replace(own, label=label)]
    registry.sites = told_as(registry.sites, OTHER, "micro")
    code, output = run_json(*registry.words())
    assert code == 0
    assert any("its registration told" in line for line in output["notProven"])
