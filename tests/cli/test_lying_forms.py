"""A registry whose table or page says other than the JSON that auditors compute again."""

import json
import tempfile
import zlib
from pathlib import Path

import duckdb
import pytest

from registry.identity.keys.private_keys import generate_private_key
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.render.parquet import format_parquet
from registry.reports.render.report_files import FORMAT
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.audited import publish, run, run_json, serving
from tests.cli.test_reproducing_reports import options, sign
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    KEY,
    TERMS,
    WINDOW,
    played,
)

COUNT = 60
MONTH = f"{WINDOW.start_at:%Y-%m}"
SITES = {"csv": b"counts/sites,counts,,,,,sites,%d,", "html": b"<dd>%d</dd>"}
"""The number of sites as the forms have it."""


@pytest.fixture(scope="module")
def computed(honest):
    return report_of_archive(honest, ALGORITHM, TERMS, DEFAULT_POLICY)


@pytest.fixture(scope="module")
def forms(computed):
    return {form: encode(computed) for form, encode in FORMAT.items()}


def lie(forms, form):
    """Return a form with a site more, and the true number."""
    count = json.loads(forms["json"])["counts"]["sites"]
    if form == "parquet":
        more = (
            "SELECT * REPLACE (value + (path = 'counts/sites')::INT AS value) FROM old"
        )
        return rewritten(forms, more), count
    assert forms[form].count(SITES[form] % count) == 1
    return forms[form].replace(SITES[form] % count, SITES[form] % (count + 1)), count


def rewritten(forms, query, how="COMPRESSION gzip"):
    """Return the Parquet form, written anew by DuckDB from a query over what it was."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as duck:
        old, new = Path(folder) / "old", Path(folder) / "new"
        old.write_bytes(forms["parquet"])
        duck.execute(f"CREATE VIEW old AS SELECT * FROM read_parquet('{old}')")
        duck.execute(f"COPY ({query}) TO '{new}' (FORMAT parquet, {how})")
        return new.read_bytes()


def given(forms, folder, form, body):
    """Return the words of a check of a file in this form, beside the honest JSON."""
    sign(folder / "report.json", forms["json"])
    return "--form", sign(folder / f"report.{form}", body)


@pytest.fixture
def audit_forms(log, honest, forms, tmp_path):
    """Return a check of a file in a form, beside the honest JSON."""

    def audit(form, body):
        words = given(forms, tmp_path, form, body)
        file = tmp_path / "report.json"
        return run_json(*options(log, honest.folder, file), *words)

    return audit


@pytest.mark.parametrize("form", [*SITES, "parquet"])
def test_a_form_that_says_the_same_is_no_difference(log, honest, forms, tmp_path, form):
    words = given(forms, tmp_path, form, forms[form])
    code, output = run_json(
        *options(log, honest.folder, tmp_path / "report.json"), *words
    )
    assert (code, output["archive"], output["notChecked"]) == (0, [], [])


@pytest.mark.parametrize("form", [*SITES, "parquet"])
def test_a_form_with_another_figure_is_found_out(log, honest, forms, tmp_path, form):
    body, count = lie(forms, form)
    words = given(forms, tmp_path, form, body)
    done = run(*options(log, honest.folder, tmp_path / "report.json"), *words)
    assert done.exit_code == 1
    (line,) = [line for line in done.stdout.splitlines() if "differs" in line]
    assert line.startswith(f"differs: {form}: ")
    shown, by_json = line.split("by the JSON")
    assert str(count + 1) in shown
    assert str(count) in by_json


def test_words_taken_out_of_a_page_and_put_in_are_found_out(
    log, honest, forms, tmp_path
):
    page = forms["html"].replace(b"</main>", b"<p>All is fair.</p></main>")
    page = page if page != forms["html"] else forms["html"] + b"<p>All is fair.</p>"
    words = given(forms, tmp_path, "html", page)
    code, output = run_json(
        *options(log, honest.folder, tmp_path / "report.json"), *words
    )
    assert code == 1
    assert any("All is fair." in line for line in output["archive"])


def test_other_markup_around_the_same_words_is_not_called_the_same(
    log, honest, forms, tmp_path
):
    page = forms["html"].replace(b"max-width: 64rem", b"max-width: 63rem")
    words = given(forms, tmp_path, "html", page.replace(b"<h1>", b"<h1 hidden>"))
    code, output = run_json(
        *options(log, honest.folder, tmp_path / "report.json"), *words
    )
    assert (code, output["same"], len(output["notChecked"])) == (3, False, 1), output
    assert "markup" in output["notChecked"][0]


def test_a_page_that_goes_on_far_below_is_found_out(audit_forms, forms):
    page = forms["html"] + b" " * 2 * len(forms["html"]) + b"<p>All is fair.</p>"
    code, output = audit_forms("html", page)
    assert (code, output["notChecked"]) == (1, []), output


def deflated(page):
    """Compress as another build of zlib might."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, 31)
    return deflate.compress(page) + deflate.flush()


