"""What a witness cosigns: a table of requests, one of them honest."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused, RegistryError
from registry.tlog.add_checkpoint import (
    SizeConflict,
    judge_checkpoint,
    parse_add_checkpoint,
)
from registry.tlog.canonical_text import format_base64
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint
from registry.tlog.proof import prove_consistency
from registry.tlog.witness import format_add_checkpoint

SEEN = 5


@pytest.fixture
def judge(make_log, log_signer):
    """Judge a request about the log of size `to`, of which 5 entries are cosigned."""
    seen = make_log(SEEN).checkpoint

    def judged(to=9, old=SEEN, *, other=None, proof=None, seen=seen, key=log_signer):
        log = make_log(to, rewritten=other)
        honest = prove_consistency(old, to, log.read) if 0 < old < to else ()
        hashes = honest if proof is None else proof(honest)
        body = format_add_checkpoint(old, hashes, sign_checkpoint(log.checkpoint, key))
        request = parse_add_checkpoint(body)
        return judge_checkpoint(request, [log_signer.verifier_key], seen)

    return judged


def test_what_extends_the_last_is_cosigned(judge, make_log):
    for to in (5, 6, 8, 9, 300):
        assert judge(to) == make_log(to).checkpoint
    for to in (0, 1, 5, 300):
        assert judge(to, 0, seen=None) == make_log(to).checkpoint


@pytest.mark.parametrize(
    ("request_", "code", "size"),
    [
        pytest.param({"old": 6}, "log_witness_conflict", 5, id="old size larger"),
        pytest.param({"old": 0}, "log_witness_conflict", 5, id="begun anew"),
        pytest.param({"to": 4, "old": 4}, "log_witness_conflict", 5, id="replayed"),
        pytest.param({"to": 4, "old": 3}, "log_witness_conflict", 5, id="rolled back"),
        pytest.param(
            {"to": 5, "other": 2}, "log_witness_conflict", 5, id="forked here"
        ),
        pytest.param(
            {"old": 3, "seen": None}, "log_witness_conflict", 0, id="never seen"
        ),
        pytest.param(
            {"to": 4},
            "log_witness_request_malformed",
            None,
            id="old size above the new",
        ),
        pytest.param({"other": 2}, "log_proof_invalid", None, id="forked before"),
        pytest.param(
            {"proof": lambda hashes: hashes[:-1]}, "log_proof_invalid", None, id="short"
        ),
        pytest.param(
            {"proof": lambda hashes: (*hashes, hashes[0])},
            "log_proof_invalid",
            None,
            id="long",
        ),
        pytest.param(
            {"proof": lambda hashes: hashes[::-1]},
            "log_proof_invalid",
            None,
            id="turned",
        ),
        pytest.param({"proof": lambda _: ()}, "log_proof_invalid", None, id="none"),
        pytest.param(
            {"to": 5, "proof": lambda _: (b"\1" * 32,)},
            "log_proof_invalid",
            None,
            id="a proof of nothing",
        ),
        pytest.param(
            {"old": 0, "seen": None, "proof": lambda _: (b"\1" * 32,)},
            "log_proof_invalid",
            None,
            id="a proof from nothing",
        ),
    ],
)
def test_what_does_not_is_refused(judge, request_, code, size):
    with pytest.raises(Refused if size is None else SizeConflict) as refused:
        judge(**request_)
    assert refused.value.code == code
    assert getattr(refused.value, "size", None) == size


def test_an_empty_tree_has_one_root(judge, make_log, log_signer):
    forged = Checkpoint(origin=log_signer.name, size=0, root=b"\1" * 32)
    body = format_add_checkpoint(0, (), sign_checkpoint(forged, log_signer))
    with pytest.raises(SizeConflict):
        judge_checkpoint(parse_add_checkpoint(body), [log_signer.verifier_key], None)


def test_a_strangers_signature_is_none(judge, witness_signer, log_signer):
    stranger = type(log_signer)(
        name=log_signer.name,
        algorithm=log_signer.algorithm,
        private=witness_signer.private,
    )
    with pytest.raises(Refused, match="log_note_unsigned"):
        judge(key=stranger)


NOTE = b"a/log\n5\nk67NAgtBBFNmzxEbqH1khylxXpEJE3fozrdydodE0Do=\n\n\xe2\x80\x94 a/log AAAAAAAA\n"
HASH = format_base64(b"\1" * 32).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old 5",
        b"old 5\n" + NOTE,
        b"old  5\n\n" + NOTE,
        b"old 05\n\n" + NOTE,
        b"old -1\n\n" + NOTE,
        b"old 9223372036854775808\n\n" + NOTE,
        b"old \xd9\xa5\n\n" + NOTE,
        b"new 5\n\n" + NOTE,
        b"old 5\r\n\n" + NOTE,
        b"old 5\nAAAA\n\n" + NOTE,
        b"old 5\n" + HASH[:-1] + b"\n\n" + NOTE,
        b"old 5\n" + b"\n".join([HASH] * 64) + b"\n\n" + NOTE,
        b"old 5\n\n" + NOTE.replace(b"\n5\n", b"\n05\n"),
        b"old 5\n\n" + NOTE.replace(b"k67N", b"k67NAA"),
        b"old 5\n\n" + NOTE.replace(b"\n\n", b"\n"),
    ],
)
def test_a_request_has_one_form(body):
    assert parse_add_checkpoint(b"old 5\n" + b"\n".join([HASH] * 63) + b"\n\n" + NOTE)
    with pytest.raises(RegistryError):
        parse_add_checkpoint(body)


@given(st.binary(max_size=400) | st.builds(b"old 5\n\n".__add__, st.binary()))
def test_no_request_does_anything_but_be_taken_or_refused(body):
    with suppress(RegistryError):
        parse_add_checkpoint(body)
