"""Labels of sites, from outside: set, shown, published."""

import csv
import io
import time
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.identity.keys.private_keys import private_key_pem
from registry.identity.statements.detached_jws import LABELS_TYP, verify_detached
from registry.records.labelling import (
    Labelling,
    digest_source,
)
from registry.records.promise import parse_promise, verify_promise
from registry.sites.label import Label
from registry.tlog.note import Signer, format_vkey, parse_vkey
from tests.api.expect import Json, instant, members, problem
from tests.api.running import AUDITOR, RunningRegistry
from tests.api.test_attestations import STRANGER
from tests.api.test_report_forms import signing_key

HOST = "radhaus-kreuz.test"  # labelled and taken back by one test alone
OTHER_HOST = "ceviche-norte.test"
SOURCE = "https://business-register.example/entries/7"
NOT_YET = "2099-01-01T00:00:00Z"


def body(
    http: httpx.Client,
    label: Label,
    *,
    host: str = HOST,
    signer: Signer = AUDITOR,
    iat: int | None = None,
) -> Json:
    labelling = Labelling(
        auditor=format_vkey(signer.verifier_key),
        audience=http.get("/v1/log").json()["origin"],
        site_id=http.get(f"/v1/sites/{host}").json()["id"],
        label=label,
        observed_on=datetime.now(UTC).date(),
        stated_at=datetime.fromtimestamp(int(time.time()) if iat is None else iat, UTC),
        source_digest=digest_source(SOURCE),
    )
    return {**labelling.signed(signer.private).signed_members, "source": SOURCE}


def test_auditor_s_label_is_on_record_and_shown_with_what_it_contradicts(
    http: httpx.Client,
) -> None:
    before = http.get(f"/v1/sites/{HOST}/disclosures").json()
    assert before["counting"]["size"] not in {None, "large"}, "the town declares sizes"
    sent = body(http, Label(size="large", independence="chain", chain="rad.example"))
    answer = http.post("/v1/labels", json=sent)
    assert answer.status_code == 201, answer.text
    members(answer.json(), "id leafHash promise")
    vkey = parse_vkey(http.get("/v1/log").json()["promiseKey"])
    leaf = bytes.fromhex(answer.json()["leafHash"])
    verify_promise(parse_promise(answer.json()["promise"]), leaf, vkey.public)

    disclosures = http.get(f"/v1/sites/{HOST}/disclosures").json()
    members(disclosures, "site host at counting told contradictions history")
    assert disclosures["counting"]["size"] == "large"
    assert disclosures["counting"]["chain"] == "rad.example"
    assert "auditor" in disclosures["counting"]["source"]
    auditor = disclosures["told"][0]
    assert (auditor["by"], auditor["auditor"]) == ("auditor", sent["auditor"])
    assert (auditor["source"], auditor["observedOn"]) == (SOURCE, sent["observed"])
    instant(auditor["validFrom"])
    sizes = {
        contradiction["field"]: contradiction["claims"]
        for contradiction in disclosures["contradictions"]
    }["size"]
    assert [size["by"] for size in sizes] == ["auditor", "registration"]
    assert disclosures["history"][0] == auditor

    then = http.get(f"/v1/sites/{HOST}/disclosures", params={"at": before["at"]})
    assert then.json() == before, "what was told of an instant stays"

    problem(http.post("/v1/labels", json=sent), 409, "label_known")
    retracted = http.post("/v1/labels", json=body(http, Label(), iat=sent["iat"] + 1))
    assert retracted.status_code == 201, retracted.text
    after = http.get(f"/v1/sites/{HOST}/disclosures").json()
    assert after["counting"]["size"] == before["counting"]["size"]


def generation_of(registry: RunningRegistry, answer: Json) -> str:
    """Return the generation of the index that gave an answer."""
    shown = registry.http.get(f"/v1/rankings/{answer['ranking']['id']}").json()
    return str(shown["record"]["snap"])