def test_a_table_that_another_zlib_packed_is_the_same(audit_forms, computed, forms):
    body = format_parquet(computed, deflated)
    assert body != forms["parquet"]
    code, output = audit_forms("parquet", body)
    assert (code, output["archive"], output["notChecked"]) == (0, [], []), output


def test_the_same_rows_in_another_layout_are_not_called_the_same(audit_forms, forms):
    """What DuckDB reads may be other than what another reader does."""
    code, output = audit_forms("parquet", rewritten(forms, "SELECT * FROM old"))
    assert (code, output["archive"], len(output["notChecked"])) == (3, [], 1), output


def without_a_page(forms):
    """One that claims to be as long as it was."""
    return forms["parquet"].replace(b"\x1f\x8b\x08", b"\x1f\x8b\x09", 1)


@pytest.mark.parametrize(
    ("lie", "expected"),
    [
        (without_a_page, "it can't be read"),
        (lambda _: b"PAR1", "it can't be read"),
        (lambda forms: rewritten(forms, "SELECT * FROM old LIMIT 9"), "by the JSON"),
        (lambda forms: rewritten(forms, "SELECT *, 1 AS sum FROM old"), "sum:INTEGER"),
        (
            lambda forms: rewritten(
                forms, "SELECT * REPLACE (low AS high, high AS low) FROM old"
            ),
            "low=",
        ),
        (
            lambda forms: rewritten(
                forms,
                "SELECT o.* FROM old AS o, range(1000)",
                "COMPRESSION zstd, DICTIONARY_SIZE_LIMIT 1000000",
            ),
            "",
        ),
    ],
    ids=["a page", "nothing", "nine rows", "a column more", "ends", "many rows"],
)
def test_another_table_is_found_out(audit_forms, forms, lie, expected):
    code, output = audit_forms("parquet", lie(forms))
    assert (code, output["notChecked"]) == (1, []), output
    assert any(expected in line for line in output["archive"]), output["archive"]


def test_a_form_that_another_key_signed_gives_no_verdict(log, honest, forms, tmp_path):
    words = given(forms, tmp_path, "csv", forms["csv"])
    other = generate_private_key("Ed25519")
    signature = sign_detached(forms["csv"], other, typ=REPORT_TYP)
    (tmp_path / "report.csv.jws").write_text(signature)
    done = run(*options(log, honest.folder, tmp_path / "report.json"), *words)
    assert done.exit_code == 2, done.output


@pytest.fixture
def stored(forms, tmp_path):
    """A registry that has stored the report and serves its forms, all honest."""
    town = played(COUNT)
    town.now = WINDOW.end_at
    window = {"start_at": WINDOW.start_at, "end_at": WINDOW.end_at}
    digests = {form: digest_of(body) for form, body in forms.items()}
    town.log(report_record(**town.head, **window, forms=digests))
    sign(tmp_path / "report.json", forms["json"])
    with serving(publish(tmp_path / "log", town.bodies)) as served:
        for form, body in forms.items():
            serve(served, form, body)
        yield served


def serve(served, form, body):
    token = sign_detached(body, KEY, typ=REPORT_TYP)
    served.signed[f"/v1/reports/{MONTH}?form={form}"] = body, token


def test_a_stored_report_is_compared_as_it_is_served(stored, honest, forms, tmp_path):
    words = options(stored.url, honest.folder, tmp_path / "report.json")
    code, output = run_json(*words)
    assert (code, output["archive"]) == (0, []), output
    assert f"/v1/reports/{MONTH}?form=html" in stored.requested
    serve(stored, "csv", lie(forms, "csv")[0])
    code, output = run_json(*words)
    assert (code, len(output["archive"])) == (1, 2), output
    assert output["archive"][0] == "csv: what is served is not what is on record"


def test_what_is_on_record_counts_where_nothing_is_served(stored, honest, tmp_path):
    stored.signed.clear()
    words = options(stored.url, honest.folder, tmp_path / "report.json")
    code, output = run_json(*words)
    assert (code, output["notChecked"]) == (0, [])
    code, output = run_json(*options(stored.folder, *words[3:4], words[5]))
    assert (code, output["notChecked"]) == (0, [])
