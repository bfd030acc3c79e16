"""`bench relevance` on a set of its own, and on hostile folders."""

import json
import math
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from registry.bench.relevance import ndcg, relevance

SHARED = Path(__file__).parents[3] / "shared" / "bench"
DOCUMENTS = [
    {"id": "a", "name": "bookTable", "category": "", "desc": "Reserve a table", "params": "guests how many"},
    {"id": "b", "name": "convertCurrency", "category": "finance", "desc": "Convert euros to dollars", "params": ""},
    {"id": "c", "name": "dailyForecast", "category": "weather", "desc": "Rain and sun for tomorrow", "params": "city "},
]  # fmt: skip
QUESTIONS = [
    {"id": "1", "text": "will it rain tomorrow"},
    {"id": "2", "text": "reserve a table for three guests"},
    {"id": "3", "text": "exchange euros"},
    {"id": "unjudged", "text": "anything"},
]
QRELS = "query-id\tcorpus-id\tscore\n1\tc\t2\n1\ta\t0\n2\ta\t1\n3\tb\t1\n"


def write_set(folder: Path, **changed: str) -> Path:
    """docs, queries, qrels: their content, where it is not as above."""
    folder.mkdir(exist_ok=True)
    files = {
        "docs": "\n".join(map(json.dumps, DOCUMENTS)),
        "queries": "\n".join(map(json.dumps, QUESTIONS)) + "\n\n",
        "qrels": QRELS,
    } | changed
    (folder / "docs.jsonl").write_text(files["docs"])
    (folder / "queries.jsonl").write_text(files["queries"])
    (folder / "qrels.tsv").write_text(files["qrels"])
    return folder


def test_a_set_that_is_found_whole_gets_full_marks(tmp_path: Path) -> None:
    result = CliRunner().invoke(relevance, [str(write_set(tmp_path)), "--json"])
    assert result.exit_code == 0
    output = json.loads(result.stdout)
    figures = ("ndcg_at_10", "recall_at_10", "recall_at_20", "ndcg_at_10_eligible")
    assert [output[name] for name in figures] == [1.0] * 4
    assert output["answered"] == 1.0
    assert output["sets"][0]["languages"] == []
    assert output["ms_per_query"] > 0
    assert output["sets"][0]["queries"] == 3


def test_figures_are_told_by_language_where_requests_have_one(tmp_path: Path) -> None:
    questions = [
        {"id": "1", "text": "will it rain tomorrow", "lang": "en"},
        {"id": "2", "text": "einen Tisch für drei Gäste reservieren", "lang": "de"},
        {"id": "3", "text": "weather", "lang": "en"},
    ]
    queries = "\n".join(map(json.dumps, questions))
    folder = write_set(tmp_path, queries=queries)
    (own,) = json.loads(run(str(folder), "--json"))["sets"]
    by_language = {row["lang"]: row for row in own["languages"]}
    assert {lang: row["queries"] for lang, row in by_language.items()} == {
        "en": 2,
        "de": 1,
    }
    assert by_language["de"]["ndcg_at_10"] == by_language["de"]["answered"] == 1.0
    assert by_language["en"]["ndcg_at_10"] < 1.0, (
        "the third is judged to want currencies"
    )
    assert "  de" in run(str(folder))


def test_sites_have_their_own_actions_or_those_of_another_set(tmp_path: Path) -> None:
    site = {"id": "a", "name": "", "desc": "", "actions": [{"name": "bookTable"}]}
    bare = {"id": "b", "name": "", "desc": ""}
    of_b = {"id": "b::rain", "name": "", "desc": "Forecast of rain for tomorrow"}
    folder = write_set(tmp_path / "own", docs=f"{json.dumps(site)}\n{json.dumps(bare)}")
    qrels = "query-id\tcorpus-id\tscore\n1\tb\t1\n2\ta\t1\n"
    (folder / "qrels.tsv").write_text(qrels)
    others = write_set(tmp_path / "others", docs=json.dumps(of_b))
    without = json.loads(run(str(folder), "--json"))
    given = json.loads(run(str(folder), "--actions", str(others), "--json"))
    assert without["ndcg_at_10_eligible"] == 0.5
    assert given["ndcg_at_10_eligible"] == 1.0


