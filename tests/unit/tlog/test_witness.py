from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.errors import Refused, RegistryError
from registry.tlog.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from registry.tlog.note import (
    NoteAlgorithm,
    Signer,
    cosign_text,
    format_note,
    format_vkey,
    parse_note,
    parse_vkey,
)
from registry.tlog.witness import (
    Cosigned,
    Declined,
    OtherSize,
    Witness,
    format_add_checkpoint,
    parse_witness,
    parse_witness_answer,
)

W1 = "witness.example/w1+b7ca19fe+BCk0ypSnkfID73RCwbtw1vTZbpRfImqHwhNn+5t4pM5j"
LOG_KEY = "registry.example/audit+1d57a2a5+AS8hCaL4nFuwLFYf1R0m93lMwe1ctXz7Tvgx3X/lchMX"
TEXT = "registry.example/audit\n5\nk67NAgtBBFNmzxEbqH1khylxXpEJE3fozrdydodE0Do=\n"
LOG_LINE = (
    "\u2014 registry.example/audit HVeipcP1AOHJRh3+BZWyFCqJ9R05b5GGacxuvEqlyFM+Cg+2pHulDDwm"
    "gWVmg9EXiPhbokGznJuQd30HNVMNFqOQNQk=\n"
)
LINE = (
    "\u2014 witness.example/w1 t8oZ/gAAAABpUkfAi9UKjnj4ofSCQvBpIpTzk1RXi1WtC+kqbdCw3Jt3G/dt"
    "oFwSAFhdYBpU64Z/Y+xQ79eHiJTIQPbtcuRLWDdwBA==\n"
)
NOTE = f"{TEXT}\n{LOG_LINE}".encode()
WITNESS = Witness(key=parse_vkey(W1), prefix="https://witness.example")


def ask(status: int, body: bytes, content_type: str = "text/plain"):
    return parse_witness_answer(
        WITNESS, NOTE, status=status, content_type=content_type, body=body
    )


def cosign(signer: Signer, text: str = TEXT, unix_s: int = 1) -> bytes:
    note = format_note(text, [cosign_text(text, signer, unix_s)])
    return note[len(text.encode()) + 1 :]


def test_the_vector_of_a_cosignature_is_taken():
    result = ask(200, LINE.encode())
    assert result == Cosigned(line=LINE, unix_s=1_767_000_000)
    verified = verify_checkpoint(
        NOTE + result.line.encode(), parse_vkey(LOG_KEY), [WITNESS.key]
    )
    assert [cosignature.key for cosignature in verified.cosignatures] == [WITNESS.key]


def test_lines_by_other_keys_are_passed_over(log_signer, witness_signer):
    other = Signer(
        name="other.example",
        algorithm=NoteAlgorithm.COSIGNATURE_V1,
        private=witness_signer.private,
    )
    result = ask(200, cosign(other) + LINE.encode() + cosign(other))
    assert result == Cosigned(line=LINE, unix_s=1_767_000_000)


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda _: b"", id="nothing"),
        pytest.param(lambda _: b"\n", id="an empty line"),
        pytest.param(lambda line: line[:-1], id="no newline"),
        pytest.param(lambda line: line + b"\n", id="a blank line behind"),
        pytest.param(lambda line: b"more\n\n" + line, id="text before"),
        pytest.param(lambda line: line.replace(b"t8oZ", b"t8oa"), id="another key id"),
        pytest.param(lambda line: line.replace(b"pUkf", b"pUkg"), id="another time"),
        pytest.param(lambda line: line.replace(b"w1", b"w2"), id="another name"),
        pytest.param(lambda _: LOG_LINE.encode(), id="the log's own signature"),
        pytest.param(lambda line: line.replace(b" w", b"  w"), id="two spaces"),
        pytest.param(lambda line: line.replace(b"\xe2\x80\x94", b"-"), id="no dash"),
        pytest.param(lambda line: b"\xff" + line, id="not UTF-8"),
        pytest.param(lambda line: line * 65, id="too many lines"),
    ],
)
def test_what_is_no_cosignature_is_refused(spoil):
    with pytest.raises(RegistryError):
        ask(200, spoil(LINE.encode()))


