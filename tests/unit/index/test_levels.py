"""Whatever the levels, an index answers as one that was built from its sites at once."""

import random
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.index.building import index_files
from registry.index.building.builder import Builder, Merge
from registry.index.building.index_files import IndexWriter
from registry.index.building.index_reader import IndexReader
from registry.index.query import eligible_estimate
from registry.index.query.index import Index
from registry.index.query.sample import splitmix64
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import search
from registry.index.segments.levels import Level, Sizes
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery

MakeProfile = Callable[..., Profile]
MakeRandom = Callable[[random.Random, int], Profile]
SMALL = Sizes(fresh=6, little=4, share=3)
WORDS = [f"term{number}" for number in range(30)]


def answers(index: Index, now: datetime) -> list[Any]:
    request = ParsedQuery(
        term_of={"term1": "term1", "term2": "term2"},
        vector=bytes(DIMENSIONS),
        confidence_bp=0,
    )
    ranked = search(index, Query(request=request), now=now, seed=bytes(32), k=99)
    findings = [ranked.sites, ranked.eligible, ranked.term_weights, ranked.generation]
    return [*findings, index.term_weights(WORDS), index.profiles()]


class Following:
    """A builder that follows changes, with a merge under way beside, and its files."""

    def __init__(self, folder: Path, sites: dict[int, Profile]) -> None:
        self.sites, self.folder = sites, folder
        self.builder = Builder.build(sites.values(), P, SMALL)
        self.writer, self.reader = IndexWriter(folder), IndexReader(folder, P)
        self.begun: tuple[Merge, Level] | None = None
        self.merges = 0

    def change(self, new: dict[int, Profile], gone: list[int]) -> None:
        self.builder = self.builder.with_changes(new.values(), gone)
        self.sites = {n: s for n, s in self.sites.items() if n not in gone} | new

    def begin(self) -> None:
        if self.begun is None and (merge := self.builder.find_merge()):
            self.begun = merge, self.writer.keep(merge.merged())

    def finish(self) -> None:
        if self.begun is not None:
            self.builder = self.builder.with_merged(*self.begun)
            self.begun = None
            self.merges += 1

    def put(self) -> None:
        self.builder = self.writer.put(self.builder)

    def restart(self) -> None:
        """As after a kill, once an index was put out: a merge under way is lost."""
        self.put()
        self.begun = None
        self.writer.close()
        self.writer = IndexWriter(self.folder)
        result = self.writer.find(P, SMALL)
        assert result is not None
        self.builder = result[0]

    def check(self, now: datetime) -> None:
        anew = answers(Builder.build(self.sites.values(), P).index, now)
        assert answers(self.builder.index, now) == anew
        self.put()
        read = self.reader.newest()
        assert read is not None
        assert answers(read, now) == anew


@pytest.fixture
def following() -> Iterator[Callable[[dict[int, Profile]], Following]]:
    with TemporaryDirectory() as folder:
        yield lambda sites: Following(Path(folder), sites)


STEPS = st.lists(
    st.one_of(
        st.tuples(
            st.just("change"),
            st.lists(st.integers(1, 40), max_size=9, unique=True),
            st.lists(st.integers(1, 40), max_size=5, unique=True),
        ),
        st.sampled_from([("begin",), ("finish",), ("put",), ("restart",)]),
    ),
    max_size=14,
)


@given(steps=STEPS, seed=st.integers(0, 99), first=st.integers(0, 30))
def test_changes_and_merges_in_any_order_equal_an_index_built_anew(
    steps: list[tuple[Any, ...]],
    seed: int,
    first: int,
    random_site: MakeRandom,
    now: datetime,
) -> None:
    rng = random.Random(seed)
    sites = {number: random_site(rng, number) for number in range(1, first + 1)}
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.setattr(index_files, "MAPPED_ROWS", 8)
        followed = Following(Path(folder), sites)
        for step in steps:
            match step:
                case ("change", new, gone):
                    followed.change({n: random_site(rng, n) for n in new}, gone)
                case (name,):
                    getattr(followed, name)()
        followed.check(now)
        followed.begin()
        followed.finish()
        followed.check(now)


