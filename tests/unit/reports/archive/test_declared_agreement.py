"""What sites declared, as an archive has it, beside what the log says that they signed."""

import json
from dataclasses import replace
from datetime import timedelta

import msgspec
import pytest

from registry.auditor.reports.declared_agreement import VISIT_S, DeclaredAgreement
from registry.reports.archive.declared_rows import DeclaredRow
from registry.reports.labels import DOCUMENT, REGISTRATION
from registry.sites.identifier import format_site_id, parse_site_id
from registry.sites.label import Label
from tests.unit.reports.archive.archived import (
    WINDOW,
    Town,
    declared_row,
    disclosures,
    statement_of,
    told_labels,
)

END = WINDOW.end_at
NUMBER = 7
NAME = disclosures()[NUMBER].site_id
MINUTE = timedelta(minutes=1)


class Registry:
    """What a registry has of one site, all honest until a test changes it."""

    def __init__(self, number=NUMBER):
        site = disclosures()[number]
        self.sites = [site]
        self.labels = {site.site_id: told_labels()[parse_site_id(site.site_id)]}
        self.rows = [declared_row(site)]
        self.town = Town()
        self.town.now = site.registered_at
        self.town.register(site)
        self.size = None

    @property
    def site(self):
        return self.sites[0]

    def register(self, at, **changes):
        """Log a statement of the site. Returns: it."""
        self.town.now = at
        token = statement_of(self.site, **changes)
        self.town.register(self.site, token)
        return token

    def documents(self, **changes):
        (document,) = json.loads(self.rows[0]["documents"])
        self.rows[0]["documents"] = json.dumps([{**document, **changes}])

    def label(self, author, label):
        (own,) = self.labels
        self.labels[own] = [
            replace(stated, label=label) if stated.stated_by == author else stated
            for stated in self.labels[own]
        ]

    def compared(self, *, declared=True):
        agreement = DeclaredAgreement(
            end=END, size=len(self.town.bodies) if self.size is None else self.size
        )
        for index, body in enumerate(self.town.bodies):
            agreement.visit(index, body)
        rows = [
            msgspec.convert(
                {
                    **row,
                    "keys": json.loads(row["keys"]),
                    "documents": json.loads(row["documents"]),
                },
                DeclaredRow,
            )
            for row in self.rows
        ]
        labels = [(parse_site_id(site), own) for site, own in self.labels.items()]
        agreement.finish(self.sites, labels, rows if declared else None)
        return agreement


@pytest.fixture
def registry():
    return Registry()


def lines(agreement):
    return agreement.differences, agreement.missing, agreement.sites


def test_what_a_site_declared_is_no_difference(registry):
    assert lines(registry.compared()) == ([], [], 1)


def test_an_older_archive_proves_nothing_of_it(registry):
    registry.town.now -= timedelta(days=1)
    differences, missing, sites = lines(registry.compared(declared=False))
    assert (differences, len(missing), sites) == ([], 1, 0)


def test_a_statement_from_behind_the_tree_does_not_count(registry):
    registry.size = len(registry.town.bodies)
    registry.register(END - MINUTE, seq=2)
    assert lines(registry.compared()) == ([], [], 1)
    registry.size += 1
    (difference,) = registry.compared().differences
    assert difference.endswith("its statement is not the newest in the log")


def test_a_statement_from_behind_the_window_does_not_count(registry):
    later = registry.register(END + MINUTE, seq=2)
    assert lines(registry.compared()) == ([], [], 1)
    registry.rows[0]["statement"] = later
    (difference,) = registry.compared().differences
    assert difference.endswith("its statement is not the newest in the log")


def test_in_the_minute_of_the_end_either_statement_may_be_the_newest(registry):
    newer = registry.register(END + timedelta(seconds=5), seq=2)
    assert lines(registry.compared()) == ([], [], 1)
    registry.rows[0]["statement"] = newer
    assert lines(registry.compared()) == ([], [], 1)


def test_of_several_statements_the_last_counts(registry):
    newer = registry.register(END - MINUTE, seq=2)
    assert len(registry.compared().differences) == 1
    registry.rows[0]["statement"] = newer
    assert lines(registry.compared()) == ([], [], 1)


def test_a_site_of_the_last_minute_may_be_missing(registry):
    """Who registered in it may have come after the end."""
    other = replace(disclosures()[3], registered_at=END)
    registry.town.now = END + timedelta(seconds=1)
    registry.town.register(other)
    assert lines(registry.compared()) == ([], [], 1)
    registry.town.now = END - MINUTE
    registry.town.register(disclosures()[4])
    (difference,) = registry.compared().differences
    assert difference.endswith("it is registered and not in the archive")


