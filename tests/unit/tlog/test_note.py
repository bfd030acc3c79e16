from base64 import b64decode, b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.ed25519_points import SMALL_ORDER_Y
from registry.errors import Refused, RegistryError, TooLarge
from registry.tlog.note import (
    MAX_NOTE_BYTES,
    MAX_SIGNATURES,
    NoteAlgorithm,
    NoteSignature,
    VerifierKey,
    cosign_text,
    format_note,
    format_vkey,
    parse_note,
    parse_vkey,
    sign_text,
    verify_note,
)

TEXT = "a text\n\nwith an empty line\n"
STRANGER = NoteSignature(name="stranger", key_id=b"abcd", signature=b"anything")


def test_the_published_note_verifies(vectors):
    known = vectors["note"]
    note = f"{known['text']}\n\u2014 example.com/foo {known['signature']}\n".encode()
    verified = verify_note(note, [parse_vkey(known["vkey"])])
    assert verified.text == known["text"]
    assert format_vkey(verified.signatures[0].key) == known["vkey"]


def test_keys_have_their_published_spelling(vectors, log_signer, witness_signer):
    known = vectors["small_log"]
    assert format_vkey(log_signer.verifier_key) == known["log_vkey"]
    assert format_vkey(witness_signer.verifier_key) == known["witness_vkey"]
    assert parse_vkey(known["witness_vkey"]) == witness_signer.verifier_key


def test_a_note_is_signed_and_cosigned(log_signer, witness_signer):
    lines = [sign_text(TEXT, log_signer), cosign_text(TEXT, witness_signer, 17)]
    keys = [witness_signer.verifier_key, log_signer.verifier_key]
    verified = verify_note(format_note(TEXT, lines), keys)
    assert verified.text == TEXT
    assert [by.key for by in verified.signatures] == keys[::-1]
    assert [by.cosigned_unix_s for by in verified.signatures] == [None, 17]


def test_sixteen_signatures_and_more_are_accepted(log_signer):
    lines = [STRANGER] * (MAX_SIGNATURES - 1) + [sign_text(TEXT, log_signer)]
    assert len(lines) >= 16
    verified = verify_note(format_note(TEXT, lines), [log_signer.verifier_key])
    assert len(verified.signatures) == 1


def test_too_many_signatures_are_refused(log_signer):
    lines = [sign_text(TEXT, log_signer)] * (MAX_SIGNATURES + 1)
    with pytest.raises(TooLarge):
        verify_note(format_note(TEXT, lines), [log_signer.verifier_key])


def test_a_note_over_the_size_limit_is_refused():
    with pytest.raises(TooLarge):
        parse_note(b"x" * (MAX_NOTE_BYTES + 1))


def test_a_line_by_an_unknown_key_is_passed_over(log_signer, witness_signer):
    same_name = NoteSignature(name=log_signer.name, key_id=b"abcd", signature=b"x")
    same_id = NoteSignature(
        name="stranger", key_id=log_signer.verifier_key.key_id, signature=b"x"
    )
    lines = [same_name, same_id, sign_text(TEXT, log_signer)]
    verified = verify_note(format_note(TEXT, lines), [log_signer.verifier_key])
    assert len(verified.signatures) == 1


def test_a_note_without_a_trusted_signature_is_refused(log_signer, witness_signer):
    note = format_note(TEXT, [sign_text(TEXT, log_signer), STRANGER])
    with pytest.raises(Refused) as refused:
        verify_note(note, [witness_signer.verifier_key])
    assert refused.value.code == "log_note_unsigned"


def test_a_known_key_that_fails_rejects_the_note_despite_a_good_line(
    log_signer, witness_signer
):
    elsewhere = cosign_text("another text\n", witness_signer, 17)
    note = format_note(TEXT, [sign_text(TEXT, log_signer), elsewhere])
    with pytest.raises(Refused) as refused:
        verify_note(note, [log_signer.verifier_key, witness_signer.verifier_key])
    assert refused.value.code == "log_note_signature_invalid"


def test_a_second_failing_line_by_the_same_key_rejects_the_note(log_signer):
    lines = [sign_text(TEXT, log_signer), sign_text("another\n", log_signer)]
    with pytest.raises(Refused):
        verify_note(format_note(TEXT, lines), [log_signer.verifier_key])


@pytest.mark.parametrize("change", [b"", b"\0" * 7, b"\xff" * 72, b"\0" * 73])
def test_a_cosignature_of_another_form_is_refused(witness_signer, change):
    key = witness_signer.verifier_key
    line = NoteSignature(name=key.name, key_id=key.key_id, signature=change or b"\0")
    with pytest.raises(Refused) as refused:
        verify_note(format_note(TEXT, [line]), [key])
    assert refused.value.code == "log_note_signature_invalid"


