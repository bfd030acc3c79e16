from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from registry.identity.keys.key_source import KeyReference
from registry.identity.keys.key_trust import (
    Distrusted,
    FetchFailed,
    KeyEvidence,
    KeysFetched,
    KeyState,
    KnownKey,
    Observation,
    OnHold,
    RevocationSigned,
    Trusted,
    decide_key_trust,
    next_key_state,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SOURCE = "https://shop.example.com/.well-known/agent-registry-keys.json"
OLD = KeyReference(source_url=SOURCE, kid="old")
NEW = KeyReference(source_url=SOURCE, kid="new")


def known(
    reference: KeyReference, state: KeyState, seen_for: timedelta = timedelta()
) -> KnownKey:
    return KnownKey(
        reference=reference,
        state=state,
        first_seen_at=NOW - seen_for,
        last_seen_at=NOW,
    )


BESIDE_OLD = KeyEvidence(
    published=frozenset({OLD, NEW}), known=(known(OLD, "trusted", 90 * HOUR),)
)
OLD_GONE = KeyEvidence(
    published=frozenset({NEW}), known=(known(OLD, "absent", 90 * HOUR),)
)


def problem_code(reference: KeyReference, evidence: KeyEvidence) -> str:
    decision = decide_key_trust(reference, evidence, now=NOW)
    assert isinstance(decision, Distrusted)
    return decision.problem.code


def test_the_first_key_found_at_the_source_is_trusted() -> None:
    evidence = KeyEvidence(published=frozenset({NEW}))
    decision = decide_key_trust(NEW, evidence, now=NOW)
    assert decision == Trusted(reason="first_registration")


def test_a_key_that_the_site_does_not_publish_is_distrusted() -> None:
    assert problem_code(NEW, KeyEvidence(published=frozenset())) == "key_not_published"


def test_the_same_kid_at_another_source_is_another_key() -> None:
    elsewhere = replace(OLD, source_url="https://evil.example.net/keys.json")
    assert problem_code(elsewhere, BESIDE_OLD) == "key_not_published"
    published = replace(BESIDE_OLD, published=frozenset({OLD, elsewhere}))
    assert isinstance(decide_key_trust(elsewhere, published, now=NOW), OnHold)


def test_an_established_key_stays_trusted_beside_a_new_one() -> None:
    decision = decide_key_trust(OLD, BESIDE_OLD, now=NOW)
    assert decision == Trusted(reason="established")


def test_a_new_key_beside_the_old_cools_off_for_an_hour() -> None:
    decision = decide_key_trust(NEW, BESIDE_OLD, now=NOW)
    assert decision == OnHold(until=NOW + HOUR, reason="cooling_off")


def test_a_signed_rotation_takes_effect_at_once() -> None:
    evidence = replace(BESIDE_OLD, endorsed=frozenset({NEW}))
    decision = decide_key_trust(NEW, evidence, now=NOW)
    assert decision == Trusted(reason="signed_rotation")


def test_a_rotation_to_an_unpublished_key_does_not_take_effect() -> None:
    evidence = replace(
        BESIDE_OLD, published=frozenset({OLD}), endorsed=frozenset({NEW})
    )
    assert problem_code(NEW, evidence) == "key_not_published"


def test_two_sightings_an_hour_apart_are_enough() -> None:
    cooling = known(NEW, "cooling", HOUR)
    evidence = replace(BESIDE_OLD, known=(*BESIDE_OLD.known, cooling))
    decision = decide_key_trust(NEW, evidence, now=NOW)
    assert decision == Trusted(reason="seen_twice")


def test_two_sightings_within_the_hour_are_not_enough() -> None:
    cooling = known(NEW, "cooling", HOUR - timedelta(seconds=1))
    evidence = replace(BESIDE_OLD, known=(*BESIDE_OLD.known, cooling))
    decision = decide_key_trust(NEW, evidence, now=NOW)
    assert decision == OnHold(until=cooling.first_seen_at + HOUR, reason="cooling_off")


def test_the_passing_of_time_is_no_second_sighting() -> None:
    cooling = replace(known(NEW, "cooling", HOUR), last_seen_at=NOW - HOUR)
    evidence = replace(BESIDE_OLD, known=(*BESIDE_OLD.known, cooling))
    assert isinstance(decide_key_trust(NEW, evidence, now=NOW + 9 * HOUR), OnHold)


def test_a_key_that_waited_its_hour_survives_the_old_one() -> None:
    evidence = replace(
        OLD_GONE, known=(*OLD_GONE.known, known(NEW, "cooling", 2 * HOUR))
    )
    decision = decide_key_trust(NEW, evidence, now=NOW)
    assert decision == Trusted(reason="seen_twice")


def test_a_new_key_in_place_of_a_lost_one_needs_dns() -> None:
    assert problem_code(NEW, OLD_GONE) == "key_recovery_needs_dns"


@pytest.mark.parametrize("standing", ["absent", "revoked"])
def test_recovery_by_dns_holds_for_three_days(standing: KeyState) -> None:
    evidence = replace(
        OLD_GONE,
        known=(known(OLD, standing),),
        dns_proven_since=NOW - timedelta(hours=71),
    )
    until = NOW + HOUR
    held = decide_key_trust(NEW, evidence, now=NOW)
    assert held == OnHold(until=until, reason="recovery_hold")
    released = decide_key_trust(NEW, evidence, now=until)
    assert released == Trusted(reason="dns_recovery")


def test_an_absent_key_comes_back_only_as_a_new_one_does() -> None:
    back = replace(OLD_GONE, published=frozenset({OLD}))
    assert problem_code(OLD, back) == "key_recovery_needs_dns"


def test_a_revoked_key_never_comes_back_from_any_source() -> None:
    elsewhere = replace(OLD, source_url="dns:_wab.example.com?type=TXT")
    evidence = KeyEvidence(
        published=frozenset({OLD, elsewhere}),
        known=(known(OLD, "revoked"),),
        endorsed=frozenset({OLD, elsewhere}),
        dns_proven_since=NOW - timedelta(days=30),
    )
    assert problem_code(OLD, evidence) == "key_revoked"
    assert problem_code(elsewhere, evidence) == "key_revoked"


def test_pins_shut_out_every_other_key() -> None:
    pinned = replace(BESIDE_OLD, pins=frozenset({"new"}))
    assert problem_code(OLD, pinned) == "key_not_pinned"
    assert isinstance(decide_key_trust(NEW, pinned, now=NOW), OnHold)


OTHER_SOURCE = "dns:_wab.example.com?type=TXT"


@pytest.mark.parametrize(
    ("standing", "observation", "after"),
    [
        ("trusted", RevocationSigned(revoked_kid="old"), "revoked"),
        ("cooling", RevocationSigned(revoked_kid="old"), "revoked"),
        ("absent", RevocationSigned(revoked_kid="old"), "revoked"),
        ("trusted", RevocationSigned(revoked_kid="new"), "trusted"),
        ("trusted", KeysFetched(source_url=SOURCE, kids={"old", "new"}), "trusted"),
        ("trusted", KeysFetched(source_url=SOURCE, kids={"new"}), "absent"),
        ("trusted", KeysFetched(source_url=SOURCE, kids=set()), "absent"),
        ("cooling", KeysFetched(source_url=SOURCE, kids=set()), "absent"),
        ("trusted", KeysFetched(source_url=OTHER_SOURCE, kids=set()), "trusted"),
        ("revoked", KeysFetched(source_url=SOURCE, kids=set()), "revoked"),
        ("revoked", KeysFetched(source_url=SOURCE, kids={"old"}), "revoked"),
        ("absent", KeysFetched(source_url=SOURCE, kids={"old"}), "absent"),
        ("trusted", FetchFailed(source_url=SOURCE), "trusted"),
        ("cooling", FetchFailed(source_url=SOURCE), "cooling"),
    ],
)
def test_revocation_is_signed_or_seen_and_never_an_outage(
    standing: KeyState, observation: Observation, after: KeyState
) -> None:
    assert next_key_state(known(OLD, standing), observation) == after
