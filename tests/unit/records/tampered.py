"""Logs that break one rule each, signed by a real key, and sound ones beside them.

`python -m tests.unit.records.tampered` writes them to conformance/logs, for whoever
verifies logs with a tool of his own.
"""

import json
import shutil
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import msgspec

from registry.records.record import moderation_record, rescore_record
from registry.sites.identifier import format_site_id
from tests.cli.audited import VKEY, publish
from tests.unit.records.history import DAY, NOON, secret_of
from tests.unit.records.history import History as Records
from tests.unit.records.test_attestation import PRIVATE, RESCORING

FOLDER = Path(__file__).parents[3] / "conformance" / "logs"
TOMORROW = DAY + timedelta(days=1)
MIDNIGHT = timedelta(hours=12)  # after noon


# Made up, so that the published logs are not made anew with each change of the ranking.
POLICY = b'{"weights":{"relevance":4000}}'


SCORES = [
    {"site": format_site_id(site), "factors": [9000], "score": 1, "tie": "0" * 16}
    for site in (7, 8, 9)
]


class History(Records):
    def __init__(self, now=NOON, version=2):
        super().__init__(now, POLICY, version)

    def rank(self, **disclose):
        return super().rank(**{"scores": SCORES, **disclose})


def sound():
    """An honest registry over a midnight."""
    history = History().begin()
    first = history.rank(operator="op-1", count=1)
    history.select(first)
    history.pass_by(minutes=5)
    second = history.rank(operator="op-1", count=2)
    history.erase(second, digests_of(history, second))
    history.now = NOON + MIDNIGHT + timedelta(minutes=10)
    history.commit(DAY + timedelta(days=2))
    history.rank(seed=1)
    history.rank(seed=2)
    history.pass_by(minutes=55)
    history.reveal(DAY)
    history.erase(first, [], last=second)
    return history, None, None


def sound_of_version_1():
    """As registries wrote it before answers and choices were commitments."""
    history = History(version=1).begin()
    first = history.rank(operator="op-1", count=1)
    history.select(first)
    history.pass_by(minutes=5)
    second = history.rank(operator="op-1", count=2)
    history.erase(second, digests_of(history, second))
    history.version = 2
    history.select(history.rank())
    return history, None, None


def more_sites_than_were_eligible():
    """Of version 1; of version 2 only who has the answer can see it."""
    history = History(version=1).begin()
    return history, "record_field_invalid", history.rank(eligible=2)


def selection_after_more_than_a_week():
    history = History().begin()
    ranking = history.rank()
    history.pass_by(hours=30)
    history.commit(DAY + timedelta(days=2))
    history.reveal(DAY)
    history.pass_by(days=6)
    return history, "selection_unfounded", history.select(ranking)


def seed_used_after_its_reveal():
    history = History().begin()
    history.now = NOON + MIDNIGHT + timedelta(hours=1)
    history.reveal(DAY)
    history.pass_by(minutes=2)
    return history, "seed_used_after_reveal", history.rank(seed=1)


def seed_of_two_days_ago():
    history = History().begin()
    history.now = NOON + timedelta(days=1, hours=12, minutes=5)
    return history, "seed_not_of_the_day", history.rank(seed=1)


def seed_of_tomorrow():
    history = History().begin()
    return history, "seed_not_of_the_day", history.rank(seed=2)


def seed_committed_on_its_day():
    history = History().begin()
    history.now = NOON + timedelta(days=1)
    history.rank(seed=2)
    history.reveal(DAY)
    history.now = NOON + timedelta(days=1) + MIDNIGHT + timedelta(minutes=5)
    return history, "seed_committed_late", history.commit(DAY + timedelta(days=2))


def seed_committed_twice():
    history = History().begin()
    return history, "seed_committed_twice", history.commit(DAY, bytes(32))


def seed_never_committed():
    history = History().begin()
    return history, "seed_unlogged", history.rank(seed=0)


def seed_revealed_on_its_day():
    history = History().begin().pass_by(hours=6)
    return history, "seed_revealed_early", history.reveal(DAY)


def seed_revealed_otherwise():
    history = History().begin().pass_by(hours=13)
    return history, "seed_reveal_invalid", history.reveal(DAY, secret_of(TOMORROW))


def seed_revealed_late():
    history = History().begin()
    history.now = NOON + timedelta(days=1, hours=12, minutes=1)
    history.commit(DAY + timedelta(days=2))
    history.rank(seed=2)
    history.pass_by(minutes=30)
    history.rank(seed=2)
    history.pass_by(minutes=61)
    return history, "seed_overdue", history.rank(seed=2)


def policy_after_its_use():
    history = History()
    history.commit(DAY)
    ranking = history.rank(seed=0)
    history.policy()
    return history, "policy_unlogged", ranking


def the_same_record_twice():
    history = History().begin()
    ranking = history.rank()
    history.pass_by(minutes=1).rank()
    history.bodies.append(history.bodies[ranking])
    return history, "record_logged_twice", len(history.bodies) - 1


def one_id_with_two_bodies():
    history = History().begin()
    record_id = json.loads(history.bodies[history.rank()])["id"]
    history.pass_by(minutes=1)
    twice = history.rank(record_id=record_id, query="butter")
    return history, "record_logged_twice", twice


def an_id_of_another_time():
    history = History().begin()
    record_id = History(NOON - timedelta(hours=1)).ulid()
    return history, "record_id_out_of_time", history.rank(record_id=record_id)