@pytest.mark.parametrize("unix_s", [0, 253_402_300_800, 2**63 - 1])
def test_a_time_that_no_clock_shows_is_refused(witness_signer, unix_s):
    with pytest.raises(Refused):
        ask(200, cosign(witness_signer, unix_s=unix_s))


def test_a_cosignature_of_another_checkpoint_is_refused(witness_signer):
    with pytest.raises(Refused, match="log_note_signature_invalid"):
        ask(200, cosign(witness_signer, text=TEXT.replace("5", "6", 1)))


def test_a_cosignature_of_more_than_was_sent_is_refused(witness_signer):
    """It is sound, and nobody could verify it with the checkpoint."""
    line = cosign(witness_signer, text=f"{TEXT}\nmore\n")
    with pytest.raises(Refused, match="more than signature lines"):
        ask(200, b"more\n\n" + line)


@pytest.mark.parametrize(
    ("body", "size"), [(b"0\n", 0), (b"5\n", 5), (b"9223372036854775807\n", 2**63 - 1)]
)
def test_a_conflict_tells_where_to_begin(body, size):
    assert ask(409, body, "text/x.tlog.size") == OtherSize(size=size)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"5",
        b"55",
        b"05\n",
        b"+5\n",
        b"-1\n",
        b"5\n5\n",
        b"x\n",
        b"9" * 4000 + b"\n",
    ],
)
def test_a_size_has_one_spelling(body):
    with pytest.raises(Refused):
        ask(409, body, "text/x.tlog.size")


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422, 429, 500, 503, 302, 999])
def test_every_other_answer_is_a_no(status):
    result = ask(status, b"whatever")
    assert isinstance(result, Declined)
    assert (result.status, bool(result.reason)) == (status, True)


@given(st.integers(100, 600), st.binary(max_size=300), st.text(max_size=30))
def test_no_answer_does_anything_but_be_taken_or_refused(status, body, content_type):
    with suppress(RegistryError):
        ask(status, body, content_type)


def test_the_request_has_the_form_of_the_specification():
    proof = [bytes([number]) * 32 for number in (1, 2)]
    assert format_add_checkpoint(3, proof, NOTE) == (
        b"old 3\n"
        b"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n"
        b"AgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI=\n"
        b"\n" + NOTE
    )
    assert format_add_checkpoint(0, [], NOTE) == b"old 0\n\n" + NOTE
    assert parse_note(NOTE).text == TEXT


@pytest.mark.parametrize(
    "text",
    [
        "",
        W1,
        f"{W1} http://witness.example",
        f"{W1} https://witness.example/?a=b",
        f"{W1} https://a.example https://b.example",
        f"{LOG_KEY} https://witness.example",
        f"{W1[:-1]} https://witness.example",
        "https://witness.example",
    ],
)
def test_a_witness_is_a_cosigning_key_and_an_address(text):
    with pytest.raises(Refused):
        parse_witness(text)


def test_a_witness_is_known_by_name_and_key():
    witness = parse_witness(f" {W1}  https://witness.example/registry/ ")
    assert witness.url == "https://witness.example/registry/add-checkpoint"
    assert witness.id == "witness.example/w1+b7ca19fe"
    assert format_vkey(witness.key) == W1


def test_the_log_of_the_vector_signs_the_same_note(log_signer):
    checkpoint = Checkpoint(
        origin="registry.example/audit",
        size=5,
        root=bytes.fromhex(
            "93aecd020b41045366cf111ba87d648729715e91091377e8ceb772768744d03a"
        ),
    )
    assert sign_checkpoint(checkpoint, log_signer) == NOTE
