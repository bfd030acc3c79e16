import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from mmap import mmap
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.index.building import index_files, merging
from registry.index.building.builder import Builder
from registry.index.building.index_files import IndexWriter
from registry.index.building.index_reader import IndexReader
from registry.index.building.manifest import (
    MANIFEST,
    IndexManifest,
    Since,
    publish,
    read_manifest,
)
from registry.index.building.merging import Job, MergeFiles
from registry.index.query.index import Index
from registry.index.query.scoring_parameters import Query
from registry.index.query.search import Ranked, search
from registry.index.segments.array_file import FileDamaged
from registry.index.segments.levels import SIZES, Sizes
from registry.ranking.encoders.vectors import DIMENSIONS
from registry.ranking.policy import STATIC_POLICY as P
from registry.ranking.profile import Profile
from registry.ranking.relevance import ParsedQuery
from tests.waiting import PATIENCE_S

MakeRandom = Callable[[random.Random, int], Profile]


def answer(index: Index, now: datetime) -> Ranked:
    request = ParsedQuery(
        term_of={"term1": "term1", "term2": "term2"},
        vector=bytes(DIMENSIONS),
        confidence_bp=0,
    )
    return search(index, Query(request=request), now=now, seed=bytes(32), k=50)


@pytest.fixture
def builder(random_site: MakeRandom) -> Builder:
    rng = random.Random(7)
    return Builder.build([random_site(rng, n) for n in range(1, 60)], P)


def test_what_is_read_answers_as_what_was_put(
    builder: Builder, random_site: MakeRandom, now: datetime, tmp_path: Path
) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    assert reader.newest() is None
    rng = random.Random(8)
    for round_ in range(4):
        builder = writer.put(builder)
        read = reader.newest()
        assert read is not None
        assert answer(read, now) == answer(builder.index, now)
        assert read.profiles() == builder.index.profiles()
        assert reader.newest() is None
        builder = builder.with_changes([random_site(rng, 100 + round_)], [round_ + 1])


def test_a_base_that_stays_is_written_and_mapped_once(
    builder: Builder, tmp_path: Path
) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    saved = writer.put(builder)
    first = reader.newest()
    files = {path.name for path in tmp_path.iterdir()}
    writer.put(saved.with_changes([], [1]))
    second = reader.newest()
    assert first is not None
    assert second is not None
    assert second.parts[0].segment is first.parts[0].segment
    assert len(first.profiles()) == len(second.profiles()) + 1
    written = {path.name for path in tmp_path.iterdir()} - files
    assert {name.partition("-")[0] for name in written} == {"segment", "state"}
    assert len(written) == 2


def test_files_that_nobody_names_are_removed(builder: Builder, tmp_path: Path) -> None:
    (tmp_path / "segment-of-a-builder-that-died").write_bytes(b"half")
    writer = IndexWriter(tmp_path)
    for number in range(1, 9):
        builder = writer.put(builder.with_changes([], [number]))
    names = {path.name for path in tmp_path.iterdir()}
    assert "segment-of-a-builder-that-died" not in names
    assert len(names) <= 2 + 2 * 4


def test_an_index_of_another_policy_is_not_taken(
    builder: Builder, tmp_path: Path
) -> None:
    IndexWriter(tmp_path).put(builder)
    assert IndexReader(tmp_path, replace(P, relevance_min=1)).newest() is None


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda body: body[:-1], id="cut off"),
        pytest.param(lambda body: body[:20], id="cut off in its header"),
        pytest.param(lambda body: body[:0], id="empty"),
        pytest.param(lambda body: b"x" * len(body), id="something else"),
    ],
)
def test_a_damaged_file_is_refused_and_the_next_index_taken(
    damage: Callable[[bytes], bytes], builder: Builder, tmp_path: Path
) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    writer.put(builder)
    state = next(path for path in tmp_path.iterdir() if path.name.startswith("state"))
    body = state.read_bytes()
    state.write_bytes(damage(body))
    with pytest.raises(FileDamaged):
        reader.newest()
    state.write_bytes(body)
    assert reader.newest() is not None


