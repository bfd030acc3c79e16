import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.tlog.checkpoint import (
    Checkpoint,
    format_checkpoint,
    sign_checkpoint,
)
from registry.tlog.edge import rebuild_edge
from registry.tlog.follow import LogWalk, paths_to_read
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.note import cosign_text, format_note
from registry.tlog.refusals import LogInvalid
from registry.tlog.tiles import encode_bundle, parse_bundle
from tests.unit.tlog.driven import follow_log, read_log

SIZE = 600  # two full tiles, one of 88, and level 1 with two hashes


@pytest.fixture(scope="module")
def log(make_log):
    return make_log(SIZE)


@pytest.fixture
def served(log):
    return log.serve()


@pytest.fixture
def read(log_signer):
    """Reads what is served, as an auditor does."""

    def read_served(served, *, key=log_signer.verifier_key, **options):
        return read_log(follow_log(key, **options), served.get)

    return read_served


def at(log, size):
    """The checkpoint that the log had at an earlier size."""
    root = rebuild_edge(size, log.read).root()
    return Checkpoint(origin=log.signer.name, size=size, root=root)


def replace_hash(tile, position, value):
    return tile[: position * 32] + value + tile[position * 32 + 32 :]


@pytest.mark.parametrize("size", [0, 1, 5, 255, 256, 257, 512, SIZE])
def test_a_sound_log_is_read_whole_and_in_order(make_log, read, size):
    log, seen = make_log(size), []
    verified = read(log.serve(), visit=lambda i, entry: seen.append((i, entry)))
    assert seen == list(enumerate(log.entries))
    assert verified.checkpoint == log.checkpoint


def test_a_sound_log_of_three_tile_levels_is_read(log_70000, read):
    served, query, seen = log_70000.serve(), [], []

    def fetch(path):
        query.append(path)
        return served[path]

    key = log_70000.signer.verifier_key
    reading = follow_log(
        key, previous=at(log_70000, 300), visit=lambda i, _entry: seen.append(i)
    )
    read_log(reading, fetch)
    assert sorted(query) == sorted(served)  # every tile and bundle, each once
    assert seen == list(range(70_000))
    # Entries follow their tile at once, so no tile waits for another branch to end.
    tile = query.index("tile/0/200")
    assert query[tile + 1] == "tile/entries/200"


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 599, 600])
def test_a_log_that_extends_what_was_seen_is_accepted(log, served, read, size):
    read(served, previous=at(log, size))


def test_cosignatures_are_reported(log, served, read, witness_signer):
    text = format_checkpoint(log.checkpoint)
    witnessed = cosign_text(text, witness_signer, 17)
    served["checkpoint"] = sign_checkpoint(log.checkpoint, log.signer, [witnessed])
    verified = read(served, witness_keys=[witness_signer.verifier_key])
    assert [by.cosigned_unix_s for by in verified.cosignatures] == [17]


def test_a_partial_part_may_have_given_way_to_the_full_one(make_log, log, read):
    served = make_log(SIZE + 256).serve() | {"checkpoint": log.serve()["checkpoint"]}
    served["tile/1/000.p/2"] = log.serve()["tile/1/000.p/2"]
    assert "tile/0/002.p/88" not in served
    seen = []
    read(served, visit=lambda i, _entry: seen.append(i))
    assert seen == list(range(SIZE))


def finding_of(read, served, **options):
    """What is found, and which entries were believed before it was."""
    believed = []
    with pytest.raises(LogInvalid) as invalid:
        read(served, visit=lambda i, _entry: believed.append(i), **options)
    assert believed == list(range(len(believed)))
    return invalid.value, len(believed)


def forge_entry(served, bundle_path, position):
    entries = list(parse_bundle(served[bundle_path], 256))
    entries[position] = b"forged"
    served[bundle_path] = encode_bundle(entries)


def test_a_forged_entry_is_found(served, read):
    forge_entry(served, "tile/entries/001", 7)
    invalid, believed = finding_of(read, served)
    assert invalid.code == "log_entry_forged"
    assert (invalid.path, invalid.entry_index) == ("tile/entries/001", 263)
    assert believed == 256


