"""A folder of the log, brought up to date from whatever state it was left in."""

from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import RegistryError
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer
from registry.tlog.tiles import bundles_of, encode_bundle, format_tile_path, tiles_of
from registry.usecases.log.log_folder import STAGED, FolderBusy, LogFolder
from registry.usecases.log.publish_files import Published, publish_files
from tests.unit.tlog.driven import follow_log, read_log

SIGNER = Signer(
    name="registry.example/audit",
    algorithm=NoteAlgorithm.ED25519,
    private=Ed25519PrivateKey.from_private_bytes(sha256(b"lab log key").digest()),
)
KEY = SIGNER.verifier_key


class Killed(BaseException):
    """What no handler catches."""


class Remote:
    """A registry's log. kind: another one has other entries. dies_after: requests."""

    def __init__(self, size: int, kind: str = "selection") -> None:
        self.kind = kind
        self.requested: list[str] = []
        self.dies_after: int | None = None
        self.spoilt: dict[str, bytes | None] = {}
        self.resize(size)

    def resize(self, size: int) -> None:
        self.size = size
        entries = [
            b'{"i":%d,"kind":"%s","v":1}' % (i, self.kind.encode()) for i in range(size)
        ]
        self.bundles = {
            format_tile_path(bundles): encode_bundle(
                entries[bundles.first : bundles.first + bundles.width]
            )
            for bundles in bundles_of(size)
        }
        edge, _ = TreeEdge().append([leaf_hash(entry) for entry in entries])
        checkpoint = Checkpoint(origin=SIGNER.name, size=size, root=edge.root())
        self.note = sign_checkpoint(checkpoint, SIGNER)

    async def fetch(self, path: str) -> bytes | None:
        if self.dies_after is not None and len(self.requested) >= self.dies_after:
            raise Killed
        self.requested.append(path)
        if path in self.spoilt:
            return self.spoilt[path]
        return self.note if path == "checkpoint" else self.bundles.get(path)


async def publish(folder: Path, remote: Remote, *, quick: bool = False) -> Published:
    remote.requested.clear()
    return await publish_files(folder, remote.fetch, KEY, quick=quick)


def verify(folder: Path, size: int) -> None:
    """By the verifier of `audit verify`, which knows nothing of how it was made."""

    def fetch(path: str) -> bytes | None:
        file = folder / path
        return file.read_bytes() if file.is_file() else None

    followed = read_log(follow_log(KEY), fetch)
    assert followed.checkpoint.size == size


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def expected(size: int) -> set[str]:
    parts = [*tiles_of(size), *bundles_of(size)]
    return {"checkpoint", *map(format_tile_path, parts)}


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 700])
async def test_folder_is_exactly_the_log(tmp_path: Path, size: int) -> None:
    result = await publish(tmp_path, Remote(size))
    assert files(tmp_path).keys() == expected(size)
    assert result.written == len(expected(size)) - 1
    verify(tmp_path, size)


async def test_three_levels_of_tiles_are_written(tmp_path: Path) -> None:
    remote = Remote(65_537)
    await publish(tmp_path, remote)
    assert files(tmp_path).keys() == expected(65_537)
    verify(tmp_path, 65_537)


@pytest.mark.parametrize("quick", [False, True])
async def test_only_what_is_new_is_fetched(tmp_path: Path, quick: bool) -> None:
    remote = Remote(600)
    await publish(tmp_path, remote)
    before = files(tmp_path)
    for size in (600, 601, 768, 769, 1_500):
        remote.resize(size)
        await publish(tmp_path, remote, quick=quick)
        old = {
            format_tile_path(bundles) for bundles in bundles_of(size)
        } & before.keys()
        assert not old & set(remote.requested)
        verify(tmp_path, size)
        before = files(tmp_path)
    assert "tile/entries/002.p/88" not in before
    assert "tile/entries/005.p/220" in before


async def test_partial_parts_of_earlier_checkpoints_stay_until_the_full_one_is_there(
    tmp_path: Path,
) -> None:
    remote = Remote(10)
    await publish(tmp_path, remote)
    remote.resize(20)
    await publish(tmp_path, remote)
    assert {"tile/0/000.p/10", "tile/entries/000.p/10"} <= files(tmp_path).keys()
    remote.resize(256)
    await publish(tmp_path, remote)
    assert files(tmp_path).keys() == expected(256)