def test_a_writer_that_died_before_the_manifest_changes_nothing(
    builder: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    writer.put(builder)
    manifest = (tmp_path / MANIFEST).read_bytes()

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(index_files, "publish", die)
    with pytest.raises(KeyboardInterrupt):
        writer.put(builder.with_changes([], [1]))
    assert (tmp_path / MANIFEST).read_bytes() == manifest
    read = reader.newest()
    assert read is not None
    assert read.generation == builder.index.generation


def test_what_a_failed_attempt_wrote_is_removed_with_the_next_index(
    builder: Builder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = IndexWriter(tmp_path)
    saved = writer.put(builder)
    files = {path.name for path in tmp_path.iterdir()}

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(index_files, "publish", fail)
        with pytest.raises(OSError, match="no space"):
            writer.put(saved.with_changes([], [1]))
    left = {path.name for path in tmp_path.iterdir()} - files
    assert left
    writer.put(saved.with_changes([], [1]))
    assert not left & {path.name for path in tmp_path.iterdir()}


def test_a_level_that_is_kept_for_later_outlives_other_indexes(
    builder: Builder, tmp_path: Path, now: datetime
) -> None:
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    builder = writer.put(builder)
    level = writer.keep(builder.with_changes([], [1]).levels[-1])
    for number in range(2, 6):
        builder = writer.put(builder.with_changes([], [number]))
    files = {path.name for path in tmp_path.iterdir()}
    assert writer.keep(level) is level
    assert {path.name for path in tmp_path.iterdir()} == files
    read = reader.newest()
    assert read is not None
    assert answer(read, now) == answer(builder.index, now)


def test_a_folder_that_was_closed_has_another_writer(
    builder: Builder, tmp_path: Path
) -> None:
    IndexWriter(tmp_path).close()
    IndexWriter(tmp_path).put(builder)


def test_a_folder_has_one_writer(builder: Builder, tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path)
    with pytest.raises(BlockingIOError):
        IndexWriter(tmp_path)
    writer.put(builder)


def closed(
    builder: Builder, random_site: MakeRandom, writer: IndexWriter, count: int
) -> Builder:
    """Of several levels; on the shelf, with some dead rows."""
    rng = random.Random(9)
    builder = replace(builder, sizes=Sizes(fresh=1, little=1))
    for first in range(100, 100 + 3 * count, count):
        sites = [random_site(rng, n) for n in range(first, first + count)]
        builder = writer.put(builder.with_changes(sites, [first - 99]))
    return builder


def test_a_level_that_another_process_made_is_what_this_one_makes(
    builder: Builder,
    random_site: MakeRandom,
    now: datetime,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_files, "APART_ROWS", 0)
    writer, reader = IndexWriter(tmp_path), IndexReader(tmp_path, P)
    builder = closed(builder, random_site, writer, 5)
    merge = builder.find_merge()
    assert merge is not None
    apart, here = writer.merged(merge), merge.merged()
    assert apart.part.segment.postings.tobytes() == here.part.segment.postings.tobytes()
    assert np.array_equal(apart.rows.site_ids, here.rows.site_ids)
    merged = writer.put(builder.with_changes([], [2]).with_merged(merge, apart))
    same = builder.with_changes([], [2]).with_merged(merge, here)
    assert len(merged.levels) < len(builder.levels)
    read = reader.newest()
    assert read is not None
    assert answer(read, now) == answer(same.index, now)


def test_a_merge_that_was_killed_leaves_nothing(
    builder: Builder,
    random_site: MakeRandom,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(index_files, "APART_ROWS", 0)
    writer = IndexWriter(tmp_path)
    builder = closed(builder, random_site, writer, 5)
    merge = builder.find_merge()
    assert merge is not None
    files = {path.name for path in tmp_path.iterdir()}

    def die(job: Job) -> None:
        (tmp_path / f"{job.files.segment}.77").write_bytes(b"half")
        (tmp_path / job.files.rows).write_bytes(b"whole")
        raise OSError("a merge ended with -9: ")

    with monkeypatch.context() as patched:
        patched.setattr(index_files, "merge_apart", die)
        with pytest.raises(OSError, match="-9"):
            writer.merged(merge)
    begun = {path.name for path in tmp_path.iterdir()} - files
    assert len(begun) == 3
    writer.put(builder.with_changes([], [2]))
    assert not begun & {path.name for path in tmp_path.iterdir()}


def test_a_merge_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="ended with 1: FileNotFoundError"):
        merging.merge_apart(job_of(tmp_path, "state-gone"))


def job_of(folder: Path, state: str) -> Job:
    return Job(
        folder=str(folder),
        policy=P,
        levels=IndexManifest(
            policy="", generation="", parts=(), members={}, state=state
        ),
        files=MergeFiles("segment-1", "rows-1", "segment-2"),
    )


def test_a_merge_ends_with_its_builder(tmp_path: Path) -> None:
    """Its standard input is closed then, wherever it is in its work."""
    os.mkfifo(tmp_path / "state")  # what it waits for
    with subprocess.Popen(
        [sys.executable, "-m", merging.__name__], stdin=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        job = job_of(tmp_path, "state")
        process.stdin.write(msgspec.json.encode(job) + b"\n")
        process.stdin.close()
        assert process.wait(timeout=PATIENCE_S) == 1


def change_manifest(folder: Path, **changes: str) -> None:
    manifest = read_manifest(folder)
    assert manifest
    publish(folder, msgspec.structs.replace(manifest, **changes))


def test_a_builder_goes_on_where_the_one_before_ended(
    builder: Builder, random_site: MakeRandom, now: datetime, tmp_path: Path
) -> None:
    before = IndexWriter(tmp_path)
    builder = before.put(builder.with_changes([], [1]), Since("here", 77))
    before.close()
    after = IndexWriter(tmp_path)
    result = after.find(P, SIZES)
    assert result is not None
    taken, since = result
    assert since == Since("here", 77)
    assert taken.groups == builder.groups
    assert answer(taken.index, now) == answer(builder.index, now)
    site = random_site(random.Random(8), 2)
    both = [item.with_changes([site], [3]) for item in (builder, taken)]
    assert answer(both[0].index, now) == answer(both[1].index, now)
    files = {path.name for path in tmp_path.iterdir()}
    after.put(taken, since)
    written = {path.name for path in tmp_path.iterdir()} - files
    assert {name.partition("-")[0] for name in written} == {"state", "generations"}


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"code": "other"}, id="files of other code"),
        pytest.param({"policy": "other"}, id="files of another policy"),
        pytest.param({"generation": "other"}, id="files of another index"),
        pytest.param({"state": "state-gone"}, id="a file that is gone"),
        pytest.param({"parts": 7}, id="no manifest"),
    ],
)
def test_a_builder_that_can_not_go_on_says_so(
    builder: Builder, tmp_path: Path, changes: dict[str, str]
) -> None:
    writer = IndexWriter(tmp_path)
    writer.put(builder)
    change_manifest(tmp_path, **changes)
    assert writer.find(P, SIZES) is None