def test_a_forged_entry_with_its_forged_leaf_hash_is_found(served, read):
    forge_entry(served, "tile/entries/001", 7)
    forged = replace_hash(served["tile/0/001"], 7, leaf_hash(b"forged"))
    served["tile/0/001"] = forged
    invalid, believed = finding_of(read, served)
    assert (invalid.code, invalid.path) == ("log_tile_forged", "tile/0/001")
    assert believed == 256


def test_a_forgery_carried_up_to_the_edge_is_found(served, read):
    forge_entry(served, "tile/entries/001", 7)
    forged = replace_hash(served["tile/0/001"], 7, leaf_hash(b"forged"))
    leaves = [forged[i : i + 32] for i in range(0, 8192, 32)]
    served["tile/0/001"] = forged
    edge = replace_hash(served["tile/1/000.p/2"], 1, tree_root(leaves))
    served["tile/1/000.p/2"] = edge
    invalid, believed = finding_of(read, served)
    assert (invalid.code, invalid.path) == ("log_root_wrong", "checkpoint")
    assert "tile/1/000.p/2" in invalid.problem.detail
    assert believed == 0


def test_a_forged_entry_with_its_leaf_hash_on_the_edge_is_found(served, read):
    path = "tile/0/002.p/88"
    served[path] = replace_hash(served[path], 87, leaf_hash(b"forged"))
    invalid, _ = finding_of(read, served)
    assert invalid.code == "log_root_wrong"


def test_a_forged_tile_high_in_the_tree_is_found(log_70000, read):
    served = log_70000.serve()
    forged = replace_hash(served["tile/1/000"], 255, leaf_hash(b"forged"))
    invalid, believed = finding_of(read, served | {"tile/1/000": forged})
    assert (invalid.code, invalid.path) == ("log_tile_forged", "tile/1/000")
    assert believed == 0


@pytest.mark.parametrize(
    ("item", "other", "code"),
    [
        ("tile/0/000", "tile/0/001", "log_tile_forged"),
        ("tile/entries/000", "tile/entries/001", "log_entry_forged"),
    ],
)
def test_swapped_parts_are_found(served, read, item, other, code):
    served[item], served[other] = served[other], served[item]
    invalid, _ = finding_of(read, served)
    assert (invalid.code, invalid.path) == (code, item)


def test_tiles_swapped_together_with_their_entries_are_found(served, read):
    for item, other in [
        ("tile/0/000", "tile/0/001"),
        ("tile/entries/000", "tile/entries/001"),
    ]:
        served[item], served[other] = served[other], served[item]
    invalid, believed = finding_of(read, served)
    assert (invalid.code, believed) == ("log_tile_forged", 0)


@pytest.mark.parametrize(
    "path",
    [
        "checkpoint",
        "tile/0/000",
        "tile/0/002.p/88",
        "tile/1/000.p/2",
        "tile/entries/000",
        "tile/entries/002.p/88",
    ],
)
def test_a_missing_part_is_found(served, read, path):
    del served[path]
    invalid, _ = finding_of(read, served)
    assert (invalid.code, invalid.path) == ("log_part_missing", path)


@pytest.mark.parametrize(
    "path", ["tile/0/000", "tile/1/000.p/2", "tile/entries/002.p/88"]
)
@pytest.mark.parametrize(
    "cut", [lambda d: d[:-1], lambda d: d[:-32], lambda d: d + b"\0", lambda _: b""]
)
def test_a_part_of_another_length_is_found(served, read, path, cut):
    served[path] = cut(served[path])
    invalid, _ = finding_of(read, served)
    assert (invalid.code, invalid.path) == ("log_part_malformed", path)


def test_a_log_that_took_entries_back_is_found(make_log, log, read):
    invalid, _ = finding_of(read, make_log(599).serve(), previous=log.checkpoint)
    assert (invalid.code, invalid.path) == ("log_shrunk", "checkpoint")


