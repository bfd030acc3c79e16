import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused
from registry.tlog.checkpoint import (
    Checkpoint,
    format_checkpoint,
    parse_checkpoint,
    sign_checkpoint,
    verify_by_any,
    verify_checkpoint,
)
from registry.tlog.note import (
    NoteAlgorithm,
    Signer,
    cosign_text,
    format_note,
    sign_text,
)

ROOT = "k67NAgtBBFNmzxEbqH1khylxXpEJE3fozrdydodE0Do="


def test_the_small_log_is_signed_and_cosigned_byte_for_byte(
    vectors, make_log, log_signer, witness_signer
):
    known = vectors["small_log"]
    checkpoint = make_log(5).checkpoint
    text = format_checkpoint(checkpoint)
    witnessed = cosign_text(text, witness_signer, known["cosigned_unix_s"])
    note = sign_checkpoint(checkpoint, log_signer, [witnessed])
    assert note.decode() == known["checkpoint"]


def test_the_small_log_verifies(vectors, log_signer, witness_signer):
    known = vectors["small_log"]
    verified = verify_checkpoint(
        known["checkpoint"].encode(),
        log_signer.verifier_key,
        [witness_signer.verifier_key],
    )
    assert verified.checkpoint.size == 5
    assert verified.checkpoint.root.hex() == known["root_5"]
    assert [by.cosigned_unix_s for by in verified.cosignatures] == [1_767_000_000]


def test_witnesses_that_nobody_asked_for_are_passed_over(vectors, log_signer):
    note = vectors["small_log"]["checkpoint"].encode()
    assert verify_checkpoint(note, log_signer.verifier_key).cosignatures == ()


def test_witnesses_do_not_stand_in_for_the_log(make_log, log_signer, witness_signer):
    text = format_checkpoint(make_log(5).checkpoint)
    note = format_note(text, [cosign_text(text, witness_signer, 17)])
    with pytest.raises(Refused) as refused:
        verify_checkpoint(note, log_signer.verifier_key, [witness_signer.verifier_key])
    assert refused.value.code == "log_note_unsigned"


def test_a_checkpoint_of_another_origin_is_refused(log_signer):
    checkpoint = Checkpoint(origin="elsewhere.example/log", size=0, root=bytes(32))
    note, key = sign_checkpoint(checkpoint, log_signer), log_signer.verifier_key
    with pytest.raises(Refused) as refused:
        verify_checkpoint(note, key)
    assert refused.value.code == "log_origin_wrong"
    with pytest.raises(Refused) as refused:
        verify_by_any(note, [key])
    assert refused.value.code == "log_origin_wrong"


def test_another_key_under_the_same_name_is_refused(make_log, log_signer):
    other = Signer(
        name=log_signer.name,
        algorithm=NoteAlgorithm.ED25519,
        private=Ed25519PrivateKey.from_private_bytes(bytes(32)),
    )
    note = sign_checkpoint(make_log(5).checkpoint, other)
    with pytest.raises(Refused):
        verify_checkpoint(note, log_signer.verifier_key)


def test_a_signed_text_that_is_no_checkpoint_is_refused(log_signer):
    note = format_note("hello\n", [sign_text("hello\n", log_signer)])
    with pytest.raises(Refused) as refused:
        verify_checkpoint(note, log_signer.verifier_key)
    assert refused.value.code == "log_checkpoint_malformed"


def test_extension_lines_are_kept():
    text = f"origin\n5\n{ROOT}\nextension 1\nextension 2\n"
    checkpoint = parse_checkpoint(text)
    assert checkpoint.extensions == ("extension 1", "extension 2")
    assert format_checkpoint(checkpoint) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        f"origin\n5\n{ROOT}",
        "origin\n5\n",
        f"\n5\n{ROOT}\n",
        f"origin\n\n{ROOT}\n",
        f"origin\n05\n{ROOT}\n",
        f"origin\n+5\n{ROOT}\n",
        f"origin\n-5\n{ROOT}\n",
        f"origin\n 5\n{ROOT}\n",
        f"origin\n5.0\n{ROOT}\n",
        f"origin\n\u0665\n{ROOT}\n",
        f"origin\n9223372036854775808\n{ROOT}\n",
        f"origin\n{'9' * 5000}\n{ROOT}\n",
        "origin\n5\nAAAA\n",
        f"origin\n5\n{ROOT[:-2]}p=\n",
        f"origin\n5\n{ROOT.rstrip('=')}\n",
        f"origin\n5\n{ROOT}\n\n",
        f"origin\n5\n{ROOT}\n\nextension\n",
    ],
)
def test_a_checkpoint_of_another_form_is_refused(text):
    with pytest.raises(Refused) as refused:
        parse_checkpoint(text)
    assert refused.value.code == "log_checkpoint_malformed"
