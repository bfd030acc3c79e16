"""The JSON form of a report is read back to the report that all other forms are made of."""

import json

import pytest

from registry.reports.render.json_object import format_json, parse_json
from registry.reports.render.report_files import FORMAT
from tests.unit.reports.render.reports import fair, harmful, thin

REPORTS = [fair, thin, harmful]


@pytest.mark.parametrize("make", REPORTS, ids=lambda make: make.__name__)
def test_every_form_is_made_again_from_the_json_alone(make) -> None:
    report = make()
    parsed = parse_json(format_json(report))
    assert parsed == report
    for form, encode in FORMAT.items():
        assert encode(parsed) == encode(report), form


def test_what_this_release_does_not_write_is_no_report_of_it() -> None:
    body = format_json(thin())
    members = json.loads(body)
    for other in (
        body + b" ",
        json.dumps(members).encode(),
        json.dumps({**members, "later": 1}).encode(),
        json.dumps({**members, "counts": {}}).encode(),
        b"[]",
        b"{}",
        b"1",
        b"not JSON",
        b"[" * 100_000,
        b'{"counts":' * 100_000,
    ):
        assert parse_json(other) is None, other[:60]
