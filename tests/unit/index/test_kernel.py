"""The compiled kernel against NumPy, row by row and search by search.

Corpora of several segments, with all that bounds could get wrong: rows without a place,
ties, groups, dead rows, terms that are rare, frequent or nearly everywhere, embeddings
of nothing, pages of yesterday.
"""

import ctypes
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pytest

from registry.compiled.compile import LIBRARY
from registry.compiled.library import find_library
from registry.index.columns.rows import HIGHER_TIER, LOCAL, Bodies, Rows
from registry.index.columns.signatures import SIGNATURE_BYTES
from registry.index.query.kernel import Kernel
from registry.index.query.oracle import Oracle
from registry.index.query.scoring_parameters import ScoringParameters
from registry.index.segments.layout import order_rows
from registry.index.segments.part import BEFORE_ALL, IndexPart
from registry.index.segments.segment import BLOCK_ROWS, LEAD, build_segment
from registry.ranking.decay import decay_table
from registry.ranking.encoders.vectors import DIMENSIONS, reciprocals, unpack_sites
from registry.ranking.proximity import squared_chords
from registry.ranking.rank_score import RankScale
from tests.conftest import skip_or_fail

NOW_S = 1_795_000_000
DAY_S = 86_400
SCALES = ((100_000, 100), (1, 40_000), (9_999_999, 2_500))
"""As people are shown scores; exact ones alone; so coarse that many rows look the same."""
UNIT = 4096  # of the score, see `csrc/bounds.h`
DRAWS = int(os.environ.get("FAIR_REGISTRY_DRAWS", "60"))
"""Requests of each of the four corpora; docs/benchmarks.md tells of more."""

RADIUS = 8_000_000
NEAR = decay_table(100).astype(np.int32)
FRESH = decay_table(90, 2000).astype(np.int32)
TERMS = np.array([7 * n + 1000 for n in range(60)], np.uint64) * np.uint64(2)
CATEGORIES = np.array([11, 13, 15], np.uint64)


PLACES = np.random.default_rng(78).normal(size=(30, 3))
PLACES /= np.linalg.norm(PLACES, axis=1)[:, None]
CENTRES = np.random.default_rng(77).normal(scale=2.5, size=(9, DIMENSIONS))


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    if not LIBRARY.exists():
        skip_or_fail("the kernel is not compiled here: no C compiler was found")
    compiled = find_library()
    assert compiled is not None, "it was compiled from other sources"
    return compiled


def random_rows(rng: np.random.Generator, n: int, first_id: int) -> Rows:
    share = 0.9 / np.arange(1, len(TERMS) + 1)
    says = rng.random((n, len(TERMS))) < share
    category = rng.integers(0, len(CATEGORIES), n)
    hashes, impacts, lengths = [], [], []
    for row in range(n):
        own = np.concatenate([TERMS[says[row]], CATEGORIES[[category[row]]]])
        values = rng.integers(1, 256, len(own), dtype=np.uint8)
        values[-1] = 1
        order = np.argsort(own)
        hashes.append(own[order])
        impacts.append(values[order])
        lengths.append(len(own))
    places = PLACES[rng.integers(0, len(PLACES), n)]
    places = places + rng.normal(scale=0.01, size=(n, 3))
    vectors = places / np.linalg.norm(places, axis=1)[:, None] * RADIUS
    topics = CENTRES[rng.integers(0, len(CENTRES), n)]
    noise = rng.normal(scale=rng.choice([0.5, 3], (n, 1)), size=topics.shape)
    numbers = np.clip(np.rint(topics + noise), -8, 7).astype(np.int8).view(np.uint8)
    embeddings = (numbers[:, 0::2] & 15) | (numbers[:, 1::2] << 4)
    embeddings[rng.random(n) < 0.05] = 0
    few = rng.integers(0, 4, n)
    ids = np.arange(first_id, first_id + n)
    return Rows(
        site_ids=ids,
        publishers=ids,
        representatives=np.where(
            rng.random(n) < 0.1, first_id + rng.integers(0, 9, n), 0
        ),
        depth=(5000 + few * 100).astype(np.uint16),
        quality=(7000 + rng.integers(0, 3, n) * 50).astype(np.uint16),
        changed_s=(NOW_S - rng.integers(-2, 400, n) * DAY_S).astype(np.uint32),
        flags=(
            (rng.random(n) < 0.7) * LOCAL + (rng.random(n) < 0.5) * HIGHER_TIER
        ).astype(np.uint8),
        vectors=np.rint(vectors).astype(np.int32),
        embeddings=embeddings,
        reciprocals=reciprocals(unpack_sites(embeddings)),
        signatures=np.zeros((n, SIGNATURE_BYTES), np.uint8),
        bodies=Bodies.of([b""] * n),
        starts=np.concatenate([[0], np.cumsum(lengths)]),
        hashes=np.concatenate(hashes),
        impacts=np.concatenate(impacts),
    )