def test_label_changes_no_answer_of_a_search(registry: RunningRegistry) -> None:
    q, http = "book a table for two", registry.http
    for percent in range(100, 0, -1):
        before = registry.search(q)
        sent = body(
            http,
            Label(size="micro", commission_percent=float(percent)),
            host=OTHER_HOST,
        )
        assert http.post("/v1/labels", json=sent).status_code == 201
        after = registry.search(q)
        # A probe that ends in between changes an index, and scores with it.
        if generation_of(registry, before) == generation_of(registry, after):
            break
    sites, later = before["results"], after["results"]
    assert OTHER_HOST in [item["site"]["host"] for item in sites]
    scores = [
        sorted((result["site"]["id"], result["score"]) for result in results)
        for results in (sites, later)
    ]
    assert scores[0] == scores[1]
    assert sites[0]["site"] in [item["site"] for item in later]


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        pytest.param({"size": "huge"}, 400, "body_invalid", id="no such size"),
        pytest.param({"size": None}, 400, "label_invalid", id="a changed size"),
        pytest.param({"commission": 5}, 400, "body_invalid", id="a number for a text"),
        pytest.param(
            {"commission": "5.0%"}, 400, "body_invalid", id="spelled otherwise"
        ),
        pytest.param({"commission": "5%\n"}, 400, "label_invalid", id="a line end"),
        pytest.param({"chain": "Jane Doe"}, 400, "body_invalid", id="a name"),
        pytest.param(
            {"independence": "independent", "chain": "a.example"},
            400,
            "label_invalid",
            id="independent of its chain",
        ),
        pytest.param({"observed": "2026-02-30"}, 400, "label_invalid", id="no day"),
        pytest.param(
            {"observed": "\u0662026-01-01"}, 400, "body_invalid", id="other digits"
        ),
        pytest.param({"iat": 2**53 - 1}, 400, "label_invalid", id="the end of time"),
        pytest.param({"iat": 2**64}, 400, None, id="a long number"),
        pytest.param({"source": "hearsay"}, 400, "label_invalid", id="another source"),
        pytest.param({"source": "x" * 501}, 400, "body_invalid", id="a long source"),
        pytest.param({"source": "a\u202eb"}, 400, "label_invalid", id="turned text"),
        pytest.param({"site": "I" * 13}, 400, None, id="no site id"),
        pytest.param({"sig": "A" * 85}, 400, "body_invalid", id="a short signature"),
        pytest.param({"sig": "A" * 86}, 400, "label_invalid", id="a false signature"),
        pytest.param({"aud": "other.example"}, 400, "label_invalid", id="for another"),
        pytest.param({"auditor": "x"}, 403, "auditor_unknown", id="no auditor"),
        pytest.param({"more": 1}, 400, "body_invalid", id="an unknown member"),
    ],
)
def test_hostile_label_is_refused(
    http: httpx.Client, changes: Json, status: int, code: str | None
) -> None:
    sent = {**body(http, Label(size="medium")), **changes}
    problem(http.post("/v1/labels", json=sent), status, code)


def test_stranger_is_told_how_to_become_known(http: httpx.Client) -> None:
    sent = body(http, Label(size="large"), signer=STRANGER)
    result = problem(http.post("/v1/labels", json=sent), 403, "auditor_unknown")
    assert result["pointer"] == "/auditor"


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        pytest.param({"at": "1700000000"}, "at", id="seconds"),
        pytest.param({"at": "2026-01-01T00:00:00"}, "at", id="no time zone"),
        pytest.param({"at": NOT_YET}, "at", id="not yet"),
        pytest.param({"at": ""}, "at", id="empty"),
        pytest.param({"after": "I" * 13}, "after", id="no site id"),
        pytest.param({"after": "Z" * 13}, "after", id="a number too large"),
        pytest.param({"limit": "0"}, "limit", id="no sites"),
        pytest.param({"limit": "10001"}, "limit", id="too many"),
        pytest.param({"form": "html"}, "form", id="no such form"),
    ],
)
def test_question_that_can_not_be_answered_is_refused(
    http: httpx.Client, query: dict[str, str], pointer: str
) -> None:
    result = problem(http.get("/v1/labels", params=query), 400)
    assert result["pointer"] == pointer


@pytest.mark.parametrize("form", ["json", "csv"])
def test_published_labels_are_signed_byte_for_byte(
    http: httpx.Client, form: str
) -> None:
    answer = http.get("/v1/labels", params={"form": form})
    token = answer.headers["X-JWS-Signature"].encode()
    verify_detached(token, answer.content, signing_key(http), typ=LABELS_TYP)


