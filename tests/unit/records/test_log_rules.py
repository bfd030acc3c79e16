import json
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256

import msgspec
import pytest

from registry.records.canonical import digest_of
from registry.records.record import label_record, moderation_record, rescore_record
from registry.records.rules.conduct_state import ConductState, RuleBroken
from registry.records.rules.log_rules import Conduct
from registry.records.rules.seen_records import REMEMBERED_MIN
from registry.records.rules.trial_rules import read_trials
from registry.sites.identifier import format_site_id
from tests.unit.records.history import DAY, NOON, History
from tests.unit.records.test_attestation import PRIVATE, RESCORING
from tests.unit.records.test_labelling import LABELLING

TOMORROW = DAY + timedelta(days=1)


def read(history, origin=""):
    """The conduct after all records, and what was found: code and entry of each."""
    messages = []
    conduct = Conduct(origin=origin, report=messages.append)
    for index, body in enumerate(history.bodies):
        conduct.read(index, body)
    for selection in conduct.selections:
        ids = [
            json.loads(body)["id"] for body in history.bodies if b'"ranking"' in body
        ]
        conduct.check_selection(selection, is_ranking=selection.ranking_id in ids)
    for erasure in conduct.erasures:
        conduct.check_erasure(erasure, history.bodies[erasure.target_index])
    return conduct, [(notice.code, notice.entry_index) for notice in messages]


def findings_in(history):
    return read(history)[1]


def honest_days(count=4):
    """Days as they go: rankings, a reveal soon after midnight, a new commitment."""
    history = History().begin()
    for number in range(count):
        for _ in range(3):
            history.pass_by(hours=3)
            history.rank(seed=seed_of(history), operator="op-1", count=None)
        history.now = NOON + timedelta(days=number, hours=12, minutes=3)
        history.commit(DAY + timedelta(days=number + 2))
        history.reveal(DAY + timedelta(days=number))
    return history


def seed_of(history):
    """The leaf of the commitment of the day that it is."""
    day = history.now.date().isoformat().encode()
    wanted = b'"day":"' + day + b'"'
    return next(
        index
        for index, body in enumerate(history.bodies)
        if wanted in body and b'"commitment"' in body
    )


def test_days_of_an_honest_registry_are_sound():
    history = honest_days()
    conduct, findings = read(history)
    assert findings == []
    assert conduct.state.records == {"policy": 1, "ranking": 12, "seed": 10}
    assert conduct.overdue_days(history.now) == []
    # Nobody has revealed the last two days; two days later they are overdue.
    late = [day.isoformat() for day in (DAY + timedelta(4), DAY + timedelta(5))]
    assert conduct.overdue_days(history.now + timedelta(days=4)) == late


@pytest.mark.parametrize("stop", range(0, 24, 3))
def test_reading_stops_and_goes_on_from_its_plain_state(stop):
    history = honest_days()
    first = Conduct(origin="")
    for index, body in enumerate(history.bodies[:stop]):
        first.read(index, body)
    saved = msgspec.json.encode(first.state)
    second = Conduct(msgspec.json.decode(saved, type=ConductState), origin="")
    for index, body in enumerate(history.bodies[stop:], start=stop):
        second.read(index, body)
    assert second.state == read(history)[0].state


def test_the_first_finding_stops_a_reader_that_does_not_collect():
    history = History()
    history.rank(seed=0)
    with pytest.raises(RuleBroken) as broken:
        Conduct(origin="").read(0, history.bodies[0])
    assert broken.value.entry_index == 0


# --- policies and seeds ---


def test_a_ranking_before_its_policy_is_found():
    history = History()
    history.commit(DAY)
    ranking = history.rank(seed=0)
    history.policy()
    history.rank(seed=0)
    assert findings_in(history) == [("policy_unlogged", ranking)]


@pytest.mark.parametrize(
    "seed", [0, 3, 4, 10**14], ids=["policy", "reveal", "itself", "none"]
)
def test_a_ranking_must_name_a_commitment_before_it(seed):
    history = History().begin()
    history.now = NOON + timedelta(hours=13)
    history.reveal(DAY)
    ranking = history.rank(seed=seed)
    assert findings_in(history) == [("seed_unlogged", ranking)]


def test_a_commitment_after_the_ranking_that_names_it_is_found():
    history = History().begin()
    ranking = history.rank(seed=4)
    history.commit(DAY + timedelta(days=2))
    assert findings_in(history) == [("seed_unlogged", ranking)]