def test_a_row_of_no_site_of_the_archive_is_passed_over(registry):
    registry.rows.append(declared_row(disclosures()[3]))
    assert lines(registry.compared()) == ([], [], 1)


def test_a_site_without_its_row_is_not_computed(registry):
    stranger = replace(registry.site, site_id=format_site_id(999))
    registry.sites.append(stranger)
    differences, (missing,), sites = lines(registry.compared())
    assert (differences, sites) == ([], 1)
    assert missing.endswith("the archive lacks what it declared")


def test_the_first_record_of_a_site_gives_its_age(registry):
    registry.town.bodies.clear()
    registry.register(registry.site.registered_at - timedelta(days=1))
    registry.register(registry.site.registered_at)
    (difference,) = registry.compared().differences
    assert "it is registered since 2026-11-20T01:00Z" in difference


@pytest.mark.parametrize(
    ("domain", "is_cut"),
    [
        ("test", True),
        (f"shop-{NAME.lower()}.domain-3.test", True),
        ("main-3.test", False),
        ("domain-4.test", False),
    ],
)
def test_a_publisher_cut_elsewhere_is_not_computed(registry, domain, is_cut):
    registry.sites = [replace(registry.site, domain=domain)]
    differences, missing, sites = lines(registry.compared())
    assert (len(differences), len(missing), sites) == (not is_cut, is_cut, 0)


@pytest.mark.parametrize("lacks", ["statement", "record"])
def test_a_statement_that_lacks_is_not_computed(registry, lacks):
    if lacks == "statement":
        registry.rows[0]["statement"] = None
    else:
        registry.town.bodies.clear()
    (missing,) = registry.compared().missing
    assert missing.endswith(
        "its statement" if lacks == "statement" else "a record of its registration"
    )


def test_a_key_that_lacks_is_not_computed(registry):
    registry.rows[0]["keys"] = "[]"
    differences, (missing,), sites = lines(registry.compared())
    assert (differences, sites) == ([], 0)
    assert "the archive lacks the key" in missing


def test_a_statement_of_another_key_is_a_difference(registry):
    token = statement_of(registry.site)[:-8] + "A" * 8
    registry.town.bodies.clear()
    registry.town.register(registry.site, token)
    registry.rows[0]["statement"] = token
    differences, missing, sites = lines(registry.compared())
    assert (len(differences), missing, sites) == (1, [], 0)


def test_documents_that_are_none_are_not_computed(registry):
    registry.documents(body="e30=")
    differences, (missing,), sites = lines(registry.compared())
    assert (differences, sites) == ([], 0)
    assert "its documents do not count any more" in missing


def test_a_label_that_nobody_states_may_lack(registry):
    """A site that states nothing has no label by its registration, or an empty one."""
    silent = {"size": None, "is_independent": None, "commission_rate": None}
    registry.town.bodies.clear()
    registry.rows[0]["statement"] = registry.register(
        registry.site.registered_at, **silent
    )
    (own,) = registry.labels
    registry.labels[own] = [
        stated for stated in registry.labels[own] if stated.stated_by != REGISTRATION
    ]
    assert lines(registry.compared()) == ([], [], 1)
    registry.labels[own] = []
    assert registry.compared().differences == []


def test_a_label_of_its_registration_that_lacks_is_a_difference(registry):
    registry.labels = {}
    (difference,) = registry.compared().differences
    assert "the label by registration is None" in difference


@pytest.mark.parametrize("author", [REGISTRATION, DOCUMENT])
@pytest.mark.parametrize(
    ("instants", "is_late"),
    [
        ({}, False),
        ({"firstFetchedAt": 0}, True),
        ({"firstFetchedAt": VISIT_S - 1}, True),
        ({"firstFetchedAt": 1 - VISIT_S}, True),
        ({"firstFetchedAt": VISIT_S}, False),
        ({"firstFetchedAt": -VISIT_S}, False),
        ({"retiredAt": VISIT_S - 1}, True),
        ({"retiredAt": VISIT_S}, False),
    ],
)
def test_documents_of_about_the_end_prove_nothing(author, instants, is_late):
    """The registration is signed, and is no question of when a document was fetched."""
    registry = Registry(3)
    registry.label(author, Label(independence="chain", size="micro"))
    end = int(END.timestamp())
    registry.documents(**{name: end + after for name, after in instants.items()})
    differences, missing, sites = lines(registry.compared())
    is_lacking = is_late and author == DOCUMENT
    assert (len(differences), len(missing), sites) == (not is_lacking, is_lacking, 0)


def test_another_category_is_a_difference(registry):
    category = "bakery" if registry.site.category == "hotel" else "hotel"
    registry.sites = [replace(registry.site, category=category)]
    (difference,) = registry.compared().differences
    assert f"the category is {category}, and" in difference
