"""A witness as a command: what it answers, and what it remembers whatever befalls it."""

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from http.client import HTTPConnection, HTTPException
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.cli import main
from registry.cli.witness.run_witness import follow_logs
from registry.cli.witness.witness_app import MAX_BODY_BYTES, answer
from registry.cli.witness.witness_state import WitnessState
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from registry.tlog.merkle import leaf_hash, tree_root
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey
from registry.tlog.witness import SIZE_TYPE, format_add_checkpoint
from tests.cli.audited import serving
from tests.unit.tlog.proofs import consistency_proof
from tests.waiting import PATIENCE_S

SEEN, NEXT = 5, 9


def signer(origin: str, seed: str = "log") -> Signer:
    private = Ed25519PrivateKey.from_private_bytes(sha256(seed.encode()).digest())
    return Signer(name=origin, algorithm=NoteAlgorithm.ED25519, private=private)


LOG = signer("registry.example")
VKEY = format_vkey(LOG.verifier_key)


def note(size: int, *, forked: int | None = None, by: Signer = LOG) -> bytes:
    root = tree_root(leaves(size, forked))
    return sign_checkpoint(Checkpoint(origin=by.name, size=size, root=root), by)


def signature(size: int) -> bytes:
    return note(size).split()[-1]


def leaves(size: int, forked: int | None) -> list[bytes]:
    return [leaf_hash(b"%d%d" % (i, i == forked)) for i in range(size)]


def extend(
    old: int, size: int, *, forked: int | None = None, by: Signer = LOG
) -> bytes:
    proof = consistency_proof(leaves(size, forked), old) if 0 < old < size else ()
    return format_add_checkpoint(old, proof, note(size, forked=forked, by=by))


@contextmanager
def witness_at(folder: Path) -> Iterator[WitnessState]:
    """A witness of the log, as its process has it."""
    state = WitnessState(folder, "witness.example")
    asyncio.run(follow_logs(state, (VKEY,)))
    try:
        yield state
    finally:
        state.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a witness that has cosigned five entries."""
    with witness_at(tmp_path / "w") as state:
        assert answer(state, extend(0, SEEN)).status_code == 200
    return tmp_path / "w"


def test_each_refusal_has_its_status_and_none_moves_the_witness(folder: Path) -> None:
    with witness_at(folder) as state:
        for body, status in (
            (b"old 5", 400),
            (extend(SEEN, 4), 400),
            (extend(SEEN, NEXT, by=signer("other.example")), 404),
            (extend(SEEN, NEXT, by=signer("registry.example", "stranger")), 403),
            (extend(SEEN, NEXT).replace(signature(NEXT), signature(SEEN)), 403),
            (extend(6, NEXT), 409),
            (extend(0, SEEN), 409),
            (extend(4, 4), 409),
            (extend(SEEN, SEEN, forked=1), 409),
            (extend(SEEN, NEXT, forked=1), 422),
        ):
            given = answer(state, body)
            assert given.status_code == status, given.content
            if status == 409:
                assert given.content == b"5\n"
        assert state.logs[LOG.name].note.encode() == note(SEEN)


def test_a_replay_is_cosigned_again_and_a_follower_verifies_it(folder: Path) -> None:
    with witness_at(folder) as state:
        for old in (SEEN, NEXT, NEXT):
            given = answer(state, extend(old, NEXT))
            assert given.status_code == 200
            witness = state.signer.verifier_key
            whole = note(NEXT) + given.content
            verified = verify_checkpoint(whole, LOG.verifier_key, [witness])
            [cosignature] = verified.cosignatures
            assert abs((cosignature.cosigned_unix_s or 0) - time.time()) < 60


def test_of_two_requests_that_fork_one_is_cosigned_also_after_a_restart(
    folder: Path,
) -> None:
    with witness_at(folder) as state:
        assert answer(state, extend(SEEN, NEXT, forked=6)).status_code == 200
        assert answer(state, extend(SEEN, NEXT)).status_code == 409
    with witness_at(folder) as state:
        assert answer(state, extend(SEEN, NEXT)).status_code == 409
        assert answer(state, extend(NEXT, NEXT)).status_code == 409
        assert answer(state, extend(NEXT, 12, forked=6)).status_code == 200


# What the process does around the replacement of its file, and who cosigns in the end.
KILLED = {
    "before it is stored": "os.kill(os.getpid(), 9); replace(*paths)",
    "stored, before it answers": "replace(*paths); os.kill(os.getpid(), 9)",
    "after it has answered": "replace(*paths)",
    "answered, never stored": "os.remove(paths[0])",
}
PROCESS = """
import os, pathlib, registry.cli
def patched(*paths):
    if b"{size}" in paths[0].read_bytes():
        {deed}
    else:
        replace(*paths)
