import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from registry.index.building import index_files
from registry.index.building.builder import Builder
from registry.index.building.index_files import IndexWriter
from registry.index.building.index_reader import IndexReader
from registry.index.columns.rows import Bodies, Rows, rows_of
from registry.index.columns.runs import Runs, no_source
from registry.index.columns.spool import Spool
from registry.index.segments.array_file import HEAD_ROOM
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile

MakeRandom = Callable[[random.Random, int], Profile]


@pytest.fixture
def profiles(random_site: MakeRandom) -> list[Profile]:
    rng = random.Random(5)
    return [random_site(rng, number) for number in range(1, 41)]


def apart(rows: Rows) -> Rows:
    """Their bodies as they come of a COPY, with something between them."""
    own = rows.bodies.runs
    gaps = 6 * np.arange(1, len(own) + 1)
    content = np.zeros(int(own.lengths.sum()) + 6 * len(own), np.uint8)
    for number in range(len(own)):
        start = own.starts[number] + gaps[number]
        content[start : start + own.lengths[number]] = own[number]
    runs = Runs(
        arrays=(content,),
        source=no_source(len(own)),
        starts=own.starts + gaps,
        lengths=own.lengths,
    )
    return replace(rows, bodies=Bodies(runs))


def spooled(spool: Spool, profiles: list[Profile]) -> Rows:
    for first in range(0, len(profiles), 15):
        spool.add(apart(rows_of(profiles[first : first + 15], P)))
    spool.add(rows_of([], P))
    return spool.rows()


def test_a_base_takes_the_files_in_which_it_was_laid(
    tmp_path: Path, profiles: list[Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "MAPPED_ROWS", 10)
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    with writer.preallocated() as adopted:
        spool = Spool(tmp_path, rows_of([], P), *adopted, HEAD_ROOM)
        result = Builder.of_rows(
            spooled(spool, profiles), {}, np.concatenate(spool.digests), P
        )
        spool.close()
        before = {path.stat().st_ino for path in adopted}
        saved = writer.put(result)
    read = reader.newest()
    assert read is not None
    assert read.profiles() == {profile.site_id: profile for profile in profiles}
    assert read.generation == Builder.build(profiles, P).index.generation
    assert before <= {path.stat().st_ino for path in tmp_path.iterdir()}
    changed = writer.put(saved.with_changes([], [1]))
    assert len(changed.index.profiles()) == len(profiles) - 1


def test_what_was_laid_in_vain_goes_with_the_next_index(
    tmp_path: Path, profiles: list[Profile]
) -> None:
    writer = IndexWriter(tmp_path)
    with writer.preallocated() as adopted:
        spool = Spool(tmp_path, rows_of([], P), *adopted, HEAD_ROOM)
        spooled(spool, profiles)
        spool.close()
    assert all(path.exists() for path in adopted)
    writer.put(Builder.build(profiles, P))
    assert not any(path.exists() for path in adopted)


def test_a_base_of_no_sites_needs_no_file(tmp_path: Path) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    with writer.preallocated() as adopted:
        spool = Spool(tmp_path, rows_of([], P), *adopted, HEAD_ROOM)
        result = Builder.of_rows(
            spooled(spool, []), {}, np.concatenate(spool.digests), P
        )
        spool.close()
        writer.put(result)
    read = reader.newest()
    assert read is not None
    assert read.profiles() == {}