def random_part(
    rng: np.random.Generator, n: int, first_id: int, topic_rows: int = BLOCK_ROWS // 2
) -> IndexPart:
    """topic_rows: more than a block, and blocks of a topic share their axis."""
    rows = random_rows(rng, n, first_id)
    as_of_s = NOW_S - DAY_S
    days = np.maximum(as_of_s - rows.changed_s.astype(np.int64), 0) // DAY_S
    fresh = FRESH[np.minimum(days, len(FRESH) - 1)].astype(np.int64)
    merits = 1500 * (rows.depth.astype(np.int64) + rows.quality) + 1000 * fresh
    order = order_rows(rows, merits, topic_rows=topic_rows)
    segment = build_segment(rows.take(order), merits[order], as_of_s)
    alive = np.zeros(segment.blocks * BLOCK_ROWS, np.uint8)
    alive[:n] = rng.random(n) < 0.95
    return IndexPart(segment, alive)


def random_constants(rng: np.random.Generator) -> ScoringParameters:
    chosen = rng.choice(len(TERMS), rng.integers(0, 6), replace=False)
    terms = [(int(TERMS[item]), int(rng.integers(0, 12_000))) for item in chosen]
    if rng.random() < 0.2:
        terms.append((2, 9000))  # nobody says it
    meant = CENTRES[rng.integers(0, len(CENTRES))]
    meant = meant + rng.normal(scale=rng.choice([0.3, 2]), size=DIMENSIONS)
    vector = np.rint(meant / np.abs(meant).max() * 127).astype(np.int8)
    length = np.linalg.norm(vector.astype(float))
    ceiling = max(1, sum(weight for _, weight in terms))
    place = PLACES[rng.integers(0, len(PLACES))] + rng.normal(scale=0.02, size=3)
    return ScoringParameters(
        terms=tuple(terms),
        filters=tuple(
            int(category)
            for category in CATEGORIES[: rng.integers(0, 2)]
            if rng.random() < 0.5
        ),
        vector=vector.tobytes() if rng.random() < 0.9 else bytes(DIMENSIONS),
        lexical_multiplier=(10_000 << 32) // (255 * ceiling),
        meaning_multiplier=int(rng.choice([0, 0.4, 1, 1]) * (10_000 << 16) / length),
        lexical_share_bp=int(rng.integers(3500, 7001)),
        full_relevance_bp=7000,
        floor=int(rng.choice([1, 1300, 2900, 6000])),
        radius_km=0,
        meaning_min_bp=int(rng.choice([0, 400, 3000])),
        meaning_only_min_bp=int(rng.choice([0, 500, 3000])),
        answered_bp=(0, 0),
        near=NEAR,
        fresh=FRESH,
        squared_chords=squared_chords(),
        neutral=5000,
        origin=(
            tuple(np.rint(place / np.linalg.norm(place) * RADIUS).astype(int).tolist())
            if rng.random() < 0.5
            else None
        ),
        now_s=int(NOW_S + rng.integers(-3, 3) * DAY_S),
        weights=(4000, 2000, 1500, 1500, 1000),
        scale=RankScale(*SCALES[rng.integers(len(SCALES))]),
    )


