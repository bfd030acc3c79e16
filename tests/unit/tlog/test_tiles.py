from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused, TooLarge
from registry.tlog.tiles import (
    MAX_INDEX,
    Bundle,
    HashRun,
    Tile,
    bundles_of,
    encode_bundle,
    format_tile_path,
    is_in_tree,
    parse_bundle,
    parse_tile,
    parse_tile_path,
    tile_of_run,
    tiles_of,
)


@pytest.mark.parametrize(
    ("part", "path"),
    [
        (Tile(level=0, index=0), "tile/0/000"),
        (Tile(level=0, index=273, width=112), "tile/0/273.p/112"),
        (Tile(level=1, index=1000, width=1), "tile/1/x001/000.p/1"),
        (Tile(level=63, index=1234067), "tile/63/x001/x234/067"),
        (Tile(level=2, index=MAX_INDEX), "tile/2/x036/x028/x797/x018/x963/967"),
        (Bundle(index=0, width=5), "tile/entries/000.p/5"),
        (Bundle(index=1234067), "tile/entries/x001/x234/067"),
    ],
)
def test_paths_are_spelled_as_c2sp_does(part, path):
    assert format_tile_path(part) == path
    assert parse_tile_path(path) == part


@given(
    st.integers(0, 63), st.integers(0, MAX_INDEX), st.integers(1, 256), st.booleans()
)
def test_every_path_comes_back(level, index, width, entries):
    part = (
        Bundle(index=index, width=width)
        if entries
        else Tile(level=level, index=index, width=width)
    )
    assert parse_tile_path(format_tile_path(part)) == part


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/tile/0/000",
        "tile/0/000/",
        "tile/0/000\n",
        "tile/0/00",
        "tile/0/0000",
        "tile/0/x000/001",
        "tile/0/001/000",
        "tile/0/x001/x000",
        "tile/0/X001/000",
        "tile/00/000",
        "tile/01/000",
        "tile/64/000",
        "tile/-1/000",
        "tile/8/0/000",
        "tile/entry/000",
        "tile/Entries/000",
        "tile/0/000.p/0",
        "tile/0/000.p/01",
        "tile/0/000.p/256",
        "tile/0/000.p/",
        "tile/0/000.p",
        "tile/0/000.p/1.p/1",
        "tile/0/\u0661\u0662\u0663",
        "tile/0/x999/x999/x999/x999/x999/999",
        "tile/0/x001/x000/x000/x000/x000/x000/000",
        "tile/0/../000",
        "tile/0/000?x",
    ],
)
def test_any_other_spelling_of_a_path_is_refused(path):
    with pytest.raises(Refused):
        parse_tile_path(path)


@given(
    st.builds(
        "tile/{}/{}".format,
        st.sampled_from(["0", "07", "63", "64", "entries"]),
        st.text("x019/.p\n", min_size=1, max_size=14),
    )
)
def test_a_path_is_parsed_exactly_or_refused(path):
    try:
        part = parse_tile_path(path)
    except Refused:
        return
    assert format_tile_path(part) == path


def test_a_tree_of_70000_is_cut_as_the_specification_says():
    counts = Counter((tile.level, tile.width) for tile in tiles_of(70_000))
    assert counts == {
        (0, 256): 273,
        (0, 112): 1,
        (1, 256): 1,
        (1, 17): 1,
        (2, 1): 1,
    }
    assert [*bundles_of(70_000)][-1] == Bundle(index=273, width=112)


@pytest.mark.parametrize(
    ("size", "paths"),
    [
        (0, []),
        (1, ["tile/0/000.p/1"]),
        (255, ["tile/0/000.p/255"]),
        (256, ["tile/0/000", "tile/1/000.p/1"]),
        (257, ["tile/0/000", "tile/0/001.p/1", "tile/1/000.p/1"]),
    ],
)
def test_no_tile_is_empty_and_full_tiles_rise(size, paths):
    assert [format_tile_path(tile) for tile in tiles_of(size)] == paths


@given(st.integers(1, 200_000))
def test_the_tiles_of_a_tree_are_in_it_and_one_more_is_not(size):
    for tile in tiles_of(size):
        assert is_in_tree(tile, size)
        if tile.width < 256:
            wider = Tile(level=tile.level, index=tile.index, width=tile.width + 1)
            assert not is_in_tree(wider, size)
        assert tile_of_run(tile.run, size) == tile
    last = [*bundles_of(size)][-1]
    assert is_in_tree(last, size)
    assert not is_in_tree(Bundle(index=last.index + 1, width=1), size)


def test_a_tile_stands_for_a_run_of_hashes():
    run = Tile(level=1, index=3, width=7).run
    assert run == HashRun(level=1, first=768, count=7)


@pytest.mark.parametrize("data", [b"", bytes(31), bytes(33), bytes(96)])
def test_a_tile_of_another_length_is_refused(data):
    with pytest.raises(Refused):
        parse_tile(data, 2)


def test_a_tile_is_its_hashes():
    assert parse_tile(b"a" * 32 + b"b" * 32, 2) == (b"a" * 32, b"b" * 32)


def test_a_bundle_prefixes_each_entry_with_its_length():
    assert encode_bundle([b"", b"ab"]) == b"\x00\x00\x00\x02ab"


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=20))
def test_every_bundle_comes_back(entries):
    assert list(parse_bundle(encode_bundle(entries), len(entries))) == entries


@pytest.mark.parametrize(
    ("data", "width"),
    [
        (b"", 1),
        (b"\x00", 1),
        (b"\x00\x02a", 1),
        (b"\x00\x01a\x00", 1),
        (b"\x00\x01a\x00", 2),
        (b"\x00\x01a\x00\x01b", 1),
        (b"\x00\x01a", 2),
        (b"\xff\xff", 1),
    ],
)
def test_a_bundle_that_does_not_hold_exactly_its_entries_is_refused(data, width):
    with pytest.raises(Refused):
        parse_bundle(data, width)


def test_the_longest_entry_fits_and_a_longer_one_is_refused():
    longest = bytes(65_535)
    assert parse_bundle(encode_bundle([longest]), 1) == (longest,)
    with pytest.raises(TooLarge):
        encode_bundle([longest + b"\0"])
