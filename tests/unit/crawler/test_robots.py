import pytest

from crawler.refusals import CONNECT, UnexpectedStatus
from crawler.robots import MAX_BYTES, decide_robots, parse_robots
from registry.errors import Refused
from tests.unit.work import assert_linear

TOKEN = "FairRegistryBot"
PAGE = "https://shop.io/private/page"


def allows(text: str | bytes, url: str = PAGE) -> bool:
    body = text.encode() if isinstance(text, str) else text
    try:
        parse_robots(body, TOKEN).verify(url)
    except Refused:
        return False
    return True


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: *\nDisallow: /",
        "user-agent: fairregistrybot\nDisallow: /private",
        "User-agent: FairRegistryBot/1.0\nDisallow: /private",
        "User-agent: FairRegistryBot # us\nDisallow: /private",
        "User-agent: other\nUser-agent: FairRegistryBot\nDisallow: /private",
        "\ufeffUser-agent: *\nDisallow: /private/",
        "User-agent: *\r\nDisallow: /private/*",
        "User-agent: *\nAllow: /\nDisallow: /private",
        "User-agent: *\nDisallow: /*page$",
        "User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /",
    ],
)
def test_a_rule_for_us_or_for_all_forbids(text: str) -> None:
    assert not allows(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "User-agent: *\nDisallow:",
        "User-agent: other\nDisallow: /",
        "User-agent: Fair\nDisallow: /",
        "User-agent: FairRegistryBotanist\nDisallow: /",
        "User-agent: *\nDisallow: /\n\nUser-agent: FairRegistryBot\nAllow: /",
        "User-agent: *\nDisallow: /private\nAllow: /private/page",
        "User-agent: *\nDisallow: /page\nAllow: /page",
        "<!doctype html><title>Not found</title>",
        b"\xff\xfe\x00\x01",
    ],
)
def test_without_such_a_rule_all_is_allowed(text: str | bytes) -> None:
    assert allows(text)


def test_what_follows_500_kib_is_not_read() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    rules = b"User-agent: *\nDisallow: /\n"
    assert allows(filler * (MAX_BYTES // 100 + 1) + rules)


def test_a_rule_cut_in_two_is_no_rule() -> None:
    start = b"User-agent: *\n"
    filler = b"#" * (MAX_BYTES - len(start) - 12) + b"\n"
    assert allows(start + filler + b"Disallow: /private/elsewhere\n")


def test_many_names_for_many_rules_do_not_multiply() -> None:
    def read(times: int) -> None:
        names = b"".join(b"User-agent: a%d\n" % n for n in range(times))
        rules = b"".join(b"Disallow: /%d\n" % n for n in range(times))
        parse_robots(names + rules, TOKEN)

    read(10_000)
    assert_linear(read, 200)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_absent_rules_allow_everything(status: int) -> None:
    decide_robots(UnexpectedStatus(status), TOKEN).verify(PAGE)


@pytest.mark.parametrize(
    "outcome",
    [
        UnexpectedStatus(500),
        UnexpectedStatus(503),
        UnexpectedStatus(429),
        UnexpectedStatus(204),
        Refused(CONNECT),
    ],
)
def test_rules_that_can_not_be_had_forbid_everything(outcome: Refused) -> None:
    with pytest.raises(Refused) as refused:
        decide_robots(outcome, TOKEN).verify(PAGE)
    assert refused.value.code == "robots_unreachable"
