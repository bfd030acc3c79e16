"""`audit exposure`: tables as the log names them are added up, and no others."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from math import sqrt
from pathlib import Path

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.identity.statements.detached_jws import (
    EXPOSURE_TYP,
    LABELS_TYP,
    sign_detached,
)
from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.exposure_table import (
    FORM,
    DayCounts,
    SiteRow,
    encode_table,
    make_table,
)
from registry.sites.identifier import format_site_id
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.usecases.reports.calendar_months import midnight
from tests.cli.audited import VKEY, Served, publish, run, run_json, serving
from tests.unit.records.history import History

KEY = Ed25519PrivateKey.from_private_bytes(sha256(b"promises").digest())
PROMISE_KEY = format_vkey(
    Signer(
        name="registry.example/promises", algorithm=NoteAlgorithm.ED25519, private=KEY
    ).verifier_key
)
FIRST, ONE_DAY = date(2026, 11, 18), timedelta(days=1)
DAYS = [FIRST, FIRST + ONE_DAY]


def table_of(day: date, factor: int = 1) -> bytes:
    """Two sites that have a row and three that have none, as if no noise were drawn."""
    sites = [(1, 300), (2, 250)]
    rows = [
        SiteRow(format_site_id(site), factor * shown, 100 * factor * shown, -3)
        for site, shown in sites
    ]
    table = make_table(day, DayCounts(rankings=1000, erased=500, sites=[]), bytes(32))
    return encode_table(msgspec.structs.replace(table, sites=tuple(rows)))


@dataclass
class Registry:
    """What a registry gives of two days. bodies: by day, as the log has their digests."""

    served: Served
    leaves: dict[date, int] = field(default_factory=dict)

    def serve(
        self,
        day: date,
        body: bytes,
        key: Ed25519PrivateKey = KEY,
        typ: str = EXPOSURE_TYP,
    ) -> None:
        token = sign_detached(body, key, typ=typ)
        self.served.signed[f"/v1/exposure/{day}"] = (body, token)

    def place(self, day: date, index: int) -> None:
        self.served.answers[f"/v1/records/{day}"] = {"leafIndex": index}

    def audit(self, *options: str) -> tuple[int, dict[str, object]]:
        words = ("exposure", FIRST, self.served.url, "--key", VKEY)
        return run_json(*words, "--promise-key", PROMISE_KEY, *options)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    history = History(now=datetime(2026, 11, 20, 12, tzinfo=UTC)).begin()
    leaves = {}
    for day in DAYS:
        record = report_record(
            **history.head,
            start_at=midnight(day),
            end_at=midnight(day + ONE_DAY),
            forms={FORM: digest_of(table_of(day))},
        )
        leaves[day] = history.log(record)
    with serving(publish(tmp_path / "log", history.bodies)) as served:
        opened = Registry(served, leaves)
        listed = [{"day": f"{day}", "recordId": f"{day}"} for day in reversed(DAYS)]
        path = "/v1/exposure?limit=100"
        served.answers[path] = {"days": listed, "nextCursor": None}
        for day in DAYS:
            opened.serve(day, table_of(day))
            opened.place(day, leaves[day])
        yield opened


def test_days_are_added_up_by_site_and_by_label(registry: Registry) -> None:
    first, second = (format_site_id(number) for number in (1, 2))
    labels = [{"site": first, "size": "small"}, {"site": second, "size": None}]
    path = "/v1/labels?at=2026-11-20T00:00:00Z"
    registry.served.answers[path] = {"sites": labels, "nextAfter": None}
    code, added = registry.audit("--until", str(DAYS[1]), "--by", "size")
    assert (code, added["verified"], added["days"]) == (3, True, 2)
    assert any("labels" in line for line in added["notProven"])
    assert added["told"] == {
        "appearances": 1100,
        "attention": 110_000,
        "selections": -12,
    }
    assert (added["rankings"], added["erased"], added["untoldDays"]) == (2000, 1000, 0)
    assert added["withheld"]["attention"] == 1_000_000 - 110_000
    assert added["attentionDeviation"] == 10_000
    margin = 3 * 5000 * sqrt(2)
    assert added["classes"] == {
        "small": [
            round((60_000 - margin) / 1e6, 6),
            round((950_000 + margin) / 1e6, 6),
        ],
        "unknown": [
            round((50_000 - margin) / 1e6, 6),
            round((940_000 + margin) / 1e6, 6),
        ],
    }
    shown = run(
        "exposure",
        FIRST,
        registry.served.url,
        "--key",
        VKEY,
        "--promise-key",
        PROMISE_KEY,
    )
    assert shown.exit_code == 0
    assert f"{first}  300 appearances" in shown.stdout
    assert "the registry's word: appearances" in shown.stdout
    assert "labels" not in shown.stdout


def swap_body(registry: Registry) -> None:
    registry.serve(FIRST, table_of(FIRST, factor=2))


def serve_other_day(registry: Registry) -> None:
    registry.serve(FIRST, table_of(DAYS[1]))


def place_at_other_record(registry: Registry) -> None:
    registry.place(FIRST, registry.leaves[DAYS[1]])


def place_at_ranking(registry: Registry) -> None:
    registry.place(FIRST, 0)


def swap_day_whole(registry: Registry) -> None:
    serve_other_day(registry)
    place_at_other_record(registry)


def sign_as_another(registry: Registry) -> None:
    registry.serve(FIRST, table_of(FIRST), Ed25519PrivateKey.generate())


def sign_as_labels(registry: Registry) -> None:
    registry.serve(FIRST, table_of(FIRST), typ=LABELS_TYP)


def place_beyond(registry: Registry) -> None:
    registry.place(FIRST, 10_000)


def leave_out(registry: Registry) -> None:
    """A list that never ends, without the day."""
    path, other = "/v1/exposure?limit=100", f"{DAYS[1]}"
    page = {"days": [{"day": other, "recordId": other}], "nextCursor": "on"}
    for cursor in ("", "&cursor=on"):
        registry.served.answers[path + cursor] = page


@pytest.mark.parametrize(
    "lie",
    [
        *(swap_body, serve_other_day, place_at_other_record, place_at_ranking),
        *(swap_day_whole, sign_as_another, sign_as_labels, place_beyond, leave_out),
    ],
    ids=lambda lie: lie.__name__,
)
def test_no_other_table_is_taken(registry: Registry, lie) -> None:  # type: ignore[no-untyped-def]
    lie(registry)
    code, problem = registry.audit()
    assert (code, bool(problem["verified"])) == (1, False)


def test_days_without_a_row_are_counted(registry: Registry) -> None:
    table = make_table(FIRST, DayCounts(rankings=9, erased=2, sites=[]), bytes(32))
    body = encode_table(table)
    history = History(now=datetime(2026, 11, 20, 12, tzinfo=UTC)).begin()
    window = {"start_at": midnight(FIRST), "end_at": midnight(FIRST + ONE_DAY)}
    forms = {FORM: digest_of(body)}
    leaf = history.log(report_record(**history.head, **window, forms=forms))
    publish(registry.served.folder, history.bodies)
    registry.serve(FIRST, body)
    registry.place(FIRST, leaf)
    code, added = registry.audit()
    assert (code, added["untoldDays"], added["rankings"]) == (0, 1, 9)


def test_days_in_the_wrong_order_are_refused(registry: Registry) -> None:
    words = ("exposure", DAYS[1], registry.served.url, "--until", FIRST)
    done = run(*words)
    assert (done.exit_code, "--until is before DAY" in done.stderr) == (2, True)


def test_the_key_that_a_registry_names_is_taken_where_none_is_given(
    registry: Registry,
) -> None:
    served = registry.served
    served.answers["/v1/log"] = {"verifierKey": VKEY, "promiseKey": PROMISE_KEY}
    assert run("exposure", FIRST, served.url).exit_code == 0
