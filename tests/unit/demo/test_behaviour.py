import pytest

from registry.demo.town.house import decide_disturbance, spoil
from registry.demo.town.member import CAST, Member
from registry.demo.town.resource import json_resource


def member_of(story: str) -> Member:
    return next(member for member in CAST if member.story == story)


@pytest.mark.parametrize("story", ["honest", "broken", "wrong-key"])
def test_most_sites_answer_at_once(story: str) -> None:
    for number in range(1, 10):
        disturbance = decide_disturbance(member_of(story), number)
        assert disturbance.delay_s == 0
        assert disturbance.fault == ""


def test_slow_site_takes_between_200_and_600_ms_and_not_always_the_same() -> None:
    delays = [decide_disturbance(member_of("slow"), n).delay_s for n in range(1, 50)]
    assert 0.2 <= min(delays) < 0.3
    assert 0.5 < max(delays) <= 0.6


def test_flaky_site_fails_every_third_request_in_turns() -> None:
    faults = [decide_disturbance(member_of("flaky"), n).fault for n in range(1, 7)]
    assert faults == ["", "", "unavailable", "", "", "reset"]


def test_broken_sites_spoil_their_document_each_in_its_way() -> None:
    sound = json_resource({"a": 1})
    spoilt = {
        member.defect: spoil(member, {"/d": sound}).get("/d")
        for member in CAST
        if member.story == "broken"
    }
    assert spoilt["missing"] is None
    assert spoilt["malformed"] is not None
    assert spoilt["malformed"].body == sound.body[: len(sound.body) // 2]
    assert spoilt["soft-404"] is not None
    assert spoilt["soft-404"].content_type.startswith("text/html")


def test_honest_documents_are_left_alone() -> None:
    sound = json_resource({"a": 1})
    assert spoil(member_of("honest"), {"/d": sound}) == {"/d": sound}
