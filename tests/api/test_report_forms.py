"""The forms of the report, and that each is signed as it is served and kept."""

import csv
import io
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.identity.keys.public_keys import PublicKey
from registry.identity.statements.detached_jws import REPORT_TYP, verify_detached
from registry.reports.render.page import CONTENT_SECURITY_POLICY
from registry.tlog.note import parse_vkey
from tests.api.running import RunningRegistry

PATH = "/v1/reports/fairness"
TYPES = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html; charset=utf-8",
}
WINDOW = {"from": "2026-01-01T00:00:00Z", "to": "2026-02-01T00:00:00Z"}


def signing_key(http: httpx.Client) -> PublicKey:
    vkey = parse_vkey(http.get("/v1/log").json()["promiseKey"])
    return PublicKey(alg="Ed25519", raw=vkey.public)


@pytest.mark.parametrize("form", TYPES)
def test_each_form_is_signed_byte_for_byte(http: httpx.Client, form: str) -> None:
    answer = http.get(PATH, params={**WINDOW, "form": form})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == TYPES[form]
    assert answer.headers["Vary"].split(",")[0] == "Accept"
    token = answer.headers["X-JWS-Signature"].encode()
    verify_detached(token, answer.content, signing_key(http), typ=REPORT_TYP)


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        pytest.param("*/*", "json", id="anything"),
        pytest.param("text/csv", "csv", id="csv"),
        pytest.param("TEXT/CSV;header=present", "csv", id="csv with a parameter"),
        pytest.param("text/html,application/xml;q=0.9,*/*;q=0.8", "html", id="browser"),
        pytest.param("application/json, text/html", "json", id="json first"),
        pytest.param("application/vnd.apache.parquet", "parquet", id="parquet"),
        pytest.param("image/png;q=x,,;", "json", id="nothing of ours"),
    ],
)
def test_the_accept_header_decides(http: httpx.Client, accept: str, form: str) -> None:
    answer = http.get(PATH, params=WINDOW, headers={"Accept": accept})
    assert answer.headers["Content-Type"] == TYPES[form]


def test_the_parameter_decides_before_the_header(http: httpx.Client) -> None:
    params = {**WINDOW, "form": "csv"}
    answer = http.get(PATH, params=params, headers={"Accept": "text/html"})
    assert answer.headers["Content-Type"] == TYPES["csv"]


def test_the_forms_tell_the_same_report(http: httpx.Client) -> None:
    body = http.get(PATH, params={**WINDOW, "form": "json"}).json()
    form = http.get(PATH, params={**WINDOW, "form": "csv"}).text
    lines = {
        line["path"]: line for line in csv.DictReader(io.StringIO(form, newline=""))
    }
    assert lines["version/version"]["value"] == body["version"]
    assert lines["counts/rankings"]["value"] == str(body["counts"]["rankings"])
    assert lines["terms/from"]["value"] == body["terms"]["window"]["startAt"]
    page = http.get(PATH, params={**WINDOW, "form": "html"})
    assert page.headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert "Fairness report" in page.text


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("form", TYPES)
def test_a_kept_report_is_verified_later(
    registry: RunningRegistry, tmp_path: Path, form: str
) -> None:
    file, url = tmp_path / f"report.{form}", registry.origin
    window = ("--from", WINDOW["from"], "--to", WINDOW["to"])
    output = run(
        "report", "--registry", url, *window, "--form", form, "--out", str(file)
    )
    assert output[0] == 0, output[1]
    check = ("audit", "report-signature", str(file))
    code, messages = run(*check, url)
    assert (code, "the key that the registry names, " in messages) == (0, True)
    key = registry.http.get("/v1/log").json()["promiseKey"]
    assert run(*check, "--promise-key", key, "--json")[0] == 0
    assert "the given key" in run(*check, "--promise-key", key)[1]
    log_key = registry.http.get("/v1/log").json()["verifierKey"]
    assert run(*check, "--promise-key", log_key)[0] == 1
    file.write_bytes(file.read_bytes() + b" ")
    code, messages = run(*check, "--promise-key", key)
    assert code == 1
    assert "signature_invalid" in messages


def test_a_form_without_a_file_goes_to_standard_output(
    registry: RunningRegistry,
) -> None:
    code, output = run("report", "--registry", registry.origin, "--form", "csv")
    assert code == 0
    assert output.startswith("path,section,")


def test_a_file_that_was_never_signed_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "report.csv"
    file.write_bytes(b"path\r\n")
    code, output = run("audit", "report-signature", str(file), "--promise-key", "x")
    assert code == 1
    assert "report.csv.jws" in output
