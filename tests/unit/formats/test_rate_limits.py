"""Declared limits of rate, in the spellings of the formats and of the wild."""

import pytest

from registry.formats.rate_limits import MOST_LIMITS, declared_limits
from registry.strict_json import JsonValue


@pytest.mark.parametrize(
    ("document", "limits"),
    [
        ({"security": {"max_rate": 60}}, [{"requests": 60, "window": "60s"}]),
        (
            {"rate_limits": {"requests_per_minute": 30}},
            [{"requests": 30, "window": "60s"}],
        ),
        (
            {"rateLimit": {"requests": 100, "window": "1h", "scope": "ip"}},
            [{"requests": 100, "window": "1h"}],
        ),
        (
            {"actions": [{"id": "book", "rate_limit": "60/minute"}]},
            [{"action": "book", "requests": 60, "window": "1m"}],
        ),
        (
            {"actions": [{"name": "a", "rateLimit": {"requests": 5, "window": "10s"}}]},
            [{"action": "a", "requests": 5, "window": "10s"}],
        ),
        ({"rate_limit": "100 per hour"}, [{"requests": 100, "window": "1h"}]),
        ({"rate_limit": "10/s"}, [{"requests": 10, "window": "1s"}]),
        ({"rate_limit": "be gentle"}, []),
        ({"rate_limit": "9" * 40 + "/minute"}, []),
        ({"rateLimit": {"requests": -1, "window": "1h"}}, []),
        ({"rateLimit": {"requests": True, "window": "1h"}}, []),
        ({"rateLimit": {"requests": 5, "window": "a fortnight\n"}}, []),
        ({"security": [60], "actions": {"a": 1}, "rateLimits": None}, []),
        ({"actions": [None, "x", {"rateLimit": []}]}, []),
        ([], []),
        ("60/minute", []),
    ],
)
def test_what_is_declared_is_read_and_nothing_is_guessed(
    document: JsonValue, limits: list[dict[str, object]]
) -> None:
    assert declared_limits("wab", document) == [
        {"format": "wab", **limit} for limit in limits
    ]


def test_a_document_of_many_limits_has_an_end() -> None:
    rows: JsonValue = [{"id": f"a{n}", "rate_limit": "1/s"} for n in range(500)]
    assert len(declared_limits("awp", {"actions": rows})) == MOST_LIMITS