def test_kept_page_of_labels_is_checked_by_one_command(
    registry: RunningRegistry, tmp_path: Path
) -> None:
    answer = registry.http.get("/v1/labels")
    saved = tmp_path / "labels.json"
    saved.write_bytes(answer.content)
    Path(f"{saved}.jws").write_text(answer.headers["X-JWS-Signature"])
    command = ["audit", "report-signature", str(saved), registry.origin]
    assert CliRunner().invoke(main, [*command, "--labels"]).exit_code == 0
    assert CliRunner().invoke(main, command).exit_code == 1, "it is no report"
    saved.write_bytes(answer.content + b"\n")
    assert CliRunner().invoke(main, [*command, "--labels"]).exit_code == 1


def test_both_forms_tell_the_same(http: httpx.Client) -> None:
    disclosures = http.get("/v1/labels").json()
    sheet = http.get(
        "/v1/labels", params={"at": disclosures["at"]}, headers={"Accept": "text/csv"}
    )
    lines = list(csv.DictReader(io.StringIO(sheet.text, newline="")))
    assert [line["site"] for line in lines] == [
        site["site"] for site in disclosures["sites"]
    ]
    for line, site in zip(lines, disclosures["sites"], strict=True):
        assert line["size"] == (site["size"] or "")
        assert line["valid_from"] == (site["validFrom"] or "")
        assert line["category"] == site["category"]
        assert line["stated_twice"] == site["statedTwice"]


def test_pages_hold_each_site_once_at_one_instant(http: httpx.Client) -> None:
    whole = http.get("/v1/labels").json()
    path: str | None = f"/v1/labels?limit=3&at={whole['at']}"
    findings: list[Json] = []
    while path:
        answer = http.get(path)
        assert answer.json()["at"] == whole["at"]
        findings += answer.json()["sites"]
        path = answer.links.get("next", {}).get("url")
    assert findings == whole["sites"]
    assert len(findings) >= 8


def test_before_the_first_site_there_is_none(http: httpx.Client) -> None:
    params = {"at": "2020-01-01T00:00:00Z"}
    assert http.get("/v1/labels", params=params).json()["sites"] == []


def test_disclosures_of_an_unknown_site_are_not_found(http: httpx.Client) -> None:
    problem(http.get("/v1/sites/nobody.test/disclosures"), 404, "site_unknown")


def test_auditor_labels_a_site_by_one_command(
    http: httpx.Client, registry: RunningRegistry, tmp_path: Path
) -> None:
    key = tmp_path / "auditor.pem"
    key.write_bytes(private_key_pem(AUDITOR.private))
    host = "lingua-ferry.test"
    result = CliRunner().invoke(
        main,
        [
            *("audit", "label", host, registry.origin, "--key", str(key)),
            *("--name", AUDITOR.name, "--source", SOURCE, "--size", "medium"),
            *("--commission", "12.5%", "--observed", "2026-01-02", "--json"),
        ],
    )
    assert result.exit_code == 0, result.output
    disclosures = http.get(f"/v1/sites/{host}/disclosures").json()
    assert disclosures["counting"]["commissionRate"] == 12.5
    assert disclosures["told"][0]["observedOn"] == "2026-01-02"


def test_record_of_a_label_verifies_from_the_log_alone(http: httpx.Client) -> None:
    answer = http.post(
        "/v1/labels", json=body(http, Label(size="large"), host="pati-lantern.test")
    )
    record = http.get(f"/v1/records/{answer.json()['id']}").json()["record"]
    labelling = Labelling.parse(record)
    labelling.verify()
    assert labelling.label == Label(size="large")


def test_report_of_a_window_before_the_first_site_has_no_figures(
    http: httpx.Client,
) -> None:
    window = {"from": "1999-12-01T00:00:00Z", "to": "2000-01-01T00:00:00Z"}
    answer = http.get("/v1/reports/fairness", params=window)
    assert answer.status_code == 200, answer.text
    assert answer.json()["counts"]["sites"] == 0
