from datetime import timedelta
from hashlib import sha256

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused, RegistryError
from registry.records.evidence import Evidence, parse_evidence, verify_evidence
from registry.records.promise import format_promise, sign_promise
from registry.tlog.checkpoint import Checkpoint, format_checkpoint, sign_checkpoint
from registry.tlog.edge import TreeEdge
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer, cosign_text, format_vkey
from tests.unit.records.history import NOON, History
from tests.unit.tlog.proofs import consistency_proof


def signer(name, algorithm=NoteAlgorithm.ED25519):
    seed = sha256(name.encode()).digest()
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return Signer(name=name, algorithm=algorithm, private=private)


LOG, PROMISER = signer("log.example"), signer("log.example/promise")
WITNESS = signer("w.example", NoteAlgorithm.COSIGNATURE_V1)
PROMISED_AT = NOON + timedelta(minutes=10, seconds=30)
BEFORE, AFTER = 4, 16  # entry i is of minute i - 2; the promise was in the tenth


def history_of(minutes):
    history = History().begin()
    while len(history.bodies) < minutes:
        history.pass_by(minutes=1)
        history.rank()
    return history


LEAF = leaf_hash(b"what was promised")
ALL = history_of(40).bodies


def make_evidence(first=BEFORE, last=AFTER, size=40, leaf=LEAF, **changes):
    """Of a log of `size` entries, its leaves first..last."""
    bodies = ALL[:size]
    leaves = [leaf_hash(body) for body in bodies]
    edge, _ = TreeEdge().append(leaves)
    before, _ = TreeEdge().append(leaves[:first])
    head = Checkpoint(origin=LOG.name, size=size, root=edge.root())
    witnessed = changes.pop("witnessed_at", None)
    lines = []
    if witnessed:
        text = format_checkpoint(head)
        lines = [cosign_text(text, WITNESS, int(witnessed.timestamp()))]
    promise = sign_promise(leaf, PROMISED_AT, PROMISER.private)
    proof = () if last + 1 == size else consistency_proof(leaves, last + 1)
    members = {
        "version": "fair-registry/broken-promise/v1",
        "log_key": format_vkey(LOG.verifier_key),
        "promise_key": format_vkey(PROMISER.verifier_key),
        "leaf_hash": leaf.hex(),
        "promise": format_promise(promise),
        "checkpoint": sign_checkpoint(head, LOG, lines).decode(),
        "first_index": first,
        "levels": [list(level) for level in before.levels],
        "leaves": leaves[first : last + 1],
        "consistency": list(proof),
        "first_entry": bodies[first].decode(),
        "last_entry": bodies[last].decode(),
        "seen_at": NOON + timedelta(hours=1),
    }
    return Evidence(**members | changes)


def test_a_broken_promise_is_shown_to_anyone():
    data = msgspec.json.encode(make_evidence())
    broken = verify_evidence(parse_evidence(data))
    assert broken.leaf == LEAF
    assert (broken.first_index, broken.last_index) == (BEFORE, AFTER)
    assert broken.promise.promised_at == PROMISED_AT
    assert broken.shown_by == "record"


def test_the_nearest_records_that_are_far_enough_show_it():
    """A record tells its minute alone: eleven begins before the delay is over."""
    assert verify_evidence(make_evidence(first=10, last=14)).shown_by == "record"


def test_from_the_beginning_of_a_log_nothing_stands_before():
    broken = verify_evidence(make_evidence(first=0, first_entry=""))
    assert broken.first_index == 0


def test_the_end_of_a_log_that_says_no_more_is_dated_by_a_witness():
    end = {"last": 11, "size": 12}
    late = NOON + timedelta(minutes=12)
    evidence = make_evidence(**end, witnessed_at=late)
    assert verify_evidence(evidence, [WITNESS.verifier_key]).shown_by == "witness"
    assert verify_evidence(evidence).shown_by == "reporter"
    early = make_evidence(**end, witnessed_at=PROMISED_AT)
    assert verify_evidence(early, [WITNESS.verifier_key]).shown_by == "reporter"


def test_an_older_checkpoint_that_is_cosigned_late_proves_nothing():
    """Entry 12 came in time; the checkpoint before it, handed to a lagging witness, lacks it."""
    evidence = make_evidence(
        leaf=leaf_hash(ALL[12]),
        last=11,
        size=12,
        witnessed_at=NOON + timedelta(hours=9),
    )
    assert verify_evidence(evidence, [WITNESS.verifier_key]).shown_by == "witness"
    whole = make_evidence(leaf=leaf_hash(ALL[12]))
    with pytest.raises(Refused, match="among those"):
        verify_evidence(whole)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"leaf": leaf_hash(ALL[10])}, id="the leaf is there"),
        pytest.param({"first": 13}, id="it begins behind the promise"),
        pytest.param({"first": 11}, id="it begins a minute before the promise"),
        pytest.param({"last": 10}, id="it ends before the delay is over"),
        pytest.param({"last": 13}, id="it ends a minute before that"),
        pytest.param(
            {"last": 11, "size": 12, "seen_at": PROMISED_AT}, id="it was seen too early"
        ),
        pytest.param({"last_entry": ALL[39].decode()}, id="another last entry"),
        pytest.param({"first_entry": ALL[0].decode()}, id="another first entry"),
        pytest.param({"first_entry": "{}"}, id="no record"),
        pytest.param({"leaf_hash": LEAF.hex()[:-2] + "00"}, id="another leaf"),
        pytest.param({"leaf_hash": "zz"}, id="no hex"),
        pytest.param({"leaf_hash": "00"}, id="a short leaf"),
        pytest.param({"promise": {}}, id="no promise"),
        pytest.param({"promise_key": format_vkey(LOG.verifier_key)}, id="another key"),
        pytest.param({"log_key": format_vkey(PROMISER.verifier_key)}, id="another log"),
        pytest.param({"log_key": "x"}, id="no key"),
        pytest.param({"checkpoint": ""}, id="no checkpoint"),
        pytest.param({"levels": []}, id="no edge"),
        pytest.param({"first_index": -1}, id="a negative index"),
        pytest.param({"first_index": 5}, id="another place"),
        pytest.param({"leaves": []}, id="no leaves"),
        pytest.param({"leaves": [b"x"] * 13}, id="short leaves"),
        pytest.param({"consistency": []}, id="no consistency proof"),
    ],
)
def test_what_shows_no_broken_promise_is_refused(changes):
    with pytest.raises(RegistryError):
        verify_evidence(make_evidence(**changes))


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"[]", b'{"version":"fair-registry/broken-promise/v2"}', b"["]
)
def test_what_is_no_evidence_is_refused(data):
    with pytest.raises(RegistryError):
        parse_evidence(data)


def test_a_time_without_a_zone_is_refused():
    data = msgspec.json.encode(make_evidence()).replace(b"13:00:00Z", b"13:00:00")
    with pytest.raises(RegistryError):
        parse_evidence(data)


@pytest.mark.parametrize("dropped", range(13))
def test_no_leaf_can_be_left_out(dropped):
    evidence = make_evidence()
    del evidence.leaves[dropped]
    with pytest.raises(RegistryError):
        verify_evidence(evidence)