def test_the_seed_of_a_later_day_is_found():
    history = History().begin()
    ranking = history.rank(seed=2)
    assert findings_in(history) == [("seed_not_of_the_day", ranking)]


def test_a_page_asked_for_after_midnight_keeps_its_seed():
    history = History().begin().pass_by(hours=13)
    history.rank(seed=1)
    assert findings_in(history) == []


def test_a_second_commitment_for_a_day_is_found():
    history = History().begin()
    second = history.commit(DAY, secret=b"t" * 32)
    assert findings_in(history) == [("seed_committed_twice", second)]


def test_a_secret_that_is_not_the_committed_one_is_found():
    history = History().begin().pass_by(hours=13)
    reveal = history.reveal(DAY, secret=b"t" * 32)
    assert findings_in(history) == [("seed_reveal_invalid", reveal)]


def test_a_secret_revealed_on_its_own_day_is_found():
    history = History().begin().pass_by(hours=11, minutes=59)
    reveal = history.reveal(DAY)
    assert findings_in(history) == [("seed_revealed_early", reveal)]


def test_a_secret_that_nobody_committed_to_is_found():
    history = History().begin().pass_by(hours=13)
    history.reveal(DAY)
    twice = history.reveal(DAY)
    never = history.reveal(DAY - timedelta(days=9))
    assert findings_in(history) == [
        ("seed_uncommitted", twice),
        ("seed_uncommitted", never),
    ]


def test_a_secret_kept_for_longer_than_a_day_is_found_once():
    history = History().begin()
    history.now = NOON + timedelta(days=1, hours=12)
    history.rank(seed=2)
    for _ in range(5):
        history.pass_by(minutes=20)
        history.rank(seed=2)
    late = history.rank(seed=2)
    assert findings_in(history) == [("seed_overdue", late - 1)]


def test_a_registry_that_stood_still_may_reveal_when_it_is_back():
    history = History().begin()
    history.now = NOON + timedelta(days=9)
    history.commit(history.now.date())
    history.rank(seed=3)
    history.pass_by(minutes=5)
    history.reveal(DAY)
    history.reveal(TOMORROW)
    history.pass_by(hours=5)
    history.rank(seed=3)
    assert findings_in(history) == []


def test_a_secret_that_is_public_decides_no_tie():
    """Of the day before only further pages, and only until the reveal."""
    history = History().begin()
    history.now = NOON + timedelta(hours=12, minutes=30)
    history.rank(seed=1)
    history.pass_by(minutes=30)
    history.reveal(DAY)
    history.pass_by(minutes=1)
    history.rank(seed=1)
    history.pass_by(minutes=1)
    used = history.rank(seed=1)
    assert findings_in(history) == [("seed_used_after_reveal", used)]


def test_the_seed_of_two_days_ago_is_found():
    history = History().begin()
    history.commit(DAY + timedelta(days=2))
    history.now = NOON + timedelta(days=1, hours=12)
    stale = history.rank(seed=1)
    assert findings_in(history) == [("seed_not_of_the_day", stale)]


@pytest.mark.parametrize("hours", [0, 1, 12, 23])
def test_a_commitment_of_the_day_itself_is_late_where_rankings_went_on(hours):
    history = History().begin()
    history.now = NOON + timedelta(hours=12)
    history.rank(seed=2)
    history.pass_by(hours=12)
    history.rank(seed=2)
    history.now = NOON + timedelta(days=1, hours=12 + hours)
    late = history.commit(DAY + timedelta(days=2))
    assert [code for code, _ in findings_in(history)][-1:] == ["seed_committed_late"]
    assert findings_in(history)[-1][1] == late


def test_a_registry_that_stood_still_commits_when_it_is_back():
    history = History().begin()
    history.rank()
    history.now = NOON + timedelta(days=2)
    history.commit(DAY + timedelta(days=2))
    history.reveal(DAY)
    history.rank(seed=4)
    assert findings_in(history) == []


# --- ids and selections ---


def test_the_same_record_twice_is_found():
    history = History().begin()
    ranking = history.rank()
    history.pass_by(minutes=1).rank()
    history.bodies.append(history.bodies[ranking])
    assert findings_in(history) == [("record_logged_twice", len(history.bodies) - 1)]


