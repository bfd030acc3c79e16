"""Made-up registries are what they claim, and what is compared can differ."""

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from registry.bench.kernel.recomputation import NOT_ELIGIBLE, recompute, top_rows
from registry.bench.kernel.rivals import measure_fts5
from registry.bench.kernel.sql_ranking import measure_sql
from registry.bench.rank import rank
from registry.bench.synthetic.language import TOPIC_WORDS, draw_ranks
from registry.bench.synthetic.queries import make_queries
from registry.bench.synthetic.site_rows import NOW, Registry, make_registry
from registry.index.columns.rows import GROUPED, LOCAL, Rows
from registry.index.query.index_searcher import is_compiled
from registry.index.query.scoring_parameters import (
    ScoringParameters,
    make_scoring_parameters,
)
from registry.ranking.encoders.encoder import load_encoder
from registry.ranking.encoders.vectors import reciprocals, unpack_sites
from registry.ranking.policy import DEFAULT_POLICY

SITES = 2_000
CHUNK = 1_000


@pytest.fixture(scope="module")
def synthetic() -> Registry:
    return make_registry()


@pytest.fixture
def same(synthetic: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is given the registry that it would make again."""
    monkeypatch.setattr("registry.bench.rank.make_registry", lambda: synthetic)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("registry.bench.synthetic.site_rows.CHUNK", CHUNK)
    monkeypatch.setattr("registry.bench.rank.CHUNK", CHUNK)


@pytest.fixture(scope="module")
def rows(synthetic: Registry) -> Rows:
    return synthetic.rows(0, SITES)


@pytest.fixture(scope="module")
def searches(synthetic: Registry, rows: Rows) -> list[ScoringParameters]:
    queries = make_queries(synthetic, rows, 48, load_encoder(), DEFAULT_POLICY)
    return [
        make_scoring_parameters(
            query, dict.fromkeys(query.request.terms, 4_000), NOW, DEFAULT_POLICY
        )
        for query in queries
    ]


# --- the registry ---------------------------------------------------------------------


def columns(rows: Rows) -> dict[str, list[object]]:
    others = {"bodies", "runs"}
    named = (field.name for field in fields(rows) if field.name not in others)
    return {name: getattr(rows, name).tolist() for name in named}


def test_a_registry_is_made_the_same_again(synthetic: Registry, rows: Rows) -> None:
    assert columns(make_registry().rows(0, SITES)) == columns(rows)


def test_another_seed_makes_another_registry(synthetic: Registry, rows: Rows) -> None:
    other = replace(synthetic, seed=synthetic.seed + 1).rows(0, SITES)

    assert other.hashes.tolist() != rows.hashes.tolist()


@pytest.mark.usefixtures("small_chunks")
def test_a_chunk_does_not_depend_on_what_is_made_before_it(synthetic: Registry) -> None:
    both = synthetic.rows(0, CHUNK + 500)
    second = synthetic.rows(CHUNK, CHUNK + 500)

    assert columns(both.take(np.arange(CHUNK, CHUNK + 500))) == columns(second)


def test_sites_are_as_described(rows: Rows) -> None:
    local = (rows.flags & LOCAL) != 0
    places = np.linalg.norm(rows.vectors.astype(np.float64), axis=1)

    assert len(set(rows.site_ids.tolist())) == SITES
    assert 0.55 < local.mean() < 0.75
    assert 0.12 < (places == 0).mean() < 0.18
    assert not (local & (places == 0)).any()
    assert np.allclose(places[places > 0], 8_000_000, rtol=1e-6)
    assert (rows.representatives != 0).mean() == pytest.approx(0.015)
    assert set(rows.representatives[rows.representatives != 0].tolist()) <= set(
        rows.site_ids.tolist()
    )
    assert not (rows.flags & GROUPED).any()


def test_a_site_says_each_term_once_and_every_term_counts(rows: Rows) -> None:
    row = np.repeat(np.arange(SITES), np.diff(rows.starts))
    pairs = set(zip(row.tolist(), rows.hashes.tolist(), strict=True))

    assert len(pairs) == len(rows.hashes)
    assert rows.impacts.min() >= 1
    assert 50 < len(rows.hashes) / SITES < 80


def test_embeddings_fit_their_reciprocals(rows: Rows) -> None:
    vectors = unpack_sites(rows.embeddings)

    assert rows.reciprocals.tolist() == reciprocals(vectors).tolist()
    assert np.abs(vectors).max() == 7
    assert (np.abs(vectors).max(axis=1) == 7).all()


def test_who_says_words_of_a_topic_means_it_too(
    synthetic: Registry, rows: Rows
) -> None:
    topic = synthetic.language.topics[0]
    hashes = synthetic.language.hashes[topic]
    row = np.repeat(np.arange(SITES), np.diff(rows.starts))
    counts = np.bincount(row[np.isin(rows.hashes, hashes)], minlength=SITES)
    direction = synthetic.language.meanings[topic[:20]].sum(axis=0)
    likeness = unpack_sites(rows.embeddings) @ direction * rows.reciprocals
    most, least = np.argsort(counts)[-20:], np.argsort(counts)[:200]

    # Sentences of single words have much in common, whatever the words.
    assert likeness[most].mean() > 1.2 * likeness[least].mean()


def test_low_ranks_are_drawn_more_often_and_none_is_outside() -> None:
    ranks = draw_ranks(np.random.default_rng(1), 100_000, TOPIC_WORDS)
    counts = np.bincount(ranks, minlength=TOPIC_WORDS)

    assert len(counts) == TOPIC_WORDS
    assert counts.min() > 0
    # 1/(0 + 2.7) to 1/(27 + 2.7), each spread over one rank.
    assert counts[0] / counts[27] == pytest.approx(9.4, rel=0.2)


def test_a_request_has_words_and_may_have_a_place_or_a_filter(
    synthetic: Registry, rows: Rows
) -> None:
    queries = make_queries(synthetic, rows, 300, load_encoder(), DEFAULT_POLICY)
    terms = [len(query.request.terms) for query in queries]
    filtered = [query for query in queries if query.filters != type(query.filters)()]

    assert len(queries) == 300
    assert (min(terms) >= 1, max(terms) <= 9) == (True, True)
    assert 100 < sum(query.cell is not None for query in queries) < 200
    assert 10 < len(filtered) < 60


# --- what is compared -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("standings", "representatives", "k", "expected"),
    [
        pytest.param([5, 9, 7], [0, 0, 0], 2, [1, 2], id="the best first"),
        pytest.param([5, 9, 5, 5], [0, 0, 0, 0], 2, [1, 0, 2, 3], id="equals of the last"),
        pytest.param([9, 8, 7], [4, 4, 0], 2, [0, 2], id="one stands for a group"),
        pytest.param([9, 9, 7], [4, 4, 0], 2, [0, 1, 2], id="equals of a group both"),
        pytest.param([NOT_ELIGIBLE, 3], [0, 0], 2, [1], id="fewer than asked for"),
        pytest.param([NOT_ELIGIBLE, 3], [4, 4], 1, [1], id="who is not eligible leads nothing"),
        pytest.param([NOT_ELIGIBLE] * 2, [0, 4], 1, [], id="nobody"),
    ],
)  # fmt: skip
def test_top_rows(
    standings: list[int], representatives: list[int], k: int, expected: list[int]
) -> None:
    result = top_rows(np.array(standings), np.array(representatives), k)

    assert result.tolist() == expected


def test_the_recomputed_depends_on_each_column(
    rows: Rows, searches: list[ScoringParameters]
) -> None:
    before = recompute(rows, searches).standings
    changed = {
        "depth": rows.depth + np.uint16(1),
        "quality": rows.quality + np.uint16(1),
        "changed_s": rows.changed_s - np.uint32(90 * 86_400),
        "flags": rows.flags ^ np.uint8(LOCAL),
        "vectors": -rows.vectors,
        "embeddings": np.roll(rows.embeddings, 1, axis=0),
        "reciprocals": rows.reciprocals // np.uint16(2),
        "impacts": np.maximum(1, rows.impacts // 2).astype(np.uint8),
    }

    for name, column in changed.items():
        after = recompute(replace(rows, **{name: column}), searches).standings
        assert (after != before).any(), name


@pytest.mark.slow
def test_sql_finds_what_the_definition_gives(
    tmp_path: Path, rows: Rows, searches: list[ScoringParameters]
) -> None:
    sql = measure_sql(tmp_path, rows, searches, 20, lambda _: None)
    again = recompute(rows, searches)
    expected = []
    for standings in again.standings:
        first = top_rows(standings, rows.representatives, 20).tolist()
        expected.append({(row, int(standings[row])) for row in first})

    assert sql.results == expected
    assert any(expected)
    assert len(sql.wall_ms) == len(searches)


def test_fts5_takes_every_request(
    tmp_path: Path, synthetic: Registry, rows: Rows
) -> None:
    queries = make_queries(synthetic, rows, 10, load_encoder(), DEFAULT_POLICY)
    words = [list(query.request.terms) for query in queries]

    assert len(measure_fts5(tmp_path, rows, synthetic.language, words)) == 10


@pytest.mark.usefixtures("same")
@pytest.mark.skipif(not is_compiled(), reason="the kernel is not compiled here")
def test_the_command_measures_and_skips_what_is_not_asked_for() -> None:
    arguments = ["--sites", "2000", "--queries", "40", "--rival", "none", "--json"]
    done = CliRunner().invoke(rank, arguments)
    output = json.loads(done.stdout)

    assert done.exit_code == 0
    assert (output["sites"], output["verified"], output["mismatches"]) == (2_000, 40, 0)
    assert output["kernel_cpu_ms_mean"] > 0
    assert 0 < output["cut1000_recall_at_20"] <= 1
    assert output["tantivy_cpu_ms_mean"] is output["sql_ms_mean"] is None
    assert "sql: skipped, not asked for" in done.stderr


@pytest.mark.usefixtures("same")
@pytest.mark.skipif(not is_compiled(), reason="the kernel is not compiled here")
def test_the_ratio_to_tantivy_is_of_the_same_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[list[str]] = []
    monkeypatch.setattr("registry.bench.rank.has_tantivy", lambda: True)
    monkeypatch.setattr("registry.bench.rank.load_tantivy", lambda *_: requests.append)
    arguments = ["--sites", "2000", "--queries", "40", "--rival", "tantivy", "--json"]
    done = CliRunner().invoke(rank, arguments)
    output = json.loads(done.stdout)

    assert done.exit_code == 0
    assert len(requests) == 40 + 20
    assert output["tantivy_cpu_ms_mean"] is not None
    assert output["mean_ratio_to_tantivy"] > 0


@pytest.mark.usefixtures("same", "small_chunks")
@pytest.mark.skipif(not is_compiled(), reason="the kernel is not compiled here")
def test_the_kernel_alone_is_measured_over_several_segments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("registry.bench.kernel.figures.SEGMENT_SITES", CHUNK)
    arguments = ["--sites", str(CHUNK + 600), "--queries", "10", "--kernel-only"]
    done = CliRunner().invoke(rank, [*arguments, "--json"])
    output = json.loads(done.stdout)

    assert done.exit_code == 0
    assert (output["sites"], output["segments"]) == (CHUNK + 600, 2)
    assert output["kernel_cpu_ms_mean"] > 0
    assert 0 < output["serving_mb"] < output["making_mb"]
    assert "verified" not in output
