"""`audit reproduce-report`: what is computed again, and what is found out."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace as struct_replace

from registry.identity.keys.private_keys import (
    generate_private_key,
    private_key_pem,
)
from registry.identity.statements.detached_jws import REPORT_TYP, sign_detached
from registry.ranking.policy import DEFAULT_POLICY
from registry.records.attestation import Rescoring
from registry.records.canonical import digest_of
from registry.records.record import report_record
from registry.reports.archive import archive_manifest as manifests
from registry.reports.archive.writing import digest_file, write_manifest
from registry.reports.render.json_object import format_json
from registry.sites.label import Label
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.usecases.reports.archived_report import report_of_archive
from tests.cli.audited import SIGNER, VKEY, publish, run, run_json, serving
from tests.unit.reports.archive.archived import (
    ALGORITHM,
    AUDITOR_KEY,
    KEY,
    SALT,
    SITES,
    STATEMENTS,
    SWAPS,
    TERMS,
    TRIALS,
    WINDOW,
    archived,
    disclosures,
    invented,
    missing,
    played,
    reordered,
    statement_of,
    write,
)

PROMISE_KEY = format_vkey(
    Signer(
        name=f"{SIGNER.name}/promise", algorithm=NoteAlgorithm.ED25519, private=KEY
    ).verifier_key
)
ROOT = Path(__file__).parents[2]
COUNT = 200
BRAND, *_ = TRIALS[0][0]


def note_of(log):
    return (log / "checkpoint").read_text()


@pytest.fixture(scope="module")
def report(honest, tmp_path_factory):
    """The file, with its signature beside it."""
    output = report_of_archive(honest, ALGORITHM, TERMS, DEFAULT_POLICY)
    return sign(tmp_path_factory.mktemp("report") / "report.json", format_json(output))


def sign(file, body):
    file.write_bytes(body)
    signature = sign_detached(body, KEY, typ=REPORT_TYP)
    file.with_name(f"{file.name}.jws").write_text(signature)
    return file


def options(log, archive, report):
    keys = ("--key", VKEY, "--promise-key", PROMISE_KEY)
    return ("reproduce-report", log, "--archive", archive, "--report", report, *keys)


def test_an_honest_report_comes_out_the_same(log, honest, report, town):
    code, output = run_json(*options(log, honest.folder, report))
    assert (code, output.get("same")) == (0, True), output
    assert output["rankings"] == COUNT
    assert output["choices"] == sum(
        row.selection_index is not None for row in town.rows
    )
    assert output["openings"] == 4 * (COUNT - honest.manifest.erased)
    assert output["labels"] == len({site for site, *_ in STATEMENTS})
    assert output["auditors"] == {AUDITOR_KEY: output["labels"]}
    assert output["figures"] > 1000
    assert honest.manifest.erased == 7
    result = run(*options(log, honest.folder, report))
    assert "0 figures differ" in result.stdout
    assert "not computed" not in result.stdout
    assert output["declared"] == len(SITES)


@pytest.mark.parametrize("is_honest", [True, False])
def test_an_auditor_says_in_the_log_which_report_came_out(
    log, honest, report, tmp_path, is_honest
):
    """Of one with another figure he says that it did not."""
    key = generate_private_key("Ed25519")
    file, pem = tmp_path / "report.json", tmp_path / "auditor.pem"
    output = json.loads(report.read_bytes())
    output["counts"]["selections"] += not is_honest
    body = report.read_bytes() if is_honest else json.dumps(output).encode()
    sign(file, body)
    pem.write_bytes(private_key_pem(key))
    pem.chmod(0o600)
    with serving(log) as served:
        served.answers["/v1/attestations"] = {"leafHash": "0" * 64}
        words = options(served.url, honest.folder, file)
        name = ("--attest-as", "auditor.example", "--auditor-key", pem)
        code = run(*words, *name).exit_code
    (posted,) = map(json.loads, served.posted)
    rescoring = Rescoring.parse(posted)
    rescoring.verify()
    assert rescoring.report == digest_of(body)
    assert (rescoring.checked_count, rescoring.first_index) == (COUNT, 0)
    assert (code, rescoring.mismatch_count) == ((0, 0) if is_honest else (1, 1))


@pytest.mark.slow
def test_it_needs_no_database_and_no_more_of_the_source(log, honest, report, tmp_path):
    """As on another machine: a copy of the package, and an environment with nothing."""
    shutil.copytree(
        ROOT / "registry",
        tmp_path / "checkout" / "registry",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    words = map(str, options(log, honest.folder, report))
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "registry", "audit", *words, "--json"],
        env={"PYTHONPATH": str(tmp_path / "checkout")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["same"]


def test_a_changed_figure_is_reported(log, honest, report, tmp_path):
    output = json.loads(report.read_bytes())
    output["counts"]["selections"] += 1
    share = output["dimensions"][0]["classes"][0]["comparisons"][0]["share"]
    share["value"] = round(share["value"] + 0.00001, 6)
    output["sentences"][0] = "All is well."
    forged = sign(tmp_path / "report.json", json.dumps(output).encode())
    code, result = run_json(*options(log, honest.folder, forged))
    assert (code, result["archive"]) == (1, [])
    assert [difference["path"] for difference in result["differing"]] == [
        "counts/selections",
        "dimensions/size/classes/smallBusiness/comparisons/logarithmic/share/value",
        "sentences/0",
    ]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(missing, "is not in the archive", id="a ranking missing"),
        pytest.param(invented, "the log has none", id="a ranking invented"),
        pytest.param(
            reordered, "the answer is not what was logged", id="an order changed"
        ),
    ],
)
def test_an_archive_unlike_the_log_is_found_out(
    log, report, tmp_path, change, expected
):
    """Signed by the registry all the same: it is the registry that is audited."""
    town = played(COUNT)
    change(town)
    write(tmp_path / "archive", town.rows, checkpoint=note_of(log))
    code, result = run_json(*options(log, tmp_path / "archive", report))
    assert code == 1, result
    assert any(expected in line for line in result["archive"]), result["archive"]
    assert len(result["archive"]) < 5
    assert result["differing"]


@pytest.mark.parametrize(
    "trials_and_expected",
    [
        ((), "the archive has 0 runs of trials, and the log has 1"),
        (
            (((replace(BRAND, violations=0), *SWAPS), SALT),),
            "the trials of 2026-11-20 are not those that the log has",
        ),
        (
            (((replace(BRAND, perturbation="tier"), *SWAPS), SALT),),
            "the trials of 2026-11-20 are not those that the log has",
        ),
        (
            (((BRAND, replace(SWAPS[0], violations=79), *SWAPS[1:]), SALT),),
            "the pairs of sites of 2026-11-20 are not those that the log has",
        ),
        (
            (((BRAND,), SALT),),
            "the pairs of sites of 2026-11-20 are not those that the log has",
        ),
        (
            (((BRAND, *SWAPS), SALT[::-1]),),
            "the pairs of sites of 2026-11-20 are not those that the log has",
        ),
    ],
    ids=[
        *("left out", "without violations", "of something else"),
        *("other pairs", "without pairs", "another salt"),
    ],
)
def test_trials_unlike_those_in_the_log_are_found_out(
    log, town, report, tmp_path, trials_and_expected
):
    trials, expected = trials_and_expected
    write(tmp_path / "archive", town.rows, checkpoint=note_of(log), trials=trials)
    code, result = run_json(*options(log, tmp_path / "archive", report))
    assert (code, result["archive"]) == (1, [expected])


def test_a_number_of_sites_that_makes_small_samples_do_is_found_out(
    log, honest, report, tmp_path
):
    """Of a registry of a million sites a sample may be any."""
    shutil.copytree(honest.folder, tmp_path / "archive")
    write_manifest(
        tmp_path / "archive", struct_replace(honest.manifest, sites=10**6), KEY
    )
    code, result = run_json(*options(log, tmp_path / "archive", report))
    assert (code, result["archive"]) == (1, ["it has 30 sites, not 1000000"])


@pytest.mark.parametrize("is_kept", [True, False], ids=["this one", "another"])
def test_a_report_on_record_is_held_against_the_file(honest, report, tmp_path, is_kept):
    town = played(COUNT)
    town.now = WINDOW.end_at
    digest = digest_of(report.read_bytes() if is_kept else b"another")
    window = {"start_at": WINDOW.start_at, "end_at": WINDOW.end_at}
    town.log(report_record(**town.head, **window, forms={"json": digest}))
    log = publish(tmp_path / "log", town.bodies)
    code, result = run_json(*options(log, honest.folder, report))
    assert (code, result["isTheKeptOne"]) == (int(not is_kept), is_kept)
    assert (result["differing"], result["archive"]) == ([], [])
    assert result["keptAtLeaf"] == len(town.bodies) - 1


def test_a_changed_label_moves_figures(log, report, town, tmp_path):
    sites = disclosures()
    sites[0], sites[1] = (
        type(sites[0])(**{**fields(sites[0]), "size": sites[1].size}),
        sites[1],
    )
    write(tmp_path / "archive", town.rows, checkpoint=note_of(log), sites=sites)
    # What the registration is said to tell is changed with it; its owner signed another.
    code, result = run_json(*options(log, tmp_path / "archive", report))
    assert (code, len(result["archive"])) == (1, 1)
    assert result["differing"]
    assert all(
        "size" in difference["path"] or "sentences" in difference["path"]
        for difference in result["differing"]
    ), result["differing"]


def fields(site):
    return {name: getattr(site, name) for name in site.__slots__}


def swap_file(folder):
    file = folder / "sites.parquet"
    file.write_bytes(file.read_bytes() + b" ")


def drop_file(folder):
    (folder / "rankings" / "day=2026-11-20" / "rankings.parquet").unlink()


def swap_manifest(folder):
    file = folder / manifests.MANIFEST
    file.write_bytes(file.read_bytes().replace(b'"erased":7', b'"erased":6'))


def other_columns(folder):
    """Signed, and of the right digest, but none of ours."""
    file = folder / "sites.parquet"
    day = folder / "rankings" / "day=2026-11-20" / "rankings.parquet"
    shutil.copy(file, day)
    manifest = manifests.parse_manifest((folder / manifests.MANIFEST).read_bytes())
    for entry in manifest.files:
        entry.sha256 = digest_file(folder / entry.name)
    write_manifest(folder, manifest, KEY)


def no_parquet(folder):
    (folder / "sites.parquet").write_bytes(b"PAR1 and nothing more")
    manifest = manifests.parse_manifest((folder / manifests.MANIFEST).read_bytes())
    for file in manifest.files:
        file.sha256 = digest_file(folder / file.name)
    write_manifest(folder, manifest, KEY)


@pytest.mark.parametrize(
    "harm", [swap_file, drop_file, swap_manifest, other_columns, no_parquet]
)
def test_an_archive_that_is_not_as_signed_gives_no_verdict(
    log, honest, report, tmp_path, harm
):
    shutil.copytree(honest.folder, tmp_path / "archive")
    harm(tmp_path / "archive")
    result = run(*options(log, tmp_path / "archive", report))
    assert result.exit_code == 2, result.output
    assert "archive_damaged" in result.output or "signature_invalid" in result.output


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"path,section\r\n",
        b'{"version":"fairness-report/3","terms":{"window":{}}}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_is_no_report_gives_no_verdict(log, honest, tmp_path, body):
    result = run(*options(log, honest.folder, sign(tmp_path / "report.json", body)))
    assert result.exit_code == 2, result.output
    assert "report_not_reproducible" in result.output


def test_a_log_that_lost_what_the_archive_was_made_from_gives_no_verdict(
    town, honest, report, tmp_path
):
    other = played(COUNT)
    del other.bodies[-1]
    shorter = publish(tmp_path / "log", other.bodies)
    result = run(*options(shorter, honest.folder, report))
    assert (result.exit_code, "log_shrunk" in result.output) == (2, True)
    result = run(*options(tmp_path / "absent", honest.folder, report))
    assert result.exit_code == 2


def test_another_signature_gives_no_verdict(log, honest, report, tmp_path):
    copied = sign(tmp_path / "report.json", report.read_bytes() + b" ")
    shutil.copy(report.with_name("report.json.jws"), tmp_path / "report.json.jws")
    assert run(*options(log, honest.folder, copied)).exit_code == 2
    (tmp_path / "report.json.jws").unlink()
    assert run(*options(log, honest.folder, copied)).exit_code == 2


def test_sites_of_no_record_are_reported_as_unknown(town, tmp_path):
    """What is ranked and listed nowhere stands in the archive all the same."""
    some = [
        disclosure
        for disclosure in disclosures()
        if disclosure.site_id != disclosures()[3].site_id
    ]
    result = archived(tmp_path / "archive", town.rows, sites=some)
    assert result.manifest.sites == len(SITES)


@pytest.mark.parametrize(
    "terms", [{"seed": 7}, {"minimum_cell": 31}, {"replicates": 2_001}], ids=str
)
def test_terms_that_a_registry_chose_for_its_figures_are_found_out(
    log, honest, tmp_path, terms
):
    """Every report has the same seed, so that nobody draws until an interval suits."""
    chosen = report_of_archive(
        honest, ALGORITHM, replace(TERMS, **terms), DEFAULT_POLICY
    )
    file = sign(tmp_path / "report.json", format_json(chosen))
    code, result = run_json(*options(log, honest.folder, file))
    (name,) = terms
    name = name.replace("_c", "C")
    assert code == 1
    assert f"terms/{name}" in [figure["path"] for figure in result["differing"]]


def test_runs_of_trials_that_no_record_tells_of_are_not_computed(
    log, town, report, tmp_path
):
    """In front of the first that the log has: they may be of before, or invented."""
    invented = ((replace(BRAND, trials=9_000, violations=0), *SWAPS), SALT)
    trials = (invented, *TRIALS)
    archive = archived(
        tmp_path / "archive", town.rows, checkpoint=note_of(log), trials=trials
    )
    output = report_of_archive(archive, ALGORITHM, TERMS, DEFAULT_POLICY)
    file = sign(tmp_path / "report.json", format_json(output))
    code, result = run_json(*options(log, archive.folder, file))
    assert (code, result["archive"], result["differing"]) == (3, [], [])
    assert result["notChecked"] == ["1 runs of trials: no record commits to them"]


@pytest.mark.parametrize("left_s", [20 * 3600, 1], ids=["hours", "the last second"])
@pytest.mark.parametrize("kind", ["label", "registration"])
def test_what_came_before_the_end_does_not_stand_behind_the_tree(
    report, tmp_path, kind, left_s
):
    """A record of which the archive knows nothing, as its tree is of before it."""
    town = played(COUNT)
    early = note_of(publish(tmp_path / "early", town.bodies))
    town.now = WINDOW.end_at - timedelta(seconds=left_s)
    if kind == "label":
        town.label(SITES[20], Label(size="large"))
    else:
        town.register(disclosures()[20], statement_of(disclosures()[20], seq=2))
    archive = archived(tmp_path / "archive", town.rows, checkpoint=early)
    log = publish(tmp_path / "log", town.bodies)
    code, result = run_json(*options(log, archive.folder, report))
    assert code == 1
    (difference,) = result["archive"]
    assert f"a {kind} of 2026-11-2" in difference
    assert "stands behind the archive's tree" in difference