@pytest.mark.parametrize("dies_after", range(1, 8))
async def test_killed_while_fetching_it_goes_on_where_it_was(
    tmp_path: Path, dies_after: int
) -> None:
    remote = Remote(300)
    await publish(tmp_path, remote)
    before = files(tmp_path)
    remote.resize(1_900)
    remote.dies_after = dies_after
    with pytest.raises(Killed):
        await publish(tmp_path, remote)
    left = {path: file for path, file in files(tmp_path).items() if STAGED not in path}
    assert left == before
    verify(tmp_path, 300)
    remote.dies_after = None
    await publish(tmp_path, remote)
    assert len(remote.requested) == 1 + 7 - (dies_after - 1)
    assert files(tmp_path).keys() - before.keys() <= expected(1_900)
    verify(tmp_path, 1_900)


@pytest.mark.parametrize("renames", range(10))
async def test_killed_while_publishing_the_old_checkpoint_still_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renames: int
) -> None:
    remote = Remote(300)
    await publish(tmp_path, remote)
    remote.resize(1_100)
    left = [renames]
    rename = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Killed
        left[0] -= 1
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", replace)
        with pytest.raises(Killed):
            await publish(tmp_path, remote)
    verify(tmp_path, 300)
    await publish(tmp_path, remote)
    assert remote.requested == ["checkpoint"]
    verify(tmp_path, 1_100)
    assert not (tmp_path / STAGED).exists()


DAMAGES = {
    "a bundle": ["tile/entries/000"],
    "a partial bundle": ["tile/entries/002.p/88"],
    "a tile": ["tile/0/001"],
    "the edge": ["tile/0/002.p/88"],
    "the upper edge": ["tile/1/000.p/2"],
    "a bundle and its tile": ["tile/entries/001", "tile/0/001"],
    "everything": [
        "tile/entries/000",
        "tile/entries/001",
        "tile/0/000",
        "tile/0/001",
        "tile/1/000.p/2",
    ],
}


@pytest.mark.parametrize("paths", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda item: item[:-1] + bytes([item[-1] ^ 1]), id="a bit"),
        pytest.param(lambda item: item[: len(item) // 2], id="cut off"),
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda _: None, id="gone"),
    ],
)
async def test_damage_is_found_and_mended(tmp_path: Path, paths, damage) -> None:
    remote = Remote(600)
    await publish(tmp_path, remote)
    sound = files(tmp_path)
    for path in paths:
        content = damage(sound[path])
        (tmp_path / path).unlink()
        if content is not None:
            (tmp_path / path).write_bytes(content)
    await publish(tmp_path, remote)
    assert files(tmp_path) == sound


async def test_a_forged_entry_beside_its_forged_tile_is_mended(tmp_path: Path) -> None:
    """Bundle and tile agree with each other; only the root tells."""
    remote = Remote(600)
    await publish(tmp_path, remote)
    sound = files(tmp_path)
    forged = [b'{"forged":%d}' % i for i in range(256)]
    (tmp_path / "tile/entries/000").write_bytes(encode_bundle(forged))
    (tmp_path / "tile/0/000").write_bytes(b"".join(map(leaf_hash, forged)))
    result = await publish(tmp_path, remote)
    assert files(tmp_path) == sound
    assert result.repaired >= 2


