"""The builder of the index follows changes while it merges beside."""

import asyncio
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from registry.db.engine.engines import Role
from registry.db.sites import profiles
from registry.index.building.builder import Builder, Merge
from registry.index.building.index_files import IndexWriter
from registry.index.building.manifest import (
    IndexManifest,
    Since,
    publish,
    read_manifest,
)
from registry.index.segments.array_file import FileDamaged
from registry.index.segments.levels import Level, Sizes
from registry.ranking.policy import DEFAULT_POLICY
from registry.ranking.profile import Profile, parse_profile
from registry.usecases.search import build_index
from registry.usecases.search.build_index import IndexBuilder
from registry.usecases.search.follow_index import IndexFollower
from registry.usecases.sites.list_site import stored_profiles
from tests.db.scene import Scene
from tests.waiting import PATIENCE_S

SMALL = Sizes(fresh=1, little=1, share=1_000)


class Building:
    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene, self.folder = scene, folder
        self.builder = self.new_builder()
        encoder = scene.lister.encoder
        self.follower = IndexFollower(folder, encoder, DEFAULT_POLICY)

    def new_builder(self) -> IndexBuilder:
        ranker = self.scene.engines[Role.RANKER]
        return IndexBuilder(ranker, self.folder, DEFAULT_POLICY, SMALL)

    async def site(self) -> int:
        return (await self.scene.entry(await self.scene.register())).site_id

    async def change(self, site_id: int, **changes: Any) -> None:
        async with self.scene.crawler.begin() as connection:
            body = await profiles.profile_of(connection, site_id)
            assert body is not None
            profile = replace(parse_profile(body), **changes)
            (stored,) = stored_profiles([profile], DEFAULT_POLICY)
            await profiles.change_profile(connection, site_id, stored)

    async def read(self) -> dict[int, Profile]:
        await self.builder.catch_up()
        self.follower.catch_up()
        return self.follower.index.profiles()

    async def finish_merge(self) -> None:
        """What is under way, if anything, is taken in as ever: at the next look."""
        while self.builder._merging is not None:
            await asyncio.wait([self.builder._merging[1]])
            await self.builder.catch_up()

    def manifest(self) -> IndexManifest:
        manifest = read_manifest(self.folder)
        assert manifest
        return manifest


@pytest.fixture
async def building(scene: Scene, tmp_path: Path) -> AsyncIterator[Building]:
    result = Building(scene, tmp_path)
    yield result
    await result.finish_merge()