@pytest.mark.parametrize("seen_size", [1, 256, 300, 599, SIZE])
def test_a_fork_is_found_however_far_it_has_grown(make_log, log, read, seen_size):
    fork = make_log(SIZE, kind="ranking")
    invalid, believed = finding_of(read, fork.serve(), previous=at(log, seen_size))
    assert invalid.code == "log_forked"
    assert believed < seen_size


def test_two_roots_of_one_size_are_found_before_any_tile_is_read(make_log, log, read):
    fork = make_log(SIZE, kind="ranking").serve()
    served = {"checkpoint": fork["checkpoint"]}
    invalid, _ = finding_of(read, served, previous=log.checkpoint)
    assert invalid.code == "log_forked"


@pytest.mark.parametrize("changed", [0, 299])
def test_a_fork_by_one_old_entry_is_found(make_log, log, read, changed):
    fork = make_log(SIZE, rewritten=changed)
    invalid, _ = finding_of(read, fork.serve(), previous=at(log, 300))
    assert invalid.code == "log_forked"


def test_a_log_under_another_key_is_found(served, read, witness_signer):
    invalid, _ = finding_of(read, served, key=witness_signer.verifier_key)
    assert (invalid.code, invalid.path) == ("log_checkpoint_invalid", "checkpoint")


def test_a_checkpoint_that_only_a_witness_signed_is_found(
    log, served, read, witness_signer
):
    text = format_checkpoint(log.checkpoint)
    served["checkpoint"] = format_note(text, [cosign_text(text, witness_signer, 17)])
    invalid, _ = finding_of(read, served, witness_keys=[witness_signer.verifier_key])
    assert invalid.code == "log_checkpoint_invalid"


def test_a_signed_size_that_the_tiles_do_not_fill_is_found(log, served, read):
    longer = Checkpoint(origin=log.signer.name, size=SIZE + 1, root=log.edge.root())
    served["checkpoint"] = sign_checkpoint(longer, log.signer)
    invalid, _ = finding_of(read, served)
    assert (invalid.code, invalid.path) == ("log_part_missing", "tile/0/002.p/89")


@given(st.data())
def test_no_flipped_bit_goes_unnoticed(log, log_signer, data):
    served = log.serve()
    path = data.draw(st.sampled_from(sorted(served)))
    position = data.draw(st.integers(0, len(served[path]) - 1))
    flipped = bytearray(served[path])
    flipped[position] ^= 1 << data.draw(st.integers(0, 7))
    served[path] = bytes(flipped)
    with pytest.raises(LogInvalid) as invalid:
        read_log(follow_log(log_signer.verifier_key), served.get)
    assert invalid.value.path in {path, "checkpoint"}


def read_on(log, size, fetch, **options):
    """From the edge at an earlier size; the walk after it, and what it asked and saw."""
    query, seen = [], []
    walk = LogWalk(
        head=log.checkpoint,
        start=rebuild_edge(size, log.read),
        visit=lambda i, _entry: seen.append(i),
        **options,
    )
    for _ in answering(walk, fetch, query):
        pass
    return walk, query, seen


def answering(walk, fetch, query):
    """The walk, part by part; asked takes the paths."""
    reading = walk.read()
    path = next(reading, None)
    while path is not None:
        query.append(path)
        yield path
        try:
            path = reading.send(fetch(path))
        except StopIteration:
            return


SIZES = [0, 1, 255, 256, 257, 511, 512, 513, 599, 600]


@pytest.mark.parametrize("size", SIZES)
def test_only_what_is_new_is_read(log, served, size):
    walk, query, seen = read_on(log, size, served.get)
    assert seen == list(range(size, SIZE))
    assert walk.edge == log.edge
    assert query == list(paths_to_read(size, SIZE))
    if size == SIZE:
        assert query == []


@pytest.fixture(scope="module")
def served_70000(log_70000):
    return log_70000.serve()