@pytest.mark.parametrize("minutes", [0, 1, 2])
def test_one_id_with_two_bodies_is_found(minutes):
    history = History().begin()
    ranking = history.rank()
    record_id = json.loads(history.bodies[ranking])["id"]
    history.pass_by(minutes=minutes)
    other = history.rank(order=[format_site_id(9)], record_id=record_id)
    assert findings_in(history) == [("record_logged_twice", other)]


@pytest.mark.parametrize("hours", [-5, 1, 24 * 30])
def test_an_id_is_of_the_time_of_its_record(hours):
    """Else a second record of an id could stand where nobody remembers the first."""
    history = History().begin()
    ranking = history.rank()
    record_id = json.loads(history.bodies[ranking])["id"]
    history = History(NOON + timedelta(hours=hours)).begin()
    other = history.rank(record_id=record_id)
    assert findings_in(history) == [("record_id_out_of_time", other)]


def test_a_selection_is_of_a_ranking_before_it():
    history = History().begin()
    ranking = history.rank()
    history.select(ranking)
    history.select(history.rank())
    history.pass_by(hours=5)
    long_ago = history.rank(seed=1)
    history.pass_by(minutes=59)
    history.select(long_ago)
    assert findings_in(history) == []


@pytest.mark.parametrize("hours", [0, 5, 48])
@pytest.mark.parametrize("what", ["unknown", "another kind", "later"])
def test_a_selection_of_no_ranking_is_found(hours, what):
    history = History().begin()
    ids = {
        "unknown": history.ulid()[:-1] + "Z",
        "another kind": json.loads(history.bodies[0])["id"],
        "later": History(NOON + timedelta(days=30)).ulid(),
    }
    history.pass_by(hours=hours)
    selection = history.select(None, ranking_id=ids[what])
    assert ("selection_unfounded", selection) in findings_in(history)


@pytest.mark.parametrize("hours", [0, 10, 24 * 6])
def test_a_second_selection_of_a_ranking_is_found(hours):
    history = History().begin()
    ranking = history.rank()
    history.select(ranking)
    history.pass_by(hours=hours)
    second = history.select(ranking, site=8)
    assert ("selection_logged_twice", second) in findings_in(history)


def test_what_is_remembered_does_not_grow_with_the_log():
    history = History().begin()
    for _ in range(600):
        history.pass_by(minutes=1)
        history.select(history.rank())
    conduct, _ = read(history)
    assert len(conduct.state.seen.ids) <= REMEMBERED_MIN + 1


def test_more_sites_returned_than_eligible_are_found():
    """In the log of version 1; in later ones by whoever has the answer."""
    for name, number in ((b'"n":3', b'"n":1'), (b'"k":3', b'"k":4')):
        history = History(version=1).begin()
        ranking = history.rank(eligible=3)
        history.bodies[ranking] = history.bodies[ranking].replace(name, number)
        assert findings_in(history) == [("record_field_invalid", ranking)]


def test_a_log_of_version_1_is_sound_and_goes_on_in_version_2():
    history = History(version=1).begin()
    history.select(history.rank())
    history.version = 2
    history.select(history.rank())
    assert findings_in(history) == []


def test_a_selection_of_a_ranking_of_long_ago_is_found():
    history = History().begin()
    ranking = history.rank()
    history.pass_by(days=7, minutes=2)
    late = history.select(ranking)
    assert ("selection_unfounded", late) in findings_in(history)
    old = History(version=1).begin()
    ranking = old.rank()
    old.pass_by(days=7, minutes=2)
    late = old.select(ranking)
    assert ("selection_unfounded", late) not in findings_in(old)


# --- erasures ---


@pytest.mark.parametrize("kind", ["policy", "seed", "reveal", "moderation"])
@pytest.mark.parametrize("ranged", [False, True])
def test_what_can_not_be_erased_is_not(kind, ranged):
    history = History().begin()
    first = history.rank()
    history.now = NOON + timedelta(hours=13)
    targets = {"policy": 0, "seed": 1, "reveal": history.reveal(DAY)}
    moderation = moderation_record(
        **history.head, site_id=format_site_id(7), act="release", reason="appeal"
    )
    targets["moderation"] = history.log(moderation)
    target = targets[kind]
    bounds = sorted((first, target))
    erased = (
        history.erase(bounds[0], [], last=bounds[1])
        if ranged
        else history.erase(target, [])
    )
    assert findings_in(history) == [("erasure_unfounded", erased)]