async def test_changes_are_found_while_levels_are_merged(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()
    merged = Merge.merged

    def slowly(merge: Merge) -> Level:
        begun.set()
        assert may_end.wait(PATIENCE_S)
        return merged(merge)

    monkeypatch.setattr(Merge, "merged", slowly)
    ids = [await building.site() for _ in range(3)]
    assert set(ids) <= set(await building.read())
    for site_id in ids[:2]:
        await building.change(site_id, quality=11)
    await building.read()
    assert begun.wait(PATIENCE_S)
    await building.change(ids[0], quality=22)
    await building.change(ids[2], quality=33)
    during = await building.read()
    assert [during[site_id].quality for site_id in ids] == [22, 11, 33]
    may_end.set()
    await building.finish_merge()
    after = await building.read()
    assert after == during
    assert len(building.follower.index.parts) <= 3


async def test_nothing_is_put_out_where_nothing_changed(building: Building) -> None:
    await building.site()
    await building.read()
    first = building.manifest()
    await building.read()
    assert building.manifest() == first


async def test_a_merge_that_fails_is_reported_and_tried_again_later(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Merge) -> Level:
        raise OSError("no space left")

    monkeypatch.setattr(build_index, "MERGE_PAUSE_S", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr(Merge, "merged", fail)
        ids = [await building.site() for _ in range(3)]
        await building.read()
        for site_id in ids:
            await building.change(site_id, quality=44)
        assert {
            item.quality for n, item in (await building.read()).items() if n in ids
        } == {44}
        await building.finish_merge()
    parts = len(building.manifest().parts)
    await building.read()
    await building.finish_merge()
    result = await building.read()
    assert {result[site_id].quality for site_id in ids} == {44}
    assert len(building.manifest().parts) < parts


async def start_again(building: Building) -> None:
    building.builder.close()
    building.builder = building.new_builder()
    await building.read()


async def test_a_builder_that_starts_again_reads_what_changed_and_no_more(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def read_all(*_: object) -> None:
        raise AssertionError("all profiles are read")

    saved, changed, gone = [await building.site() for _ in range(3)]
    await building.read()
    await building.change(changed, quality=77)
    async with building.scene.crawler.begin() as connection:
        await profiles.unlist(connection, gone)
    monkeypatch.setattr(build_index, "copy_profiles", read_all)
    await start_again(building)
    result = building.follower.index.profiles()
    assert result[changed].quality == 77
    assert saved in result
    assert gone not in result


@pytest.mark.parametrize(
    "since",
    [
        pytest.param(Since("1/1/1"), id="of another database"),
        pytest.param(Since(horizon=2**60), id="of a later state of the database"),
    ],
)
async def test_files_that_are_not_of_this_database_are_made_anew(
    building: Building, since: Since
) -> None:
    site_id = await building.site()
    await building.read()
    written = building.manifest()
    source = since.source or written.since.source
    horizon = since.horizon or written.since.horizon
    publish(
        building.folder,
        msgspec.structs.replace(written, since=Since(source, horizon)),
    )
    await start_again(building)
    assert site_id in building.follower.index.profiles()
    manifest = building.manifest()
    assert manifest.since.source != "1/1/1"
    assert manifest.since.horizon < 2**60


async def test_profile_that_can_not_be_read_does_not_end_the_builder(
    building: Building,
) -> None:
    site_id = await building.site()
    await building.read()
    async with building.scene.crawler.begin() as connection:
        body = await profiles.profile_of(connection, site_id)
        assert body
        (stored,) = stored_profiles([parse_profile(body)], DEFAULT_POLICY)
        broken = replace(
            stored,
            profile=stored.profile.replace(b"restaurant", b"restaur\xff\xfe\xfd"),
        )
        await profiles.change_profile(connection, site_id, broken)
    with pytest.raises(msgspec.DecodeError):
        parse_profile(broken.profile)
    await building.builder.catch_up()
    await building.finish_merge()
    building.builder.close()
    building.builder = building.new_builder()
    await building.builder.catch_up()
    async with building.scene.crawler.begin() as connection:
        await profiles.change_profile(connection, site_id, stored)


async def test_file_that_was_damaged_is_not_served_and_made_anew(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_index, "VERIFY_PAUSE_S", 0.0)
    site_id = await building.site()
    await building.read()
    damaged = building.folder / building.manifest().parts[0]
    content = damaged.read_bytes()
    damaged.unlink()  # what is mapped stays as it is
    damaged.write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
    with pytest.raises(FileDamaged):
        async with asyncio.timeout(PATIENCE_S):
            await building.builder.run()
    follower = IndexFollower(
        building.folder, building.scene.lister.encoder, DEFAULT_POLICY
    )
    assert not follower.catch_up()
    assert not follower.is_loaded
    await start_again(building)
    assert site_id in building.follower.index.profiles()
    assert follower.catch_up()


async def test_the_newest_change_is_put_out_before_many_that_wait(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build_index, "TAKEN_MOST", 2)
    ids = [await building.site() for _ in range(6)]
    await start_again(building)
    async with building.scene.crawler.begin() as connection:
        for site_id in ids[:5]:
            await profiles.unlist(connection, site_id)
    await building.change(ids[5], quality=55)
    seen: list[tuple[int, int]] = []
    put = IndexWriter.put

    def noted(writer: IndexWriter, builder: Builder, since: Since) -> Builder:
        result = put(writer, builder, since)
        profiles_ = result.index.profiles()
        seen.append((profiles_[ids[5]].quality, len(profiles_.keys() & set(ids))))
        return result

    monkeypatch.setattr(IndexWriter, "put", noted)
    reading = await building.read()
    assert seen[0] == (55, 5)
    assert reading.keys() & set(ids) == {ids[5]}


async def test_what_could_not_be_put_out_is_put_out_later(
    building: Building, monkeypatch: pytest.MonkeyPatch
) -> None:
    site_id = await building.site()
    await building.read()
    await building.change(site_id, quality=66)

    def fail(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(IndexWriter, "put", fail)
        with pytest.raises(OSError, match="no space"):
            await building.builder.catch_up()
    assert (await building.read())[site_id].quality == 66