def run(*arguments: str) -> str:
    result = CliRunner().invoke(relevance, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_time_to_read_is_a_part_of_the_time(tmp_path: Path) -> None:
    result = CliRunner().invoke(relevance, [str(write_set(tmp_path)), "--json"])
    output = json.loads(result.stdout)
    assert 0 < output["read_ms_per_query"] <= output["ms_per_query"]


def test_several_sets_are_reported_one_by_one_and_on_average(tmp_path: Path) -> None:
    whole = write_set(tmp_path / "whole")
    unfindable = QRELS.replace("1\tc\t2", "1\tnowhere\t2")
    missing = write_set(tmp_path / "missing", qrels=unfindable)
    result = CliRunner().invoke(relevance, [str(whole), str(missing), "--json"])
    output = json.loads(result.stdout)
    assert [item["set"] for item in output["sets"]] == ["whole", "missing"]
    assert output["sets"][1]["ndcg_at_10"] == pytest.approx(2 / 3, abs=1e-3)
    assert output["ndcg_at_10"] == pytest.approx(5 / 6, abs=1e-3)
    shown = CliRunner().invoke(relevance, [str(whole), str(missing)])
    assert shown.exit_code == 0
    assert "mean" in shown.stdout


def test_equals_stand_in_an_order_that_knows_nothing_of_what_is_right(
    tmp_path: Path,
) -> None:
    """Thirty copies, of which one is right: seldom the first, whatever its place."""
    copies = [DOCUMENTS[0] | {"id": f"{number}"} for number in range(30)]
    questions = [QUESTIONS[1] | {"id": f"{number}"} for number in range(30)]
    answers = "".join(f"{number}\t{number}\t1\n" for number in range(30))
    folder = write_set(
        tmp_path,
        docs="\n".join(map(json.dumps, copies)),
        queries="\n".join(map(json.dumps, questions)),
        qrels=f"query-id\tcorpus-id\tscore\n{answers}",
    )
    result = CliRunner().invoke(relevance, [str(folder), "--json"])
    assert json.loads(result.stdout)["recall_at_10"] == pytest.approx(1 / 3, abs=1e-3)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param({"docs": "{"}, "docs.jsonl, line 1", id="no JSON"),
        pytest.param({"docs": "[]"}, "docs.jsonl, line 1", id="no object"),
        pytest.param({"docs": '{"id": 1}'}, "line 1", id="an id that is a number"),
        pytest.param({"docs": '{"id": "a"}'}, "line 1", id="no name"),
        pytest.param({"docs": ""}, "no document", id="no documents"),
        pytest.param(
            {"docs": "\n".join([json.dumps(DOCUMENTS[0])] * 2)}, "twice", id="doubles"
        ),
        pytest.param({"queries": '{"id": "1"}'}, "queries.jsonl, line 1", id="no text"),
        pytest.param({"qrels": "1\tc\t1\n"}, "header", id="no header"),
        pytest.param({"qrels": QRELS + "1 c 1"}, "line 6", id="no tabs"),
        pytest.param({"qrels": QRELS + "1\tc\t-1"}, "line 6", id="negative grade"),
        pytest.param({"qrels": QRELS + "1\tc\t\u0661"}, "line 6", id="other digits"),
        pytest.param({"qrels": QRELS + f"1\tc\t{9**99}"}, "at most", id="huge grade"),
        pytest.param({"qrels": QRELS + "x\tc\t1"}, "no query", id="unknown query"),
        pytest.param({"qrels": QRELS.partition("\n")[0]}, "no question", id="none"),
    ],
)
def test_what_is_wrong_is_told_by_file_and_line(
    changed: dict[str, str], expected: str, tmp_path: Path
) -> None:
    result = CliRunner().invoke(relevance, [str(write_set(tmp_path, **changed))])
    assert result.exit_code == 1
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


def test_a_folder_without_a_set_is_reported(tmp_path: Path) -> None:
    result = CliRunner().invoke(relevance, [str(tmp_path)])
    assert result.exit_code == 1
    assert "docs.jsonl can't be read" in result.stderr


def test_gains_are_graded_and_discounted_by_their_place() -> None:
    grades = {"a": 3, "b": 1}
    assert ndcg([3, 1], grades) == 1
    assert ndcg([0, 3], grades) == pytest.approx(
        (3 / math.log2(3)) / (3 + 1 / math.log2(3))
    )
    assert ndcg([1, 3], grades) < 1
    assert ndcg([], grades) == 0


def part_of(public: Path, folder: Path, queries: int = 200, others: int = 8) -> Path:
    """A copy of the set with so many of its queries, evenly drawn.

    Beside the documents that those judge, it has one in so many of the others.
    """
    copy = shutil.copytree(public, folder / public.name)
    rows = (copy / "queries.jsonl").read_text().splitlines(keepends=True)
    chosen = rows[:: -(-len(rows) // queries)]
    ids = {json.loads(line)["id"] for line in chosen}
    header, *grades = (copy / "qrels.tsv").read_text().splitlines(keepends=True)
    judged = [row for row in grades if row.partition("\t")[0] in ids]
    right = {row.split("\t")[1] for row in judged}
    documents = (copy / "docs.jsonl").read_text().splitlines(keepends=True)
    left = [
        line
        for number, line in enumerate(documents)
        if number % others == 0 or json.loads(line)["id"] in right
    ]
    (copy / "queries.jsonl").write_text("".join(chosen))
    (copy / "qrels.tsv").write_text("".join([header, *judged]))
    (copy / "docs.jsonl").write_text("".join(left))
    return copy


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the retrieval sets are not here")
def test_the_public_sets_are_found_as_well_as_the_policy_promises(
    tmp_path: Path,
) -> None:
    """Of a part: floors lie as far below its figures as those of the whole sets would."""
    folders = [part_of(folder, tmp_path) for folder in sorted(SHARED.iterdir())]
    result = CliRunner().invoke(relevance, [*map(str, folders), "--json"])
    output = json.loads(result.stdout)
    floors = {
        "metatool": 0.68,
        "metatool-multi": 0.81,
        "stabletb-api": 0.79,
        "stabletb-site": 0.865,
    }
    assert output["ndcg_at_10"] >= 0.80
    for item in output["sets"]:
        assert item["ndcg_at_10"] >= floors[item["set"]]