@pytest.mark.parametrize("last", [3, 4, 10**9])
def test_an_attestation_is_of_entries_before_it(last):
    history = History().begin()
    history.rank()
    changes = {"first_index": 0, "last_index": last, "checked_count": 1}
    rescoring = msgspec.structs.replace(RESCORING, **changes).signed(PRIVATE)
    attested = history.log(rescore_record(**history.head, rescoring=rescoring))
    broken = [("attestation_unfounded", attested)]
    assert findings_in(history) == (broken if last >= attested else [])


def test_an_attestation_that_nobody_signed_is_found():
    history = History().begin()
    history.rank()
    changes = {"first_index": 0, "last_index": 3, "checked_count": 1}
    rescoring = msgspec.structs.replace(RESCORING.signed(PRIVATE), **changes)
    attested = history.log(rescore_record(**history.head, rescoring=rescoring))
    assert findings_in(history) == [("attestation_invalid", attested)]


def test_a_label_that_nobody_signed_is_found():
    history = History().begin()
    labelling = msgspec.structs.replace(LABELLING, sig="A" * 86)
    labelled = history.log(label_record(**history.head, labelling=labelling))
    assert findings_in(history) == [("label_invalid", labelled)]


@pytest.mark.parametrize(
    ("audience", "day", "is_sound"),
    [
        ("log.example", NOON, True),
        ("other.example", NOON, False),
        (None, NOON, True),
        (None, datetime(2026, 12, 1, tzinfo=UTC), False),
    ],
    ids=["for this log", "for another", "of before there was aud", "left out since"],
)
def test_auditors_statements_are_for_the_log_that_has_them(audience, day, is_sound):
    history = History(now=day).begin()
    history.rank()
    ends = {"first_index": 0, "last_index": 3, "checked_count": 1}
    rescoring = msgspec.structs.replace(RESCORING, audience=audience, **ends)
    labelling = msgspec.structs.replace(LABELLING, audience=audience)
    entries = [
        history.log(record(**history.head, **{name: own.signed(PRIVATE)}))
        for record, name, own in (
            (rescore_record, "rescoring", rescoring),
            (label_record, "labelling", labelling),
        )
    ]
    codes = ("attestation_invalid", "label_invalid")
    broken = list(zip(codes, entries, strict=True))
    findings = read(history, origin="log.example")[1]
    assert findings == ([] if is_sound else broken)


def test_what_is_erased_was_there():
    history = History().begin()
    ranking = history.rank()
    history.erase(ranking, sd_of(history, ranking)[:3])
    assert findings_in(history) == []


def sd_of(history, index):
    return msgspec.json.decode(history.bodies[index])["_sd"]


@pytest.mark.parametrize(
    ("target", "foreign"),
    [
        pytest.param(3, True, id="a digest of another record"),
        pytest.param(0, False, id="a record without disclosures"),
        pytest.param(5, False, id="the erase record itself"),
        pytest.param(10**9, False, id="nothing yet"),
    ],
)
def test_what_is_erased_but_was_not_there_is_found(target, foreign):
    history = History().begin()
    history.rank()
    other = history.rank()
    digests = sd_of(history, other if foreign else 3)
    erased = history.erase(target, digests)
    assert findings_in(history) == [("erasure_unfounded", erased)]


def test_a_range_may_be_erased_without_naming_digests():
    history = History().begin()
    first, last = history.rank(), history.rank()
    history.erase(first, [], last=last)
    beyond = history.erase(first, [], last=6)
    assert findings_in(history) == [("erasure_unfounded", beyond)]


# --- operators ---


def test_counters_may_swap_places_but_not_leave_gaps():
    history = History().begin()
    for count in (1, 3, 2, 4):
        history.rank(operator="op-1", count=count)
    history.rank(operator="op-2", count=1)
    history.rank()
    assert findings_in(history) == []


def test_a_missing_number_is_found_when_the_merge_delay_is_over():
    history = History().begin()
    history.rank(operator="op-1", count=1)
    history.rank(operator="op-1", count=3)
    history.pass_by(minutes=1)
    history.rank()
    assert findings_in(history) == []
    history.pass_by(minutes=1)
    late = history.rank()
    assert findings_in(history) == [("operator_count_broken", late)]
    history.rank(operator="op-1", count=4)
    assert findings_in(history) == [("operator_count_broken", late)]


