"""`audit reproduce-report` and labels: an auditor's is the one he signed, or it is told."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from registry.ranking.policy import DEFAULT_POLICY
from registry.records.record import label_record
from registry.reports.render.json_object import format_json
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id
from registry.sites.label import Label
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.audited import publish, run, run_json
from tests.cli.test_reproducing_reports import ROOT, note_of, options, sign
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    AUDITOR,
    AUDITOR_KEY,
    MICRO,
    SITES,
    TERMS,
    WINDOW,
    archived,
    declared_rows,
    disclosures,
    labelling,
    played,
    statement,
    statement_of,
    told_labels,
)

COUNT = 40
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
        self.declared = {row["site_id"]: row for row in declared_rows()}

    def words(self):
        """Of a command that audits it; the report is that of its own archive."""
        log = publish(self.folder / "log", self.town.bodies)
        archive = archived(
            self.folder / "archive",
            self.town.rows,
            checkpoint=note_of(log),
            sites=self.sites,
            labels=self.labels,
            declared=list(self.declared.values()),
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


def stated_otherwise(registry):
    """What its owner signed of OTHER; its figures follow from what is told of it."""
    [own] = registry.labels[OTHER]
    registry.labels[OTHER] = [replace(own, label=replace(own.label, size="micro"))]
    registry.sites = told_as(registry.sites, OTHER, "micro")


def documented_otherwise(registry):
    """Of a site whose registration is silent its documents count."""
    own, document, *_ = registry.labels[SITES[3]]
    label = replace(document.label, independence="independent")
    registry.labels[SITES[3]] = [own, replace(document, label=label)]


def all_hotels(registry):
    registry.sites = [replace(site, category="hotel") for site in registry.sites]


def an_older_statement(registry):
    """It was replaced, and the archive goes on as if it was not."""
    registry.town.register(registry.sites[7], statement_of(registry.sites[7], seq=2))


def another_signature(registry):
    """On record, and the owner never signed it."""
    token = statement_of(registry.sites[7], seq=2)[:-8] + "A" * 8
    registry.town.register(registry.sites[7], token)
    registry.declared[OTHER]["statement"] = token


def a_site_left_out(registry):
    stranger = replace(registry.sites[0], site_id=format_site_id(999))
    registry.town.register(stranger, statement_of(registry.sites[0]))


def one_publisher(registry):
    """Sites of others as its own: reports draw publishers, not sites."""
    own, other, *others = registry.sites[1:]
    registry.sites[1:] = [own, replace(other, domain=own.domain), *others]


def a_newcomer_no_more(registry):
    first, *others = registry.sites
    earlier = first.registered_at - timedelta(days=90)
    registry.sites = [replace(first, registered_at=earlier), *others]


def of_no_age(registry):
    registry.sites[0] = replace(registry.sites[0], registered_at=None)


def what_it_declared_left_out(registry):
    """Its label would be a claim of the archive alone."""
    del registry.declared[OTHER]


DISHONEST = [
    pytest.param(
        one_publisher,
        f"site {format_site_id(SITES[2])}: its publisher is domain-1.test, and not "
        "domain-0.test",
        id="another publisher",
    ),
    pytest.param(
        a_newcomer_no_more,
        f"site {format_site_id(SITES[0])}: it is registered since 2026-11-21T01:00Z",
        id="another age",
    ),
    pytest.param(of_no_age, "it is registered since", id="no age"),
    pytest.param(
        stated_otherwise,
        f"site {format_site_id(OTHER)}: the label by registration is Label(size='micro'",
        id="a label that the site did not sign",
    ),
    pytest.param(
        documented_otherwise,
        f"site {format_site_id(SITES[3])}: the label by documents is Label(",
        id="a label that its documents do not have",
    ),
    pytest.param(
        all_hotels,
        "the category is hotel, and bakery is declared",
        id="another category",
    ),
    pytest.param(
        an_older_statement,
        f"site {format_site_id(OTHER)}: its statement is not the newest in the log",
        id="a statement that was replaced",
    ),
    pytest.param(
        another_signature,
        f"site {format_site_id(OTHER)}: its statement: signature_invalid",
        id="a statement that the site did not sign",
    ),
    pytest.param(
        a_site_left_out,
        f"site {format_site_id(999)}: it is registered and not in the archive",
        id="a site left out",
    ),
    pytest.param(
        what_it_declared_left_out,
        f"site {format_site_id(OTHER)}: it is registered and not in the archive",
        id="what a site declared left out",
    ),
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
    assert len(output["archive"]) < 4 or cheat is all_hotels


OF_MICRO = labelling(OTHER, MICRO)
FOR_ANOTHER = msgspec.structs.replace(OF_MICRO, audience="another.example")


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(
            msgspec.structs.replace(OF_MICRO, sig="A" * 86), id="signed by nobody"
        ),
        pytest.param(FOR_ANOTHER.signed(AUDITOR.private), id="for another registry"),
    ],
)
def test_a_log_whose_label_is_not_for_it_is_not_sound(registry, label):
    registry.town.log(label_record(**registry.town.head, labelling=label))
    registry.say(OTHER, statement(label, registry.town.now))
    code, output = run_json(*registry.words())
    assert (code, output["verified"], output["code"]) == (2, False, "label_invalid")


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
    assert f"labels stated by {AUDITOR_KEY}: 3" in result.stdout


def withheld_statement(registry):
    registry.declared[OTHER]["statement"] = None


def withheld_key(registry):
    registry.declared[OTHER]["keys"] = "[]"


def withheld_documents(registry):
    registry.declared[OTHER]["documents"] = "[]"


def former_archive(registry):
    registry.declared = {}


def cut_elsewhere(registry):
    """As a list of public suffixes of another year may have it."""
    first = registry.sites[0]
    registry.sites[0] = replace(
        first, domain=f"shop-{first.site_id.lower()}.{first.domain}"
    )


def an_invented_site(registry):
    registry.sites.append(SiteDisclosure(site_id=format_site_id(999)))


def changed_at_the_end(registry):
    """Fetched before the window's end, and perhaps listed after it."""
    all_hotels(registry)
    at = int(WINDOW.end_at.timestamp()) - 5
    for row in registry.declared.values():
        (document,) = json.loads(row["documents"])
        row["documents"] = json.dumps([{**document, "firstFetchedAt": at}])


@pytest.mark.parametrize(
    ("withhold", "says"),
    [
        (withheld_statement, "the archive lacks its statement"),
        (withheld_key, "the archive lacks the key"),
        (withheld_documents, "its documents do not count any more"),
        (former_archive, "archives of older releases have no proofs"),
        (changed_at_the_end, "about when the window ended"),
        (cut_elsewhere, "its publisher is domain-0.test, and not shop-"),
        (an_invented_site, "the archive lacks what it declared"),
    ],
)
def test_what_can_not_be_computed_is_no_success(registry, withhold, says):
    withhold(registry)
    words = registry.words()
    code, output = run_json(*words)
    assert (code, output["same"], output["archive"]) == (3, False, [])
    assert says in output["notChecked"][0]
    if withhold is withheld_key:  # in words they are shown alike
        result = run(*words)
        assert (result.exit_code, says in result.stdout) == (3, True)
