import json
from datetime import UTC, datetime, timedelta

import pytest
import rfc8785

from registry.errors import Refused
from registry.records.canonical import digest_of
from registry.records.record import parse_record, report_record
from registry.records.rules.log_rules import Conduct
from registry.sites.identifier import make_ulid

START, END = datetime(2026, 10, 1, tzinfo=UTC), datetime(2026, 11, 1, tzinfo=UTC)
FORMS = {"csv": digest_of(b"a,b"), "json": digest_of(b"{}")}


def make_report(number=0, at=END + timedelta(minutes=10), forms=FORMS, end_at=END):
    return report_record(
        record_id=make_ulid(1_793_491_800_000 + number, bytes(10)),
        at=at,
        start_at=START,
        end_at=end_at,
        forms=forms,
    )


def test_a_report_is_recorded_by_its_window_and_digests():
    members = json.loads(make_report().body)
    del members["id"]
    assert members == {
        "v": 1,
        "kind": "report",
        "t": "2026-11-01T00:10Z",
        "from": "2026-10-01T00:00Z",
        "to": "2026-11-01T00:00Z",
        "forms": FORMS,
    }
    assert rfc8785.dumps(json.loads(make_report().body)) == make_report().body


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"at": END - timedelta(minutes=1)}, id="before its end"),
        pytest.param({"end_at": START}, id="of no time"),
        pytest.param({"forms": {}}, id="in no form"),
        pytest.param({"forms": {"json": "sha256:00"}}, id="a short digest"),
        pytest.param({"forms": {"JSON!": digest_of(b"")}}, id="a form of no word"),
    ],
)
def test_a_report_that_can_not_be_is_refused(changes):
    with pytest.raises(Refused, match="record_field_invalid"):
        make_report(**changes)


@pytest.mark.parametrize("forms", [None, [], "sha256", 3, {"json": 3}, {"json": None}])
def test_forms_of_another_kind_are_refused(forms):
    members = json.loads(make_report().body) | {"forms": forms}
    with pytest.raises(Refused, match="record_field_invalid"):
        parse_record(rfc8785.dumps(members))


def test_a_second_report_of_a_window_is_reported_and_one_of_another_is_not():
    messages = []
    conduct = Conduct(origin="", report=messages.append)
    later = make_report(1, end_at=END + timedelta(days=1), at=END + timedelta(days=2))
    for index, item in enumerate((make_report(), later, make_report(2))):
        conduct.read(index, item.body)
    codes = [(notice.code, notice.entry_index) for notice in messages]
    assert [code for code in codes if code[0] == "report_logged_twice"] == [
        ("report_logged_twice", 2)
    ]
    assert conduct.state.records == {"report": 3}