replace, pathlib.Path.replace = pathlib.Path.replace, patched
registry.cli.main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("when", KILLED)
def test_killed_at_any_instant_it_cosigns_one_history(when: str, folder: Path) -> None:
    """The last is the control: such a witness is caught by the same requests."""
    size = f"\\\\n{NEXT}\\\\n"
    cosigned = []
    with running(folder, PROCESS.format(size=size, deed=KILLED[when])) as port:
        cosigned.append(post(port, extend(SEEN, NEXT)))
    with witness_at(folder) as state:
        cosigned += [
            answer(state, extend(old, NEXT, forked=6)).status_code
            for old in (SEEN, NEXT)
        ]
        after = answer(state, extend(NEXT, NEXT)).status_code
    expected = {
        "before it is stored": ([None, 200, 200], 409),
        "stored, before it answers": ([None, 409, 409], 200),
        "after it has answered": ([200, 409, 409], 200),
        "answered, never stored": ([200, 200, 200], 409),
    }
    assert (cosigned, after) == expected[when]


@contextmanager
def running(folder: Path, program: str) -> Iterator[int]:
    """The command in a process of its own, killed in the end; gives its port."""
    with closing(socket.create_server(("127.0.0.1", 0))) as trial:
        port: int = trial.getsockname()[1]
    arguments = ("--follow", VKEY, "--data", str(folder), "--port", str(port))
    process = subprocess.Popen([sys.executable, "-c", program, "witness", *arguments])
    try:
        while post(port, b"") != 400:
            assert process.poll() is None
            time.sleep(0.02)
        yield port
    finally:
        process.kill()
        assert process.wait() == -signal.SIGKILL


def post(port: int, body: bytes) -> int | None:
    """Return the status, None without an answer."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("POST", "/add-checkpoint", body)
        response = connection.getresponse()
    except (OSError, HTTPException):
        return None
    else:
        if response.status == 409:
            assert response.headers["Content-Type"] == SIZE_TYPE
        return response.status
    finally:
        connection.close()


@pytest.mark.slow
def test_as_a_process_it_answers_bad_requests_and_stops_when_told(
    folder: Path,
) -> None:
    with running(folder, "import registry.cli; registry.cli.main()") as port:
        assert post(port, extend(4, NEXT)) == 409
        assert post(port, b"old 5\n" * MAX_BODY_BYTES) in {413, None}
        assert post(port, b"\xff" * 1000) == 400
        assert post(port, extend(SEEN, NEXT)) == 200
        second = CliRunner().invoke(
            main, ["witness", "--follow", VKEY, "--data", str(folder), "--port", "0"]
        )
        assert "another witness runs on" in second.output


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:0],
        lambda text: text[:-5],
        lambda text: text.replace(b"\\n5\\n", b"\\n4\\n"),
        lambda text: text.replace(VKEY.encode(), b""),
        lambda text: text.replace(b'"version":1', b'"version":2'),
    ],
)
def test_a_damaged_memory_is_refused(damage, folder: Path) -> None:
    [file] = (folder / "logs").glob("*.json")
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(click.ClickException, match="damaged"):
        WitnessState(folder, None)


def test_name_and_key_are_for_life(folder: Path) -> None:
    with pytest.raises(click.ClickException, match="for life"):
        WitnessState(folder, "other.example")
    with pytest.raises(click.ClickException, match="--name"):
        WitnessState(folder / "other", None)


def test_a_registry_is_asked_for_its_key_once_and_another_is_refused(
    tmp_path: Path,
) -> None:
    def follow(*named: str) -> list[str]:
        state = WitnessState(tmp_path / "w", "witness.example")
        try:
            asyncio.run(follow_logs(state, named))
            return [key for log in state.logs.values() for key in log.keys]
        finally:
            state.close()

    other = format_vkey(signer("registry.example", "new").verifier_key)
    with serving(tmp_path) as served:
        served.answers["/v1/log"] = {"verifierKey": VKEY}
        assert follow(served.url) == [VKEY]
    assert follow(served.url) == [VKEY], "it need not be there again"
    with serving(tmp_path) as moved:
        moved.answers["/v1/log"] = {"verifierKey": other}
        with pytest.raises(click.ClickException, match="another key"):
            follow(moved.url)
    assert follow(served.url, other) == [VKEY, other], "the operator has said so"
    for bad in ("x", VKEY.replace("a", "b"), "http://127.0.0.1:9", "ftp://x"):
        with pytest.raises(click.ClickException):
            follow(bad)
