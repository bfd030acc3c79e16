import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.refusals import (
    BREAKER_OPEN,
    CONNECT,
    DNS_NONE,
    NETWORK_BUSY,
    REDIRECT_LIMIT,
    TIMEOUT,
    TLS,
    UnexpectedStatus,
)
from crawler.robots.robots_txt import MAX_BYTES, Robots, decide_robots, parse_robots
from registry.errors import ProblemType, Refused
from tests.unit.work import assert_linear

TOKEN = "FairRegistryBot"
PAGE = "https://shop.io/private/page"


def allows(text: str | bytes, url: str = PAGE) -> bool:
    body = text.encode() if isinstance(text, str) else text
    return permits(parse_robots(body, TOKEN), url)


def permits(robots: Robots, url: str) -> bool:
    try:
        robots.verify(url)
    except Refused as refused:
        return refused.code != "robots_disallowed"
    return True


@pytest.mark.parametrize(
    "text",
    [
        "User-agent: *\nDisallow: /",
        "user-agent: fairregistrybot\nDisallow: /private",
        "User-agent: FairRegistryBot/1.0\nDisallow: /private",
        "User-agent: FairRegistryBot/1.0 (+https://x.io)\nDisallow: /private",
        "User-agent: FairRegistryBot # us\nDisallow: /private",
        "User-agent: other\nUser-agent: FairRegistryBot\nDisallow: /private",
        "User-agent: FairRegistryBot\nUser-agent: other\n\nDisallow: /private",
        "\ufeffUser-agent: *\nDisallow: /private/",
        "User-agent: *\r\nDisallow: /private/*",
        "User-agent: *\rDisallow: /private/*",
        "User-agent: *\nAllow: /\nDisallow: /private",
        "User-agent: *\nDisallow: /*page$",
        "User-agent: *\nDisallow: *page",
        "User-agent: other\nAllow: /\n\nUser-agent: *\nDisallow: /",
        # groups of one name are one (2.2.1)
        "User-agent: *\nDisallow: /a\n\nUser-agent: *\nDisallow: /private",
        # other lines separate no group (2.2.4)
        "User-agent: *\nSitemap: https://shop.io/map\nCrawl-delay: 9\nDisallow: /",
        "User-agent: *\nCrawl-delay: 9\nUser-agent: other\nDisallow: /",
        # as others read it too
        "User-agent *\nDisallow /private",
        "Useragent: *\nDissalow: /private",
        "User agent:*\ndisallow :/private",
    ],
)
def test_a_rule_for_us_or_for_all_forbids(text: str) -> None:
    assert not allows(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Disallow: /",
        "User-agent: *\nDisallow:",
        "User-agent: *\nDisallow: # nothing",
        "User-agent: other\nDisallow: /",
        "User-agent: Fair\nDisallow: /",
        "User-agent: FairRegistryBotanist\nDisallow: /",
        "User-agent: FairRegistryBot2\nDisallow: /",
        "User-agent: *bot\nDisallow: /",
        "User-agent: *\nDisallow: /\n\nUser-agent: FairRegistryBot\nAllow: /",
        "User-agent: *\nDisallow: /\n\nUser-agent: FairRegistryBot\nDisallow:",
        "User-agent: *\nDisallow: /private\nAllow: /private/page",
        "User-agent: *\nDisallow: /page\nAllow: /page",
        "User-agent: *\nDisallow: /private/page\nAllow: /private/page",
        "User-agent: *\nDisallow: /private/page\\.html",
        "User-agent: *\nDisallow: https://shop.io/private",
        "<!doctype html><title>Not found</title>",
        b"\xff\xfe\x00\x01",
    ],
)
def test_without_such_a_rule_all_is_allowed(text: str | bytes) -> None:
    assert allows(text)


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("/", ["/", "/a?b"], []),
        ("/fish", ["/fish", "/fish.html", "/fish/x", "/fish?a"], ["/Fish", "/a/fish"]),
        ("/fish/", ["/fish/", "/fish/x"], ["/fish", "/fish.html"]),
        ("/fish*", ["/fish", "/fishy/x"], ["/fis"]),
        ("/*.php", ["/a.php", "/a/b.php?c"], ["/a.PHP", "/php"]),
        ("/*.php$", ["/a.php"], ["/a.php?b", "/a.php5"]),
        ("/fish*.php", ["/fish.php", "/fishy/a.php?b"], ["/Fish.php"]),
        ("/a*b*b$", ["/abb", "/axbyb"], ["/ab", "/abbc"]),
        ("/*", ["/", "/a"], []),
        ("/$", ["/"], ["/a", "/?a"]),
        ("/a$b", ["/a$b"], ["/a"]),
        ("/a%2Ab", ["/a*b"], ["/axb"]),
        ("/%7Euser", ["/~user"], ["/user"]),
        ("/~user", ["/%7euser"], []),
        ("/ツ", ["/%E3%83%84", "/%e3%83%84"], ["/a"]),
        ("/%e3%83%84", ["/ツ"], []),
        ("/a%2Fb", ["/a%2fb"], ["/a/b"]),
        ("/a b", ["/a%20b"], ["/a+b"]),
        ("/?q=", ["/?q=1"], ["/x?q=1"]),
    ],
)
def test_patterns_match_by_rfc_9309(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    text = f"User-agent: *\nDisallow: {pattern}"
    assert {path: allows(text, f"https://shop.io{path}") for path in matching} == (
        dict.fromkeys(matching, False)
    )
    assert {path: allows(text, f"https://shop.io{path}") for path in others} == (
        dict.fromkeys(others, True)
    )


def test_the_longest_pattern_counts_wherever_it_stands() -> None:
    rules = ["Disallow: /a", "Allow: /a/b", "Disallow: /a/b/*.js"]
    for text in ("\n".join(rules), "\n".join(reversed(rules))):
        body = f"User-agent: *\n{text}\n"
        paths = ["/a", "/a/b", "/a/b/c", "/a/b/c.js", "/b"]
        assert [allows(body, f"https://shop.io{path}") for path in paths] == [
            *(False, True, True, False, True)
        ]


def test_robots_txt_itself_is_always_allowed() -> None:
    assert allows("User-agent: *\nDisallow: /", "https://shop.io/robots.txt")


def test_what_follows_500_kib_is_not_read() -> None:
    filler = b"# " + b"x" * 97 + b"\n"
    rules = b"User-agent: *\nDisallow: /\n"
    assert allows(filler * (MAX_BYTES // 100 + 1) + rules)


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_rule_cut_in_two_is_no_rule(end: bytes) -> None:
    start = b"User-agent: *" + end
    filler = b"#" * (MAX_BYTES - len(start) - 12) + end
    assert allows(start + filler + b"Disallow: /private/elsewhere" + end)


def test_only_the_rules_for_us_are_kept() -> None:
    lines = [f"User-agent: bot-{n}\nDisallow: /{n}\n" for n in range(1000)]
    robots = parse_robots(
        "\n".join([*lines, "User-agent: *\nDisallow: /x"]).encode(), TOKEN
    )
    assert robots.rules == ("-/x",)


def test_many_names_for_many_rules_do_not_multiply() -> None:
    def read(times: int) -> None:
        names = b"".join(b"User-agent: a%d\n" % n for n in range(times))
        rules = b"".join(b"Disallow: /%d\n" % n for n in range(times))
        parse_robots(names + rules, TOKEN)

    read(10_000)
    assert_linear(read, 200)


def test_many_groups_for_us_do_not_multiply() -> None:
    def read(times: int) -> None:
        group = b"User-agent: FairRegistryBot\nDisallow: /%d\n"
        parse_robots(b"".join(group % n for n in range(times)), TOKEN)

    assert_linear(read, 200)


def test_a_file_of_wildcards_takes_linear_time_to_match() -> None:
    url = f"https://shop.io/{'a' * 2000}"

    def match(times: int) -> None:
        pattern = "/" + "*a" * times + "*b"
        assert allows(f"User-agent: *\nDisallow: {pattern}", url)

    match(100_000)  # one that goes back would not come back
    assert_linear(match, 200)


@given(st.binary(max_size=200), st.text(max_size=30))
def test_any_bytes_are_read(body: bytes, path: str) -> None:
    allows(b"User-agent: *\nDisallow: /" + body, f"https://shop.io/{path}")
    allows(body)


@given(st.text("ab*$/", min_size=1, max_size=12), st.text("ab$/", max_size=12))
def test_a_pattern_matches_what_its_regular_expression_matches(
    pattern: str, path: str
) -> None:
    parts = [re.escape(part) for part in pattern.removesuffix("$").split("*")]
    end = "$" if pattern.endswith("$") else ""
    matched = re.match("/" + ".*".join(parts) + end, "/" + path)
    text = f"User-agent: *\nDisallow: /{pattern}"
    assert allows(text, f"https://shop.io/{path}") is not bool(matched)


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
        Refused(REDIRECT_LIMIT),
    ],
)
def test_rules_that_can_not_be_had_forbid_everything(outcome: Refused) -> None:
    with pytest.raises(Refused) as refused:
        decide_robots(outcome, TOKEN).verify(PAGE)
    assert refused.value.code == "robots_unreachable"
    assert refused.value.problem.detail == f"robots.txt: {outcome.problem.detail}"


@pytest.mark.parametrize("kind", [CONNECT, TLS, TIMEOUT, DNS_NONE])
def test_host_that_can_not_be_talked_to_is_the_reason_not_its_robots_txt(
    kind: ProblemType,
) -> None:
    cause = Refused(kind, "the certificate is refused: it has expired", fix="Renew it.")
    with pytest.raises(Refused) as refused:
        decide_robots(cause, TOKEN).verify(PAGE)
    assert refused.value.problem == cause.problem


@pytest.mark.parametrize("kind", [BREAKER_OPEN, NETWORK_BUSY])
def test_rules_that_we_did_not_ask_for_are_not_held_against_the_site(
    kind: ProblemType,
) -> None:
    with pytest.raises(Refused) as refused:
        decide_robots(Refused(kind), TOKEN).verify(PAGE)
    assert refused.value.code == kind.code


@pytest.mark.parametrize(
    ("text", "agent", "permits"),
    [
        pytest.param("", "", "everything", id="no rules"),
        pytest.param("User-agent: *\nDisallow:", "*", "everything", id="an empty rule"),
        pytest.param("User-agent: *\nAllow: /", "*", "everything", id="allowed"),
        pytest.param("User-agent: *\nDisallow: /a", "*", "some", id="a path"),
        pytest.param("User-agent: *\nDisallow: /", "*", "nothing", id="everything"),
        pytest.param(
            "User-agent: *\nDisallow: /\nAllow: /a", "*", "some", id="an exception"
        ),
        pytest.param(
            "User-agent: *\nDisallow: /\n\nUser-agent: FairRegistryBot/1.0\nAllow: /",
            "fairregistrybot",
            "everything",
            id="our own group",
        ),
        pytest.param(
            "User-agent: Other\nDisallow: /", "", "everything", id="another's"
        ),
    ],
)
def test_whose_group_counts_and_what_it_permits_is_told(
    text: str, agent: str, permits: str
) -> None:
    robots = parse_robots(text.encode(), "FairRegistryBot")
    assert (robots.agent, robots.permits) == (agent, permits)


def test_rules_that_could_not_be_read_permit_nothing() -> None:
    assert Robots(None).permits == "nothing"