def two_selections_of_one_ranking():
    history = History().begin()
    ranking = history.rank()
    history.select(ranking)
    history.pass_by(hours=5)
    return history, "selection_logged_twice", history.select(ranking, site=8)


def selection_of_an_unknown_ranking():
    history = History().begin()
    history.rank()
    unknown = History(NOON + timedelta(minutes=1)).ulid()
    selection = history.select(None, ranking_id=unknown)
    return history, "selection_unfounded", selection


def selection_of_an_older_unknown_ranking():
    """Too old to be remembered: it is looked up by the time that its id has."""
    history = History().begin()
    history.rank()
    history.pass_by(hours=5)
    history.rank()
    unknown = History(NOON + timedelta(minutes=3)).ulid()
    selection = history.select(None, ranking_id=unknown)
    return history, "selection_unfounded", selection


def selection_of_a_policy():
    history = History().begin()
    policy = json.loads(history.bodies[0])["id"]
    selection = history.select(None, ranking_id=policy)
    return history, "selection_unfounded", selection


def erasure_of_a_seed():
    history = History().begin()
    history.rank()
    return history, "erasure_unfounded", history.erase(1, [])


def erasure_from_a_policy_on():
    history = History().begin()
    ranking = history.rank()
    return history, "erasure_unfounded", history.erase(0, [], last=ranking)


def erasure_of_another_records_digests():
    history = History().begin()
    ranking, other = history.rank(), history.rank(query="butter")
    erased = history.erase(ranking, digests_of(history, other))
    return history, "erasure_unfounded", erased


def erasure_of_what_comes():
    history = History().begin()
    ranking = history.rank()
    erased = history.erase(ranking, [], last=ranking + 5)
    return history, "erasure_unfounded", erased


def a_number_given_twice():
    history = History().begin()
    history.rank(operator="op-1", count=1)
    twice = history.rank(operator="op-1", count=1)
    return history, "operator_count_broken", twice


def a_number_left_out():
    history = History().begin()
    history.rank(operator="op-1", count=1)
    history.rank(operator="op-1", count=3)
    history.pass_by(minutes=2)
    return history, "operator_count_broken", history.rank()


def a_record_held_back():
    history = History().begin()
    history.pass_by(minutes=5).rank()
    history.pass_by(minutes=-3)
    return history, "record_out_of_time", history.rank()


def attestation_of_what_comes():
    history = History().begin()
    history.rank()
    changes = {"first_index": 0, "last_index": 9, "checked_count": 1}
    rescoring = msgspec.structs.replace(RESCORING, **changes).signed(PRIVATE)
    attested = history.log(rescore_record(**history.head, rescoring=rescoring))
    return history, "attestation_unfounded", attested


def attestation_that_nobody_signed():
    history = History().begin()
    history.rank()
    changes = {"first_index": 0, "last_index": 3, "checked_count": 1}
    rescoring = msgspec.structs.replace(RESCORING.signed(PRIVATE), **changes)
    attested = history.log(rescore_record(**history.head, rescoring=rescoring))
    return history, "attestation_invalid", attested


def a_reason_of_many_words():
    """Nobody can erase what a moderator says of a person."""
    history = History().begin()
    record = moderation_record(
        **history.head, site_id=format_site_id(7), act="delist", reason="fraud"
    )
    index = history.log(record)
    body = history.bodies[index]
    history.bodies[index] = body.replace(b'"fraud"', b'"Jane Doe is a fraud"')
    return history, "record_field_invalid", index


def digests_of(history, index):
    return json.loads(history.bodies[index])["_sd"]


LOGS = {
    function.__name__: function
    for function in (
        sound,
        sound_of_version_1,
        more_sites_than_were_eligible,
        selection_after_more_than_a_week,
        seed_used_after_its_reveal,
        seed_of_two_days_ago,
        seed_of_tomorrow,
        seed_committed_on_its_day,
        seed_committed_twice,
        seed_never_committed,
        seed_revealed_on_its_day,
        seed_revealed_otherwise,
        seed_revealed_late,
        policy_after_its_use,
        the_same_record_twice,
        one_id_with_two_bodies,
        an_id_of_another_time,
        two_selections_of_one_ranking,
        selection_of_an_unknown_ranking,
        selection_of_an_older_unknown_ranking,
        selection_of_a_policy,
        erasure_of_a_seed,
        erasure_from_a_policy_on,
        erasure_of_another_records_digests,
        erasure_of_what_comes,
        a_number_given_twice,
        a_number_left_out,
        a_record_held_back,
        attestation_of_what_comes,
        attestation_that_nobody_signed,
        a_reason_of_many_words,
    )
}


def write(folder):
    """Write each log, and logs.json, which says what is wrong with it and where."""
    expected = []
    for name, make in LOGS.items():
        history, code, entry = make()
        shutil.rmtree(folder / name, ignore_errors=True)
        publish(folder / name, history.bodies)
        root = sha256((folder / name / "checkpoint").read_bytes()).hexdigest()
        line = {"name": name, "sound": code is None}
        if code:
            line |= {"code": code, "entry": entry}
        expected.append({**line, "checkpoint": f"sha256:{root}"})
    index = {"verifierKey": VKEY, "logs": expected}
    (folder / "logs.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write(FOLDER)