@dataclass(frozen=True)
class Pair:
    parts: list[IndexPart]
    library: ctypes.CDLL


SIZES = {
    1: [3 * BLOCK_ROWS + 17],
    2: [25 * BLOCK_ROWS, 31],
    3: [1, BLOCK_ROWS, 24 * BLOCK_ROWS],
    4: [25 * BLOCK_ROWS, 6 * BLOCK_ROWS],
}
TOPIC_ROWS = {4: 6 * BLOCK_ROWS}


@pytest.fixture(scope="module", params=SIZES)
def pair(library: ctypes.CDLL, request: pytest.FixtureRequest) -> Pair:
    rng = np.random.default_rng(request.param)
    topic_rows = TOPIC_ROWS.get(request.param, BLOCK_ROWS // 2)
    parts = [
        random_part(rng, n, 1 + 100_000 * number, topic_rows)
        for number, n in enumerate(SIZES[request.param])
    ]
    return Pair(parts, library)


def as_rows(result: npt.NDArray[np.void]) -> list[tuple[int, ...]]:
    return sorted(result.tolist())


@pytest.mark.parametrize("first", range(0, DRAWS, 20))
def test_both_find_the_same(pair: Pair, first: int) -> None:
    for number in range(first, first + 20):
        rng = np.random.default_rng(number)
        constants = random_constants(rng)
        fast, slow = Kernel(pair.parts, pair.library), Oracle(pair.parts)
        k = int(rng.choice([1, 3, 20, 300]))
        result, _ = fast.search(constants, k=k)
        assert as_rows(result) == as_rows(slow.search(constants, k=k)[0])
        if len(result):
            after = int(rng.choice(result["rank_score"]))
            later, shown = fast.search(constants, k=k, after=after)
            expected, earlier = slow.search(constants, k=k, after=after)
            assert as_rows(later) == as_rows(expected)
            assert set(shown["representative"].tolist()) == set(
                earlier["representative"].tolist()
            )


@pytest.mark.parametrize("first", range(0, DRAWS, 20))
def test_no_eligible_row_is_bounded_below_its_score(pair: Pair, first: int) -> None:
    """Of every row: a search shows a bound that is too low only where it is tight."""
    for number in range(first, first + 20):
        constants = random_constants(np.random.default_rng(2000 + number))
        fast, slow = Kernel(pair.parts, pair.library), Oracle(pair.parts)
        for part, item in enumerate(pair.parts):
            rows = np.arange(len(item.segment), dtype=np.uint32)
            scored = slow.score(constants, part, rows)
            scores = scored["score"][scored["eligible"] != 0]
            bounds = fast.bounds(constants, part)[scored["eligible"] != 0]
            assert np.all(bounds["block"] >= scores)
            # A row passes if it may score what is wanted, in whole units.
            assert np.all(bounds["row"] // UNIT >= scores // UNIT)
            assert np.all(bounds["sketch"] >= scores)


@pytest.mark.parametrize("number", range(40))
def test_no_embedding_means_more_than_its_window_and_its_sketch_tell(
    number: int,
) -> None:
    rng = np.random.default_rng(number)
    topic_rows = (1 + number % 2 * 11) * BLOCK_ROWS // 2
    segment = random_part(rng, 5 * BLOCK_ROWS + 9, 1, topic_rows).segment
    lead = segment.sketches["lead"][: len(segment)]
    packed = np.concatenate([lead, segment.records["rest"]], axis=1)
    numbers = np.stack([packed & 15, packed >> 4], axis=2).reshape(
        len(packed), DIMENSIONS
    )
    units = numbers.astype(float) - 8
    units /= np.maximum(np.linalg.norm(units, axis=1), 1)[:, None]
    toward = units[rng.integers(len(units))] + rng.normal(scale=0.05, size=DIMENSIONS)
    columns = (segment.along, segment.across)
    beyond = (segment.sketches["rest_along"], segment.sketches["rest_across"])
    for first, (along, across) in ((0, columns), (LEAD, beyond)):
        query = toward[first:] / np.linalg.norm(toward[first:])
        axis = segment.axes[segment.axis_of, first:].astype(float)
        axis /= np.linalg.norm(axis, axis=1)[:, None]
        cosine = np.repeat(axis @ query, BLOCK_ROWS)[: len(units)]
        sine = np.sqrt(np.maximum(0, 1 - cosine**2))
        bound = cosine * along[: len(units)] / 127 + np.abs(cosine) / 254
        bound += sine * across[: len(units)] / 255 + 1e-5
        assert np.all(units[:, first:] @ query <= bound)


def test_windows_of_a_topic_share_their_axis_and_others_have_their_own() -> None:
    topics = random_part(
        np.random.default_rng(4), 25 * BLOCK_ROWS, 1, 6 * BLOCK_ROWS
    ).segment
    mixed = random_part(np.random.default_rng(2), 25 * BLOCK_ROWS, 1).segment
    for segment in (topics, mixed):
        numbers = segment.axis_of.tolist()
        assert sorted(set(numbers)) == list(range(len(segment.axes)))
        assert numbers == sorted(numbers)
    assert len(topics.axes) < 20
    assert len(mixed.axes) > 20


def test_no_row_has_more_merit_than_its_window_and_its_column_tell() -> None:
    rng = np.random.default_rng(3)
    rows = random_rows(rng, 700, 1)
    merits = rng.integers(0, 60_000_000, len(rows))
    segment = build_segment(rows, merits, NOW_S)
    best = np.repeat(segment.block_merit.astype(np.int64) * 1024, BLOCK_ROWS)
    seen_merits = best - segment.behind.astype(np.int64) * 65_536
    assert np.all(seen_merits[: len(rows)] >= merits)
    assert np.all(
        (seen_merits[: len(rows)] - merits < 65_536 + 1024)
        | (segment.behind[: len(rows)] == 255)
    )


@pytest.mark.parametrize("number", range(20))
def test_both_score_and_count_the_same(pair: Pair, number: int) -> None:
    rng = np.random.default_rng(1000 + number)
    constants = random_constants(rng)
    fast, slow = Kernel(pair.parts, pair.library), Oracle(pair.parts)
    marked, expected = fast.eligible(constants), slow.eligible(constants)
    for part, item in enumerate(pair.parts):
        assert marked[part].tolist() == expected[part].tolist()
        rows = np.arange(len(item.segment), dtype=np.uint32)
        scored = fast.score(constants, part, rows)
        assert scored.tolist() == slow.score(constants, part, rows).tolist()
    hashes = [term for term, _ in constants.terms]
    assert fast.containing(hashes) == slow.containing(hashes)


def test_thousands_of_equals_are_all_candidates(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(5)
    rows = random_rows(rng, 1, 1).take(np.zeros(9000, np.int64))
    rows = replace(
        rows, site_ids=np.arange(1, 9001), representatives=np.zeros(9000, np.int64)
    )
    segment = build_segment(rows, np.zeros(9000, np.int64) + 10**8 // 2, NOW_S)
    alive = (np.arange(segment.blocks * BLOCK_ROWS) < 9000).astype(np.uint8)
    constants = replace(
        random_constants(rng),
        terms=((int(rows.hashes[-1]), 1),),
        filters=(),
        floor=1,
        lexical_multiplier=1 << 40,
    )
    result, _ = Kernel([IndexPart(segment, alive)], library).search(constants, k=1)
    assert len(result) == 9000


@pytest.fixture(scope="module")
def crowd() -> IndexPart:
    """One row in a hundred is at the last of the places; more blocks than are likeliest."""
    rng = np.random.default_rng(4)
    rows = random_rows(rng, 5 * BLOCK_ROWS, 1).take(
        np.arange(120 * BLOCK_ROWS) % (5 * BLOCK_ROWS)
    )
    place = rng.choice(30, len(rows), p=np.append(np.full(29, 0.99 / 29), 0.01))
    rows = replace(
        rows,
        site_ids=np.arange(1, len(rows) + 1),
        representatives=np.zeros(len(rows), np.int64),
        flags=np.full(len(rows), LOCAL, np.uint8),
        vectors=np.rint(PLACES[place] * RADIUS).astype(np.int32),
    )
    segment = build_segment(rows, np.full(len(rows), 30_000_000), NOW_S)
    return IndexPart(segment, np.ones(segment.blocks * BLOCK_ROWS, np.uint8))


@pytest.mark.parametrize("number", range(20))
def test_few_rows_near_the_user_are_found_among_many_that_are_far(
    library: ctypes.CDLL, crowd: IndexPart, number: int
) -> None:
    rng = np.random.default_rng(3000 + number)
    constants = replace(
        random_constants(rng),
        origin=tuple(np.rint(PLACES[29] * RADIUS).astype(int).tolist()),
        filters=(11,) if number % 2 else (),
        terms=((int(TERMS[number % 3]), 9000),),
        lexical_multiplier=(10_000 << 32) // (255 * 9000),
        meaning_multiplier=0,  # whoever is near and says the words stands before the others
        floor=1,
        now_s=NOW_S,
    )
    result, _ = Kernel([crowd], library).search(constants, k=20)
    expected, _ = Oracle([crowd]).search(constants, k=20)
    assert as_rows(result) == as_rows(expected)


def test_threads_that_search_at_a_time_do_not_share_their_room(pair: Pair) -> None:
    fast = Kernel(pair.parts, pair.library)
    query = [random_constants(np.random.default_rng(number)) for number in range(40)]
    alone = [as_rows(fast.search(item, k=20)[0]) for item in query]
    with ThreadPoolExecutor(4) as threads:
        beside = [threads.submit(fast.search, item, k=20) for item in query * 5]
        result = [as_rows(item.result()[0]) for item in beside]
    assert result == alone * 5


def test_the_largest_request_has_room(pair: Pair) -> None:
    rng = np.random.default_rng(7)
    terms = [(int(TERMS[number % len(TERMS)]), 90) for number in range(160)]
    constants = replace(
        random_constants(rng),
        terms=tuple(terms),
        filters=(11,) * 16,
        lexical_multiplier=(10_000 << 32) // (255 * 90 * 160),
        origin=tuple(np.rint(PLACES[0] * RADIUS).astype(int).tolist()),
    )
    fast, slow = Kernel(pair.parts, pair.library), Oracle(pair.parts)
    result, _ = fast.search(constants, k=20)
    assert as_rows(result) == as_rows(slow.search(constants, k=20)[0])
    assert len(result) > 0


def test_nothing_is_found_in_nothing(library: ctypes.CDLL) -> None:
    constants = random_constants(np.random.default_rng(1))
    assert len(Kernel([], library).search(constants, k=5, after=BEFORE_ALL)[0]) == 0


def test_more_terms_than_there_is_room_for_are_refused(library: ctypes.CDLL) -> None:
    constants = random_constants(np.random.default_rng(1))
    bound = Kernel([], library)
    with pytest.raises(ValueError, match="more terms"):
        bound.search(replace(constants, terms=((2, 1),) * 161), k=1)
    with pytest.raises(ValueError, match="filters"):
        bound.search(replace(constants, filters=(3,) * 17), k=1)