@given(st.integers(64_000, 70_000) | st.sampled_from([0, 1, 255, 256, 32_768]))
def test_reading_on_from_any_size_of_three_tile_levels(log_70000, served_70000, size):
    served = served_70000
    walk, query, seen = read_on(log_70000, size, served.get)
    assert seen == list(range(size, 70_000))
    assert walk.edge == log_70000.edge
    assert query == list(paths_to_read(size, 70_000))
    entries = [path for path in query if "entries" in path]
    assert len(entries) == (0 if size == 70_000 else 274 - size // 256)


@pytest.mark.parametrize("size", [0, 1, 256, 300, 600])
def test_a_reading_can_stop_anywhere_and_go_on(log, served, size):
    seen, edges = [], []
    walk = LogWalk(
        head=log.checkpoint,
        start=rebuild_edge(size, log.read),
        visit=lambda i, _entry: seen.append(i),
    )
    edges.extend(
        (walk.size, walk.edge, len(seen)) for _ in answering(walk, served.get, [])
    )
    for reached, edge, count in edges:
        assert edge == rebuild_edge(reached, log.read)
        assert seen[:count] == list(range(size, reached))


@pytest.mark.parametrize(
    ("size", "rewritten"),
    [(1, 0), (255, 0), (256, 255), (257, 256), (300, 299), (599, 0), (600, 599)],
)
def test_a_rewritten_past_is_found_before_anything_new_is_believed(
    make_log, log, size, rewritten
):
    fork, seen = make_log(SIZE, rewritten=rewritten), []
    walk = LogWalk(
        head=fork.checkpoint,
        start=rebuild_edge(size, log.read),
        visit=lambda i, _entry: seen.append(i),
    )
    with pytest.raises(LogInvalid) as invalid:
        list(answering(walk, fork.serve().get, []))
    assert invalid.value.code == "log_forked"
    assert seen == []


def test_a_rewritten_past_of_three_tile_levels_is_found(make_log, log_70000):
    fork = make_log(70_000, rewritten=9)
    for size in (10, 300, 65_536, 65_537, 66_000, 69_999):
        walk = LogWalk(head=fork.checkpoint, start=rebuild_edge(size, log_70000.read))
        with pytest.raises(LogInvalid) as invalid:
            list(answering(walk, fork.serve().get, []))
        assert invalid.value.code == "log_forked", size


def test_a_log_shorter_than_the_edge_is_found(make_log, log):
    walk = LogWalk(head=make_log(300).checkpoint, start=log.edge)
    with pytest.raises(LogInvalid) as invalid:
        next(walk.read())
    assert invalid.value.code == "log_shrunk"


def test_a_checkpoint_seen_beyond_the_edge_is_remembered(make_log, log):
    fork = make_log(SIZE, rewritten=400)
    walk = LogWalk(
        head=fork.checkpoint,
        start=rebuild_edge(300, log.read),
        previous=at(log, 500),
    )
    with pytest.raises(LogInvalid) as invalid:
        list(answering(walk, fork.serve().get, []))
    assert invalid.value.code == "log_forked"


def test_all_that_is_wrong_can_be_reported(log, served):
    forge_entry(served, "tile/entries/000", 9)
    forge_entry(served, "tile/entries/001", 7)
    served["tile/0/001"] = replace_hash(served["tile/0/001"], 7, leaf_hash(b"forged"))
    del served["tile/entries/002.p/88"]
    messages = []
    walk, _, seen = read_on(log, 0, served.get, report=messages.append)
    assert [(notice.code, notice.path) for notice in messages] == [
        ("log_entry_forged", "tile/entries/000"),
        ("log_tile_forged", "tile/0/001"),
        ("log_part_missing", "tile/entries/002.p/88"),
    ]
    assert (walk.size, seen) == (0, [])


def test_a_quorum_of_witnesses_must_have_cosigned(log, served, read, witness_signer):
    text = format_checkpoint(log.checkpoint)
    witnessed = cosign_text(text, witness_signer, 17)
    served["checkpoint"] = sign_checkpoint(log.checkpoint, log.signer, [witnessed])
    keys = [witness_signer.verifier_key]
    read(served, witness_keys=keys, quorum=1)
    invalid, believed = finding_of(read, served, witness_keys=keys, quorum=2)
    assert (invalid.code, believed) == ("log_unwitnessed", 0)