def test_a_long_history_is_merged_again_and_again_into_few_levels(
    following: Callable[[dict[int, Profile]], Following],
    random_site: MakeRandom,
    now: datetime,
) -> None:
    rng = random.Random(5)
    followed = following({})
    for round_ in range(60):
        followed.change(
            {n: random_site(rng, n) for n in rng.sample(range(1, 200), 4)}, []
        )
        followed.finish() if round_ % 2 else followed.begin()
        followed.put()
    assert followed.merges > 5
    assert len(followed.builder.levels) <= 5
    rows = sum(len(level.rows) for level in followed.builder.levels)
    assert rows < 2 * len(followed.sites)
    followed.check(now)


def test_sites_that_come_all_at_once_are_the_base(site: MakeProfile) -> None:
    builder = Builder.build([], P, SMALL)
    assert len(builder.levels) == 1
    loaded = builder.with_changes([site(n) for n in range(1, 30)], [])
    assert [level.size for level in loaded.levels] == [29, 0]
    assert loaded.find_merge() is None


def test_what_changes_during_a_merge_is_in_its_result(site: MakeProfile) -> None:
    builder = Builder.build([site(n) for n in range(1, 30)], P, SMALL)
    builder = builder.with_changes([], range(1, 11))
    merge = builder.find_merge()
    assert merge is not None
    result = merge.merged()
    changed = builder.with_changes([site(20, quality=1)], [21])
    merged = changed.with_merged(merge, result)
    assert result.size == 19
    assert merged.levels[0].size == 17
    assert merged.index.profiles() == changed.index.profiles()
    assert merged.index.profiles()[20].quality == 1


def test_a_merge_of_sites_that_are_all_gone_leaves_no_level(site: MakeProfile) -> None:
    builder = Builder.build([site(n) for n in range(1, 9)], P, SMALL)
    builder = builder.with_changes([], range(1, 9))
    merge = builder.find_merge()
    assert merge is not None
    merged = builder.with_merged(merge, merge.merged())
    assert len(merged.levels) == 1
    assert len(merged.index) == 0
    again = merged.with_changes([site(n) for n in range(1, 9)], [])
    assert len(again.index) == 8


def test_a_change_is_written_without_the_levels_before_it(site: MakeProfile) -> None:
    builder = Builder.build([site(n) for n in range(1, 30)], P, SMALL)
    changed = builder.with_changes([site(40)], [])
    assert changed.levels[0].rows is builder.levels[0].rows
    assert changed.levels[0].part.segment is builder.levels[0].part.segment
    assert len(changed.levels[-1].rows) == 1


def test_the_panel_follows_levels_that_are_not_on_it_as_a_whole(
    following: Callable[[dict[int, Profile]], Following],
    random_site: MakeRandom,
    monkeypatch: pytest.MonkeyPatch,
    now: datetime,
) -> None:
    monkeypatch.setattr(eligible_estimate, "PANEL_ROWS", 8)
    rng = random.Random(9)
    followed = following({n: random_site(rng, n) for n in range(1, 60)})
    followed.change({n: random_site(rng, n) for n in range(60, 90)}, [])
    followed.change({}, [1, 2, 3])
    assert [level.members is None for level in followed.builder.levels] == [
        False,
        False,
        True,
    ]
    followed.put()
    read = followed.reader.newest()
    assert read is not None
    own = followed.builder.index
    assert (
        read.panel.cutoff
        == own.panel.cutoff
        == min(level.cutoff for level in followed.builder.levels)
    )
    for index in (own, read):
        saved = {
            int(site_id)
            for part in index.panel.parts
            for site_id in part.segment.site_ids[part.alive[: len(part.segment)] != 0]
        }
        assert followed.sites.keys() >= saved
        ids = np.array(sorted(followed.sites), np.uint64)
        members = ids[splitmix64(ids) <= np.uint64(index.panel.cutoff)].tolist()
        assert saved >= set(members)
        assert len(members) >= 8