async def test_quick_trusts_no_edge_that_the_checkpoint_does_not_vouch_for(
    tmp_path: Path,
) -> None:
    remote = Remote(600)
    await publish(tmp_path, remote)
    edge = tmp_path / "tile/1/000.p/2"
    edge.write_bytes(bytes(64))
    remote.resize(700)
    await publish(tmp_path, remote, quick=True)
    verify(tmp_path, 700)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        pytest.param(lambda remote: remote.resize(400), "log_shrunk", id="shrunk"),
        pytest.param(lambda _: Remote(600, "ranking"), "log_forked", id="another tree"),
        pytest.param(
            lambda _: Remote(900, "ranking"), "log_forked", id="a fork that grew"
        ),
        pytest.param(
            lambda remote: remote.spoilt.update({"checkpoint": None}),
            "log_part_missing",
            id="no checkpoint",
        ),
        pytest.param(
            lambda remote: remote.spoilt.update({"checkpoint": b"x\n\ny"}),
            "log_note_malformed",
            id="no note",
        ),
        pytest.param(
            lambda remote: (
                remote.resize(900),
                remote.spoilt.update(
                    {"tile/entries/003.p/132": encode_bundle([b"{}"] * 132)}
                ),
            ),
            "log_root_wrong",
            id="entries that are not of the tree",
        ),
        pytest.param(
            lambda remote: (
                remote.resize(900),
                remote.spoilt.update({"tile/entries/003.p/132": b"\0"}),
            ),
            "log_part_missing",
            id="no bundle",
        ),
    ],
)
@pytest.mark.parametrize("quick", [False, True])
async def test_of_a_log_that_is_not_sound_nothing_is_published(
    tmp_path: Path, change, code: str, quick: bool
) -> None:
    remote = Remote(600)
    await publish(tmp_path, remote)
    sound = files(tmp_path)
    other = change(remote)
    remote = other if isinstance(other, Remote) else remote
    with pytest.raises(RegistryError) as caught:
        await publish(tmp_path, remote, quick=quick)
    assert caught.value.code == code
    left = {path: file for path, file in files(tmp_path).items() if STAGED not in path}
    assert left == sound


async def test_what_an_unsound_log_left_staged_is_not_published_later(
    tmp_path: Path,
) -> None:
    """It died before it was found out."""
    remote = Remote(600)
    await publish(tmp_path, remote)
    LogFolder(tmp_path).stage("tile/entries/002.p/99", b"bad")
    LogFolder(tmp_path).stage("tile/0/003", bytes(8192))
    LogFolder(tmp_path).stage("tile/entries/003", encode_bundle([b"{}"] * 256))
    remote.resize(1_100)
    await publish(tmp_path, remote)
    assert files(tmp_path).keys() == {*expected(1_100), "tile/1/000.p/2"}
    verify(tmp_path, 1_100)


async def test_where_the_partial_bundle_is_gone_the_full_one_is_taken(
    tmp_path: Path,
) -> None:
    remote = Remote(300)
    grown = Remote(512)
    remote.spoilt["tile/entries/001.p/44"] = None
    remote.spoilt["tile/entries/001"] = grown.bundles["tile/entries/001"]
    await publish(tmp_path, remote)
    assert files(tmp_path).keys() == expected(300)
    verify(tmp_path, 300)


async def test_a_folder_of_another_log_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "checkpoint").write_bytes(
        b"other.example\n1\nAAAA\n\n\xe2\x80\x94 x AAAAAAA=\n"
    )
    with pytest.raises(RegistryError) as caught:
        await publish(tmp_path, Remote(5))
    assert caught.value.code == "log_forked"


async def test_two_at_once_do_not_share_a_folder(tmp_path: Path) -> None:
    with LogFolder(tmp_path).locked(), pytest.raises(FolderBusy):
        await publish(tmp_path, Remote(5))
    await publish(tmp_path, Remote(5))
    verify(tmp_path, 5)


async def test_what_a_former_key_signed_is_gone_on_from(tmp_path: Path) -> None:
    await publish(tmp_path, Remote(300))
    fresh = Signer(
        name=SIGNER.name,
        algorithm=NoteAlgorithm.ED25519,
        private=Ed25519PrivateKey.from_private_bytes(b"n" * 32),
    )
    remote = Remote(400)
    root = verify_checkpoint(remote.note, KEY).checkpoint.root
    checkpoint = Checkpoint(origin=SIGNER.name, size=400, root=root)
    remote.note = sign_checkpoint(checkpoint, fresh)
    with pytest.raises(RegistryError) as caught:
        await publish_files(tmp_path, remote.fetch, fresh.verifier_key)
    assert caught.value.code == "log_forked"
    result = await publish_files(
        tmp_path, remote.fetch, fresh.verifier_key, former_keys=[KEY]
    )
    assert result.entries == 400