@pytest.mark.parametrize("kind", ["segment", "rows", "state"])
def test_a_file_that_was_cut_off_is_not_taken_up(
    builder: Builder, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "MAPPED_ROWS", 5)
    writer = IndexWriter(tmp_path)
    writer.put(builder)
    assert writer.find(P, SIZES) is not None
    for path in tmp_path.glob(f"{kind}-*"):
        path.write_bytes(path.read_bytes()[:-1])
    assert writer.find(P, SIZES) is None


@pytest.fixture(scope="module")
def put_index(
    random_site: MakeRandom, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """An index with files of each kind."""
    folder = tmp_path_factory.mktemp("put")
    rng = random.Random(7)
    builder = Builder.build([random_site(rng, n) for n in range(1, 60)], P)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index_files, "MAPPED_ROWS", 5)
        writer = IndexWriter(folder)
        writer.put(writer.put(builder).with_changes([random_site(rng, 100)], [1]))
        writer.close()
        yield folder


@given(data=st.data())
def test_one_bit_that_changed_anywhere_is_never_read(
    put_index: Path, data: st.DataObject
) -> None:
    manifest = read_manifest(put_index)
    assert manifest
    assert manifest.rows
    path = put_index / data.draw(st.sampled_from(sorted({*manifest.files, MANIFEST})))
    with path.open("r+b") as file, mmap(file.fileno(), 0) as content:
        bit = data.draw(st.integers(0, 8 * len(content) - 1))
        content[bit // 8] ^= 1 << bit % 8
        try:
            verify_nothing_is_read(put_index, path.name in manifest.rows.values())
        finally:
            content[bit // 8] ^= 1 << bit % 8


def verify_nothing_is_read(folder: Path, only_for_builders: bool) -> None:
    writer, reader = IndexWriter(folder), IndexReader(folder, P)
    try:
        assert writer.find(P, SIZES) is None
        if not only_for_builders:
            with pytest.raises(FileDamaged):
                reader.newest()
            assert not reader.is_changed(), "it is not read again and again"
    finally:
        writer.close()


def test_writer_notices_what_changed_or_went_under_it(
    builder: Builder, tmp_path: Path
) -> None:
    writer = IndexWriter(tmp_path)
    builder = writer.put(builder)
    writer.verify()
    writer.put(builder.with_changes([], [1]))
    writer.verify()
    (state,) = (path for path in tmp_path.glob("state-*") if is_named(path))
    content = state.read_bytes()
    state.write_bytes(content[:-20] + b"x" + content[-19:])
    with pytest.raises(FileDamaged, match="not what was written"):
        writer.verify()
    state.unlink()
    with pytest.raises(FileDamaged, match="gone"):
        writer.verify()


def is_named(path: Path) -> bool:
    manifest = read_manifest(path.parent)
    return manifest is not None and path.name in manifest.files


def test_an_empty_folder_gives_no_builder(tmp_path: Path) -> None:
    assert IndexWriter(tmp_path).find(P, SIZES) is None