@pytest.mark.parametrize("count", [0, 1])
def test_a_number_given_twice_is_found(count):
    history = History().begin()
    history.rank(operator="op-1", count=1)
    twice = history.rank(operator="op-1", count=count)
    assert findings_in(history) == [("operator_count_broken", twice)]


def test_numbers_far_ahead_do_not_pile_up():
    history = History().begin()
    for count in range(2, 4_099):
        history.rank(operator="op-1", count=count)
    conduct, findings = read(history)
    assert [code for code, _ in findings] == ["operator_count_broken"]
    assert conduct.state.operators["op-1"].ahead == {}


# --- time and form ---


def test_time_may_go_back_by_the_merge_delay_only():
    history = History().begin()
    history.pass_by(minutes=-1)
    history.rank()
    assert findings_in(history) == []
    history.pass_by(minutes=-1)
    late = history.rank()
    assert findings_in(history) == [("record_out_of_time", late)]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda _: b"", id="nothing"),
        pytest.param(lambda body: body[:-1], id="cut off"),
        pytest.param(lambda body: body + b"\n", id="a newline behind"),
        pytest.param(
            lambda body: body.replace(b'"seed":1', b'"seed": 1'), id="a space"
        ),
        pytest.param(
            lambda body: body.replace(b'"v":2', b'"v":3'), id="a later version"
        ),
        pytest.param(lambda body: body.replace(b"anon", b"\xff"), id="no UTF-8"),
        pytest.param(lambda body: body.replace(b"anon", b"\\u0061"), id="an escape"),
        pytest.param(lambda body: body.replace(b"ranking", b"gossip"), id="a new kind"),
        pytest.param(lambda body: body.replace(b"11-20T", b"19-39T"), id="no such day"),
        pytest.param(lambda _: b"[" * 60_000, id="deep"),
    ],
)
def test_a_record_of_another_form_is_found(spoil):
    history = History().begin()
    ranking = history.rank()
    history.bodies[ranking] = spoil(history.bodies[ranking])
    _, findings = read(history)
    assert [index for _, index in findings] == [ranking]


def test_a_commitment_for_no_day_is_found():
    history = History().begin()
    index = history.commit(date(2026, 12, 1))
    history.bodies[index] = history.bodies[index].replace(b"12-01", b"13-39")
    assert findings_in(history) == [("record_field_invalid", index)]


def test_records_without_rules_among_others_are_counted():
    history = History().begin()
    history.log(
        moderation_record(
            **history.head, site_id=format_site_id(7), act="release", reason="appeal"
        )
    )
    conduct, findings = read(history)
    assert findings == []
    assert conduct.state.records["moderation"] == 1


# --- trials ---

OTHER = b"o" * 32


@pytest.mark.parametrize(
    ("steps", "is_sound"),
    [
        ([("commit_trials", 0), ("try_invariance", 0), ("commit_trials", 1)], True),
        ([("commit_trials", 0), ("commit_trials", 0), ("try_invariance", 0)], True),
        ([("try_invariance", 0)], False),
        ([("commit_trials", 0, OTHER), ("try_invariance", 0)], False),
        ([("commit_trials", 0), ("commit_trials", 0, OTHER)], False),
        ([("commit_trials", 0), ("commit_trials", 0, None, b"other")], False),
        ([("commit_trials", 0), ("commit_trials", 1)], False),
        ([("commit_trials", 0), *[("try_invariance", 0)] * 2], False),
        (
            [("commit_trials", 0), ("try_invariance", 0), ("commit_trials", 0)],
            False,
        ),
    ],
    ids=str,
)
def test_trials_are_committed_to_once_and_told_as_committed(steps, is_sound):
    history = History().begin()
    for name, days, *secret in steps:
        getattr(history, name)(DAY + timedelta(days=days), *secret)
    codes = {code for code, _ in findings_in(history)}
    assert codes == (set() if is_sound else {"trials_unsound"})


def test_a_commitment_of_before_is_made_again_with_its_material():
    """Of an earlier release, that was ended in the middle of a run."""
    state, day = ConductState(), {"day": "2026-11-20"}
    bare = {**day, "commitment": sha256(OTHER).hexdigest()}
    whole = {**bare, "material": digest_of(b"material")}
    assert [read_trials(state, members) for members in (bare, whole, whole)] == [
        None
    ] * 3
    assert read_trials(state, bare) == "the second commitment for 2026-11-20"
    assert read_trials(state, {**day, "secret": OTHER.hex()}) is None
