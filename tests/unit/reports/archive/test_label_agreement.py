"""Labels of an archive beside what auditors signed: whatever is otherwise is told."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.records.labelling import digest_source
from registry.reports.archive.agreement import MAX_SENTENCES
from registry.reports.archive.label_agreement import LabelAgreement
from registry.reports.window.observation import SiteDisclosure
from registry.sites.identifier import format_site_id
from registry.sites.label import Label
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from tests.unit.records.history import NOON
from tests.unit.reports.archive.archived import (
    AUDITOR_KEY,
    MICRO,
    SITES,
    SOURCE,
    TOLD_AT,
    WINDOW,
    Town,
    disclosures,
    labelling,
    played,
    registered,
    statement,
    told_labels,
)

STRANGER = Signer(
    name="auditor.example",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"stranger").digest()),
)
STRANGER_KEY = format_vkey(STRANGER.verifier_key)
AT, OTHER, BEFORE, RETRACTED = SITES[5], SITES[7], SITES[10], SITES[15]


def as_archived(labels, source):
    """With the digests of sources, as the file has them."""
    signed = {"source": digest_source(source)}
    for site, several in sorted(labels.items()):
        yield (
            site,
            [
                replace(item, **signed) if item.observed_on else item
                for item in sorted(several, key=lambda label: label.stated_by)
            ],
        )


def compared(town, labels, *, sites=None, size=None, known=(), source=SOURCE):
    label_agreement = LabelAgreement(
        end=WINDOW.end_at,
        size=len(town.bodies) if size is None else size,
        labels=as_archived(labels, source),
        known=known,
    )
    for index, body in enumerate(town.bodies):
        label_agreement.visit(index, body)
    label_agreement.finish(disclosures() if sites is None else sites)
    return label_agreement


@pytest.fixture
def town():
    return played(10)


@pytest.fixture
def labels():
    return told_labels()


def of_auditor(labels, site, key=AUDITOR_KEY):
    (place,) = (n for n, label in enumerate(labels[site]) if label.stated_by == key)
    return place


def relabel(labels, site, **changes):
    place = of_auditor(labels, site)
    labels[site][place] = replace(labels[site][place], **changes)


def test_honest_labels_are_those_that_were_signed(town, labels):
    comparison = compared(town, labels)
    assert comparison.differences == []
    assert comparison.statements == 3
    assert comparison.auditors == {AUDITOR_KEY: 3}


def changed_size(labels):
    relabel(labels, AT, label=Label(size="large"))


def added_commission(labels):
    relabel(labels, AT, label=replace(MICRO, commission_percent=5.0))


def another_day(labels):
    relabel(labels, AT, observed_on=(TOLD_AT - timedelta(days=1)).date())


def put_on_record_earlier(labels):
    relabel(labels, AT, valid_from=TOLD_AT)


def the_former_word(labels):
    early = {"stated_at": TOLD_AT, "label": Label(size="small")}
    relabel(labels, BEFORE, **early)


def not_retracted(labels):
    relabel(labels, RETRACTED, label=Label(size="large"))


def invented(labels):
    labels[OTHER].append(statement(labelling(OTHER, MICRO), WINDOW.start_at))


def of_another_site(labels):
    labels[OTHER].append(labels[AT].pop(of_auditor(labels, AT)))


def in_another_s_name(labels):
    relabel(labels, AT, stated_by=STRANGER_KEY)


def of_no_key(labels):
    relabel(labels, AT, stated_by="the ministry")


def as_the_site_s_own(labels):
    """What the auditor said, told as if the document had said it."""
    relabel(labels, AT, stated_by="document", observed_on=None)


def withheld(labels):
    labels[AT].pop(of_auditor(labels, AT))


def retraction_withheld(labels):
    labels[RETRACTED].pop(of_auditor(labels, RETRACTED))


def after_the_end(labels):
    labels[OTHER][0] = replace(
        labels[OTHER][0], valid_from=WINDOW.end_at + timedelta(seconds=1)
    )


def registration_changed(labels):
    """No record tells it; but then another label counts than the sites have."""
    labels[OTHER] = [registered(OTHER, size="large")]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(
            changed_size,
            "differs from entry 3 in: size (large, signed was micro)",
            id="a size changed",
        ),
        pytest.param(
            added_commission,
            "commission (5.0, signed was None)",
            id="a commission added",
        ),
        pytest.param(another_day, "in: day observed (", id="a day changed"),
        pytest.param(
            put_on_record_earlier, "in: minute on record (", id="a time changed"
        ),
        pytest.param(
            the_former_word, "differs from entry 5 in: size (small", id="a former word"
        ),
        pytest.param(
            not_retracted, "differs from entry 7 in: size (large", id="not retracted"
        ),
        pytest.param(invented, "no statement of it in the log", id="invented"),
        pytest.param(of_another_site, "no statement of it", id="of another site"),
        pytest.param(in_another_s_name, "no statement of it", id="another auditor's"),
        pytest.param(of_no_key, "by the ministry is in the archive", id="of no key"),
        pytest.param(
            as_the_site_s_own, "entry 3, what auditor.example", id="as the site's own"
        ),
        pytest.param(withheld, "entry 3, what auditor.example", id="withheld"),
        pytest.param(
            retraction_withheld, "entry 7, what auditor", id="a retraction withheld"
        ),
        pytest.param(after_the_end, "not on record before", id="after the end"),
        pytest.param(
            registration_changed,
            f"site {format_site_id(OTHER)} has the size medium in the archive, and by "
            "its labels large counts",
            id="a registration changed",
        ),
    ],
)
def test_what_is_unlike_is_reported(town, labels, change, says):
    change(labels)
    differences = compared(town, labels).differences
    assert any(says in item for item in differences), differences
    assert len(differences) <= 4


def test_another_source_is_reported(town, labels):
    differences = compared(town, labels, source="hearsay").differences
    assert len(differences) == 3
    assert all("in: source (sha256:" in item for item in differences)


def test_an_auditor_who_was_not_named_is_told(town, labels):
    comparison = compared(town, labels, known=[STRANGER_KEY])
    assert len(comparison.differences) == 3
    assert all("was not named" in difference for difference in comparison.differences)
    assert compared(town, labels, known=[AUDITOR_KEY]).differences == []


def test_what_is_on_record_after_the_end_or_the_tree_is_no_matter(labels):
    town = played(10)
    size = len(town.bodies)
    town.label(OTHER, MICRO)
    assert compared(town, labels, size=size).differences == []
    assert len(compared(town, labels).differences) == 1
    later = played(10)
    later.now = WINDOW.end_at + timedelta(minutes=1)
    later.label(OTHER, MICRO)
    assert compared(later, labels).differences == []


@pytest.mark.parametrize("is_told", [True, False])
def test_in_the_minute_of_the_end_a_label_may_count_or_not(town, labels, is_told):
    """It counts up to the very instant, and the log tells no finer times."""
    town.now = WINDOW.end_at
    label = town.label(OTHER, Label(size="medium"))
    if is_told:
        labels[OTHER].append(label)
    assert compared(town, labels).differences == []


def test_of_two_statements_of_one_second_either_may_count():
    for place in (0, 1):
        town, labels = Town().begin(), {}
        words = [town.label(AT, Label(size=size)) for size in ("micro", "large")]
        labels[AT] = [words[place]]
        site = SiteDisclosure(site_id=format_site_id(AT), size=words[place].label.size)
        assert compared(town, labels, sites=[site]).differences == []


@pytest.mark.parametrize("is_newest", [True, False])
def test_what_was_signed_before_and_comes_later_does_not_count(is_newest):
    """By the auditor's clock: a registry may put two labels on record as it likes."""
    town = Town().begin()
    newest = town.label(AT, Label(size="large"), stated_at=NOON)
    former = town.label(AT, MICRO, stated_at=NOON - timedelta(seconds=1))
    counting = newest if is_newest else former
    site = SiteDisclosure(site_id=format_site_id(AT), size=counting.label.size)
    differences = compared(town, {AT: [counting]}, sites=[site]).differences
    assert len(differences) == (not is_newest)


def test_a_label_that_is_too_old_does_not_count():
    observed = {"observed_on": (WINDOW.end_at - timedelta(days=731)).date()}
    town = Town().begin()
    members = {AT: [town.label(AT, MICRO, **observed)]}
    site = SiteDisclosure(site_id=format_site_id(AT))
    comparison = compared(town, members, sites=[site])
    assert (comparison.differences, comparison.statements) == ([], 1)


def test_no_more_than_a_hundred_are_reported(town):
    sites = disclosures() * 5
    assert len(compared(town, {}, sites=sites).differences) == MAX_SENTENCES
