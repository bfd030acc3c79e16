import json
from datetime import UTC, date, datetime, timedelta, timezone
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from registry.errors import Refused, TooLarge
from registry.records.attestation import Rescoring
from registry.records.canonical import digest_of
from registry.records.ranking_record import RankingFields, ranking_record
from registry.records.record import (
    MAX_RECORD_BYTES,
    choice_of,
    erase_record,
    format_minute,
    moderation_record,
    parse_record,
    policy_record,
    registration_record,
    rescore_record,
    seed_commitment_record,
    seed_reveal_record,
    selection_record,
)
from registry.records.seed import commit_secret
from registry.sites.identifier import format_site_id, make_ulid
from registry.tlog.merkle import leaf_hash
from registry.tlog.note import NoteAlgorithm, Signer, format_vkey

AT = datetime(2026, 11, 20, 18, 0, 59, 999_999, tzinfo=UTC)
ID = make_ulid(1_763_661_659_999, b"0123456789")
SITE, OTHER = format_site_id(7), format_site_id(8)
POLICY = digest_of(b"policy")
DIGEST = "X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0"
SECRET = sha256(b"day secret").digest()


def make_ranking(operator_count=None, **changes):
    fields = {
        "record_id": ID,
        "at": AT,
        "operator": "anon",
        "policy": POLICY,
        "snapshot": "gen-42",
        "seed_index": 3,
        "sd_digests": [DIGEST],
    }
    return ranking_record(RankingFields(**fields | changes), operator_count)


def make_rescore():
    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    auditor = Signer(
        name="auditor.example", algorithm=NoteAlgorithm.ED25519, private=private
    )
    rescoring = Rescoring(
        auditor=format_vkey(auditor.verifier_key),
        first_index=10,
        last_index=19,
        checked_count=4,
        mismatch_count=0,
    )
    return rescore_record(record_id=ID, at=AT, rescoring=rescoring.signed(private))


def make_registration(act):
    return registration_record(
        record_id=ID,
        at=AT,
        site_id=SITE,
        act=act,
        seq=1,
        kid="kid-thumbprint",
        jws=b"a.b.c",
    )


HEAD = {"v": 1, "id": ID, "t": "2026-11-20T18:00Z"}
SIGNED = {
    "site": SITE,
    "seq": 1,
    "kid": "kid-thumbprint",
    "jws": digest_of(b"a.b.c"),
}
POLICY_JSON = b'{"k1":1.6,"weights":[4000,2000,1500,1500,1000]}'

CASES = {
    "ranking": (
        make_ranking(),
        {
            "kind": "ranking",
            "op": "anon",
            "policy": POLICY,
            "snap": "gen-42",
            "seed": 3,
            "v": 2,
            "_sd_alg": "sha-256",
            "_sd": [DIGEST],
        },
    ),
    "selection": (
        selection_record(
            record_id=ID, at=AT, operator="op-1", ranking_id=ID, sd_digest=DIGEST
        ),
        {
            "v": 2,
            "kind": "selection",
            "op": "op-1",
            "ranking": ID,
            "_sd_alg": "sha-256",
            "_sd": [DIGEST],
        },
    ),
    "register": (
        make_registration("register"),
        {"kind": "registration", "act": "register", **SIGNED},
    ),
    "update": (
        make_registration("update"),
        {"kind": "registration", "act": "update", **SIGNED},
    ),
    "rotate": (
        make_registration("rotate"),
        {"kind": "rotation", "act": "rotate", **SIGNED},
    ),
    "revoke": (
        make_registration("revoke"),
        {"kind": "revocation", "act": "revoke", **SIGNED},
    ),
    "withdraw": (
        make_registration("withdraw"),
        {"kind": "withdrawal", "act": "withdraw", **SIGNED},
    ),
    "policy": (
        policy_record(
            record_id=ID, at=AT, policy_json=POLICY_JSON, code_digest=digest_of(b"c")
        ),
        {
            "kind": "policy",
            "policy": digest_of(POLICY_JSON),
            "text": POLICY_JSON.decode(),
            "code": digest_of(b"c"),
        },
    ),
    "seed commitment": (
        seed_commitment_record(
            record_id=ID,
            at=AT,
            day=date(2026, 11, 21),
            commitment=commit_secret(SECRET),
        ),
        {
            "kind": "seed",
            "day": "2026-11-21",
            "commitment": sha256(SECRET).hexdigest(),
        },
    ),
    "seed reveal": (
        seed_reveal_record(record_id=ID, at=AT, day=date(2026, 11, 21), secret=SECRET),
        {"kind": "seed", "day": "2026-11-21", "secret": SECRET.hex()},
    ),
    "moderation": (
        moderation_record(
            record_id=ID, at=AT, site_id=SITE, act="quarantine", reason="phishing"
        ),
        {
            "kind": "moderation",
            "site": SITE,
            "act": "quarantine",
            "reason": "phishing",
        },
    ),
    "erase": (
        erase_record(record_id=ID, at=AT, leaf_index=77, digests=[DIGEST]),
        {"kind": "erase", "index": 77, "fields": [DIGEST]},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_record_has_exactly_its_members_and_is_readable(case):
    record, members = CASES[case]
    assert json.loads(record.body) == HEAD | members
    assert parse_record(record.body) == HEAD | members
    assert (record.id, record.kind) == (ID, members["kind"])
    assert record.leaf_hash == leaf_hash(record.body)


def test_the_bytes_of_a_ranking_record_do_not_change():
    record = make_ranking(operator_count=5)
    assert record.body == (
        b'{"_sd":["X9yH0Ajrdm1Oij4tWso9UzzKJvPoDxwmuEcO3XAdRC0"],"_sd_alg":"sha-256",'
        b'"id":"' + ID.encode() + b'","kind":"ranking","op":"anon",'
        b'"opn":5,"policy":"' + POLICY.encode() + b'",'
        b'"seed":3,"snap":"gen-42","t":"2026-11-20T18:00Z","v":2}'
    )


def test_a_rescore_record_is_readable():
    members = parse_record(make_rescore().body)
    assert (members["first"], members["last"], members["n"]) == (10, 19, 4)


def test_an_instant_is_reported_in_utc_to_the_minute():
    east = timezone(timedelta(hours=2))
    assert format_minute(datetime(2026, 1, 1, 1, 30, 59, tzinfo=east)) == (
        "2025-12-31T23:30Z"
    )
    with pytest.raises(ValueError, match="time zone"):
        format_minute(datetime(2026, 1, 1))  # noqa: DTZ001 -- what is refused


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"record_id": "request-1"}, "/id"),
        ({"operator": "two words"}, "/op"),
        ({"operator": ""}, "/op"),
        ({"policy": "md5:00"}, "/policy"),
        ({"policy": POLICY.upper()}, "/policy"),
        ({"snapshot": ""}, "/snap"),
        ({"seed_index": -1}, "/seed"),
        ({"seed_index": True}, "/seed"),
        ({"sd_digests": ["short"]}, "/_sd"),
        ({"sd_digests": [1]}, "/_sd"),
        ({"operator_count": -1}, "/opn"),
    ],
)
def test_a_ranking_with_a_member_of_another_form_is_not_made(changes, pointer):
    with pytest.raises(Refused) as refused:
        make_ranking(**changes)
    assert refused.value.problem.pointer == pointer