def test_a_cosignature_binds_its_time(witness_signer):
    line = cosign_text(TEXT, witness_signer, 17)
    later = NoteSignature(
        name=line.name,
        key_id=line.key_id,
        signature=(18).to_bytes(8, "big") + line.signature[8:],
    )
    with pytest.raises(Refused):
        verify_note(format_note(TEXT, [later]), [witness_signer.verifier_key])


def test_a_cosignature_at_a_time_beyond_63_bits_is_refused(witness_signer):
    key, unix_s = witness_signer.verifier_key, 2**63
    message = f"cosignature/v1\ntime {unix_s}\n{TEXT}".encode()
    signature = unix_s.to_bytes(8, "big") + witness_signer.private.sign(message)
    line = NoteSignature(name=key.name, key_id=key.key_id, signature=signature)
    with pytest.raises(Refused):
        verify_note(format_note(TEXT, [line]), [key])


def test_a_key_signs_only_by_its_own_algorithm(log_signer, witness_signer):
    with pytest.raises(ValueError, match="cosigns"):
        sign_text(TEXT, witness_signer)
    with pytest.raises(ValueError, match="without a time"):
        cosign_text(TEXT, log_signer, 17)


LINE = "\u2014 name YWJjZGVm\n"


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        "text\n",
        "text\n\n",
        f"text\n{LINE}",
        f"text\n\n{LINE[:-1]}",
        f"text\n\n{LINE[:-1]} ",
        f"text\n\n{LINE}\n",
        f"text\n\n{LINE}more\n",
        "text\n\n- name YWJjZGVm\n",
        "text\n\n\u2013 name YWJjZGVm\n",
        "text\n\n\u2014name YWJjZGVm\n",
        "text\n\n\u2014  YWJjZGVm\n",
        "text\n\n\u2014 name  YWJjZGVm\n",
        "text\n\n\u2014 name YWJjZGVm \n",
        "text\n\n\u2014 na+me YWJjZGVm\n",
        "text\n\n\u2014 na\u00a0me YWJjZGVm\n",
        "text\n\n\u2014 name YWJjZGVm extra\n",
        "text\n\n\u2014 name YWJjZA==\n",
        "text\n\n\u2014 name YWJjZGVm=\n",
        "text\n\n\u2014 name YWJjZGV\n",
        "text\n\n\u2014 name YWJjZGU\n",
        "text\n\n\u2014 name YWJjZGV=\n",
        "text\n\n\u2014 name YWJj_GVm\n",
        "text\n\n\u2014 name YWJj\u00e4GVm\n",
        f"te\txt\n\n{LINE}",
        f"text\r\n\r\n{LINE}",
        f"te\0xt\n\n{LINE}",
    ],
)
def test_a_note_of_another_form_is_refused(note):
    with pytest.raises(Refused) as refused:
        parse_note(note.encode())
    assert refused.value.code == "log_note_malformed"


def test_a_note_that_is_not_utf_8_is_refused():
    with pytest.raises(Refused):
        parse_note(b"\xff\n\n" + LINE.encode())


@given(
    st.binary(max_size=80)
    | st.text("a\n \u2014+", max_size=40).map(lambda text: (text + LINE).encode())
)
def test_any_bytes_are_a_note_in_its_one_form_or_refused(data):
    try:
        note = parse_note(data)
    except RegistryError:
        return
    assert format_note(note.text, note.signatures) == data


PUBLIC = b64encode(b"\x01" + bytes(32)).decode()


@pytest.mark.parametrize(
    "vkey",
    [
        "",
        "name",
        "name+12345678",
        f"name+12345678+{PUBLIC}",
        f"+12345678+{PUBLIC}",
        f"na me+12345678+{PUBLIC}",
        "name+12345678+AQ==",
        "name+12345678+",
        "name+12345678+AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ],
)
def test_a_verifier_key_of_another_form_is_refused(vkey):
    with pytest.raises(Refused) as refused:
        parse_vkey(vkey)
    assert refused.value.code == "log_note_key_malformed"


@pytest.mark.parametrize("y", sorted(SMALL_ORDER_Y), ids=lambda y: hex(y)[:8])
@pytest.mark.parametrize("sign", [0, 1])
def test_a_key_under_which_anybody_signs_is_refused(y, sign):
    public = (y | sign << 255).to_bytes(32, "little")
    key = VerifierKey(name="log.test", algorithm=NoteAlgorithm.ED25519, public=public)
    with pytest.raises(Refused, match="log_note_key_malformed"):
        parse_vkey(format_vkey(key))


def test_a_key_id_in_capitals_is_refused(vectors):
    name, key_id, public = vectors["note"]["vkey"].split("+", 2)
    with pytest.raises(Refused):
        parse_vkey(f"{name}+{key_id.upper()}+{public}")


def test_the_same_key_for_two_algorithms_has_two_ids(vectors):
    public = b64decode(vectors["note"]["vkey"].split("+", 2)[2])[1:]
    ids = {
        VerifierKey(name="n", algorithm=a, public=public).key_id for a in NoteAlgorithm
    }
    assert len(ids) == 2
