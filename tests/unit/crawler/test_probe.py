import pytest

from crawler import refusals
from crawler.probes.outcome import Outcome, decide_outcome
from crawler.probes.targets import ping_of
from crawler.refusals import UnexpectedStatus, UnexpectedType
from registry.errors import Refused
from registry.sites.refusals import IP_LITERAL


@pytest.mark.parametrize(
    ("refused", "outcome"),
    [
        (UnexpectedStatus(401), "auth_wall"),
        (UnexpectedStatus(403), "auth_wall"),
        (UnexpectedStatus(429), "auth_wall"),
        (UnexpectedStatus(404), "wrong_protocol"),
        (UnexpectedStatus(204), "wrong_protocol"),
        (UnexpectedStatus(500), "unreachable"),
        (UnexpectedStatus(503), "unreachable"),
        (UnexpectedType("text/html"), "wrong_protocol"),
        (Refused(refusals.PROTOCOL), "wrong_protocol"),
        (Refused(refusals.BODY_WIRE), "wrong_protocol"),
        (Refused(refusals.REDIRECT_LOOP), "wrong_protocol"),
        (Refused(IP_LITERAL), "wrong_protocol"),
        (Refused(refusals.ROBOTS_DISALLOWED), "blocked_by_robots"),
        (Refused(refusals.ROBOTS_UNREACHABLE), "unreachable"),
        (Refused(refusals.TLS), "unreachable"),
        (Refused(refusals.CONNECT), "unreachable"),
        (Refused(refusals.DEADLINE), "unreachable"),
        (Refused(refusals.DNS_FAILED), "unreachable"),
        (Refused(refusals.ADDRESS), "unreachable"),
        (Refused(refusals.BRIDGE_ANSWER), "mismatch"),
        (Refused(refusals.DOCUMENT_OTHER), "mismatch"),
        (Refused(refusals.BREAKER_OPEN), "never_checked"),
        (Refused(refusals.NETWORK_BUSY), "never_checked"),
    ],
)
def test_a_failed_probe_says_how_it_failed(refused: Refused, outcome: Outcome) -> None:
    assert decide_outcome(refused) == outcome


def test_a_bridge_is_pinged_below_its_base_url() -> None:
    for base_url in ("https://shop.io/api/wab", "https://shop.io/api/wab/"):
        assert ping_of(base_url).url == "https://shop.io/api/wab/ping"