def test_free_text_does_not_enter_the_log_as_an_outcome():
    with pytest.raises(Refused) as refused:
        choice_of(SITE, "Mr Smith called +44 20 7946 0000")
    assert refused.value.problem.pointer == "/outcome"


def test_a_record_over_the_limit_is_refused():
    with pytest.raises(TooLarge):
        make_ranking(sd_digests=[DIGEST] * 5000)
    with pytest.raises(TooLarge):
        parse_record(b" " * (MAX_RECORD_BYTES + 1))


def encode(members):
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode()


def test_a_member_added_later_is_passed_over():
    members = json.loads(make_ranking().body) | {"added": "later"}
    assert parse_record(encode(members)) == members


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"v": 3}, "record_version_unknown"),
        ({"v": 1}, "record_field_invalid"),
        ({"v": True}, "record_version_unknown"),
        ({"v": "1"}, "record_version_unknown"),
        ({"v": None}, "record_version_unknown"),
        ({"kind": "gossip"}, "record_kind_unknown"),
        ({"kind": ["ranking"]}, "record_kind_unknown"),
        ({"t": "2026-11-20T18:00:00Z"}, "record_field_invalid"),
        ({"t": "2026-11-20T18:00Z\n"}, "record_field_invalid"),
        ({"_sd_alg": "sha-512"}, "record_field_invalid"),
        ({"op": 1.5}, "record_not_canonical"),
    ],
)
def test_a_record_of_another_form_is_not_read(changes, code):
    members = json.loads(make_ranking().body) | changes
    with pytest.raises(Refused) as refused:
        parse_record(encode(members))
    assert refused.value.code == code


@pytest.mark.parametrize("case", CASES)
def test_no_member_of_a_record_may_be_missing(case):
    members = json.loads(CASES[case][0].body)
    for name in members.keys() - {"outcome"}:
        rest = {key: value for key, value in members.items() if key != name}
        with pytest.raises(Refused):
            parse_record(encode(rest))


@pytest.mark.parametrize("body", [b"", b"[]", b"1", b'"ranking"', b"null", b"{}"])
def test_what_is_no_record_is_refused(body):
    with pytest.raises(Refused):
        parse_record(body)


@pytest.mark.parametrize(
    ("case", "changes"),
    [
        ("policy", {"policy": digest_of(b"another policy")}),
        ("seed commitment", {"secret": SECRET.hex()}),
        ("register", {"act": "withdraw"}),
        ("moderation", {"act": "delete"}),
        ("moderation", {"reason": "A reason in words"}),
        ("selection", {"_sd": ["shop.example"]}),
    ],
)
def test_members_that_contradict_each_other_are_refused(case, changes):
    members = json.loads(CASES[case][0].body) | changes
    with pytest.raises(Refused):
        parse_record(encode(members))


@pytest.mark.parametrize(
    "changes", [{"mismatches": 5}, {"n": 11}, {"last": 9}, {"sig": "AAAA"}]
)
def test_an_impossible_rescoring_is_refused(changes):
    members = json.loads(make_rescore().body) | changes
    with pytest.raises(Refused):
        parse_record(encode(members))
